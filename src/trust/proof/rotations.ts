/**
 * Rotations: which keys count in a log because a trusted key named them as its successor, in a
 * checkpoint of kind `rotate`.
 *
 * - A rotation is followed only when its own signature is valid under a key that is trusted at that
 *   checkpoint, and only for the key that signs the very next one.
 * - It counts only for keys that the user has not decided about. A key that the user revoked,
 *   limited or gave another purpose stays so.
 * - It counts in this log only, and changes no list of trusted keys.
 */

import { fromBase64url } from "./bytes.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { ProofCrypto } from "./crypto.ts";
import type { KeyAnswer, Keys } from "./ed25519-keys.ts";
import { fpOf, kidOf, publicKeyFault } from "./ed25519-keys.ts";

/** A key that was named as the next one, and signed the checkpoint that followed. */
export interface HandOver {
  readonly next: string;
  /** As the rotation spells it; null where it has the `kid` only. */
  readonly key: string | null;
  readonly by: string;
  /** When the rotation says it was signed. */
  readonly ts: string;
}

export class Rotations {
  readonly #crypto: Pick<ProofCrypto, "sha256">;
  readonly #keys: Keys;
  readonly #successors = new Map<string, KeyAnswer>();
  /** The rotations that are followed, in the order of the log. */
  readonly handOvers: HandOver[] = [];
  /** The key of checkpoint 1, and those that rotations lead to from it. */
  readonly #fromFirst = new Set<string>();
  /** The key that the last checkpoint named, if its signature is valid. */
  #handOver: HandOver | null = null;

  /**
   * `before`: the rotations that an earlier pass over the same log followed. The keys are looked up
   * again.
   */
  constructor(crypto: Pick<ProofCrypto, "sha256">, keys: Keys, before: readonly HandOver[] = []) {
    this.#crypto = crypto;
    this.#keys = keys;
    for (const handOver of before) this.#follow(handOver);
  }

  keyOf({ kid, ts }: Pick<Checkpoint, "kid" | "ts">): KeyAnswer {
    const answer = this.#keys.byKid(kid, ts);
    if (answer.refusal !== "KEY_UNKNOWN") return answer; // The user decided about it.
    return this.#successors.get(kid) ?? answer;
  }

  /** Call with each checkpoint, in order, before looking up its key. */
  comes({ kid }: Pick<Checkpoint, "kid">): void {
    if (this.#handOver?.next === kid) this.#follow(this.#handOver);
    this.#handOver = null;
  }

  /** Call with a void checkpoint before looking up its key: the next one still follows. */
  precedes({ kid }: Pick<Checkpoint, "kid">): void {
    if (this.#handOver?.next === kid) this.#follow(this.#handOver);
  }

  /** The signature of the last checkpoint is valid, under a key that counts. */
  holds(checkpoint: Checkpoint): void {
    if (checkpoint.seq === 1) this.#fromFirst.add(checkpoint.kid);
    if (checkpoint.kind !== "rotate") return;
    const { next, key = null, kid: by, ts } = checkpoint;
    if (this.#fromFirst.has(by)) this.#fromFirst.add(next);
    this.#handOver = { next, key, by, ts };
  }

  /** Whether this key signed checkpoint 1, or rotations lead to it from the key that did. */
  isOfFirst(kid: string): boolean {
    return this.#fromFirst.has(kid);
  }

  #follow(handOver: HandOver): void {
    const { next, key, by, ts } = handOver;
    const from = this.keyOf({ kid: by, ts });
    const publicKey =
      this.#keys.byKid(next, ts).publicKey ?? rotationKey(this.#crypto, { next, key });
    if (from.refusal || !publicKey || this.#successors.has(next)) return;
    const fp = fpOf(this.#crypto, publicKey);
    const { owner } = from;
    this.#successors.set(next, {
      publicKey,
      kid: next,
      fp,
      owner,
      refusal: null,
      rotatedFrom: by,
    });
    this.handOvers.push(handOver);
  }
}

/** The key in a rotation; null where there is none, or it is not the one it names. */
export function rotationKey(
  crypto: Pick<ProofCrypto, "sha256">,
  { next, key }: { readonly next: string; readonly key?: string | null },
): Uint8Array | null {
  const raw = key ? fromBase64url(key) : null;
  if (!raw || publicKeyFault(raw) !== null) return null;
  return kidOf(crypto, raw) === next ? raw : null;
}

/**
 * Keys for another file of the same signers, a thread.json: a key that was followed in the log
 * counts there as far as its predecessor does.
 */
export function withSuccessors(
  keys: Keys,
  used: readonly KeyAnswer[],
  by: readonly HandOver[],
): Keys {
  const followed = new Map(by.map((handOver) => [handOver.next, handOver]));
  const answer = (ownAnswer: KeyAnswer, successor: KeyAnswer | undefined): KeyAnswer => {
    let handOver = followed.get(successor?.kid ?? "");
    if (ownAnswer.refusal !== "KEY_UNKNOWN" || !successor || !handOver) return ownAnswer;
    for (let before = followed.get(handOver.by); before; before = followed.get(handOver.by)) {
      handOver = before;
    }
    return { ...successor, refusal: keys.byKid(handOver.by, handOver.ts).refusal };
  };
  return {
    byKid: (kid, ts) =>
      answer(
        keys.byKid(kid, ts),
        used.find((each) => each.kid === kid),
      ),
    byFp: (fp) =>
      answer(
        keys.byFp(fp),
        used.find((each) => each.fp === fp),
      ),
  };
}
