/**
 * Rotations: which keys count in a log because a trusted key named them as its successor, in a
 * checkpoint of kind `rotate`.
 *
 * RO1  A rotation is followed only when its own signature holds under a key that is trusted at that
 *      checkpoint, and only by the key that signs the very next one.
 * RO2  It answers for keys that the user says nothing about. A key that the user revoked, limited or
 *      gave another purpose stays what the user said.
 * RO3  It counts in this log alone, and changes no list of trusted keys.
 */

import { fromBase64url } from "./bytes.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { ProofCrypto } from "./crypto.ts";
import { fpOf, kidOf, publicKeyFault } from "./ed25519-keys.ts";
import type { KeyAnswer, Keys } from "./keys.ts";

/** A key that was named as the next one, and signed the checkpoint that followed. */
export interface HandOver {
  readonly next: string;
  /** As the rotation spells it; null where it names the `kid` only. */
  readonly key: string | null;
  readonly by: string;
  /** When the rotation says it was signed. */
  readonly ts: string;
}

export class Rotations {
  readonly #crypto: Pick<ProofCrypto, "sha256">;
  readonly #keys: Keys;
  readonly #successors = new Map<string, KeyAnswer>();
  /** Those that are followed, in the order of the log. */
  readonly handOvers: HandOver[] = [];
  /** What the last checkpoint named, if its signature holds. */
  #named: HandOver | null = null;

  /** `before`: what an earlier look at the same log followed. The keys are asked again. */
  constructor(crypto: Pick<ProofCrypto, "sha256">, keys: Keys, before: readonly HandOver[] = []) {
    this.#crypto = crypto;
    this.#keys = keys;
    for (const handOver of before) this.#follow(handOver);
  }

  keyOf({ kid, ts }: Pick<Checkpoint, "kid" | "ts">): KeyAnswer {
    const answer = this.#keys.byKid(kid, ts);
    if (answer.refusal !== "KEY_UNKNOWN") return answer; // RO2
    return this.#successors.get(kid) ?? answer;
  }

  /** To be called with each checkpoint, in order, before its key is asked for. */
  comes({ kid }: Pick<Checkpoint, "kid">): void {
    if (this.#named?.next === kid) this.#follow(this.#named);
    this.#named = null;
  }

  /** The signature of the last checkpoint holds, under a key that counts. */
  holds(checkpoint: Checkpoint): void {
    if (checkpoint.kind !== "rotate") return;
    const { next, key = null, kid: by, ts } = checkpoint;
    this.#named = { next, key, by, ts };
  }

  #follow(handOver: HandOver): void {
    const { next, key, by, ts } = handOver;
    const from = this.keyOf({ kid: by, ts });
    const publicKey = this.#keys.byKid(next, ts).publicKey ?? keyNamed(this.#crypto, { next, key });
    if (from.refusal || !publicKey || this.#successors.has(next)) return;
    const fp = fpOf(this.#crypto, publicKey);
    const { owner } = from;
    this.#successors.set(next, {
      ...{ publicKey, kid: next, fp, owner, refusal: null, rotatedFrom: by },
    });
    this.handOvers.push(handOver);
  }
}

/** The key that a rotation carries; null where it carries none, or another than it names. */
export function keyNamed(
  crypto: Pick<ProofCrypto, "sha256">,
  { next, key }: { readonly next: string; readonly key?: string | null },
): Uint8Array | null {
  const raw = key ? fromBase64url(key) : null;
  if (!raw || publicKeyFault(raw) !== null) return null;
  return kidOf(crypto, raw) === next ? raw : null;
}

/**
 * Keys for another file of the same signers, a thread.json: a key that was followed in the log counts
 * there as far as the key does that handed over to it.
 */
export function withSuccessors(
  keys: Keys,
  used: readonly KeyAnswer[],
  by: readonly HandOver[],
): Keys {
  const followed = new Map(by.map((handOver) => [handOver.next, handOver]));
  const answer = (own: KeyAnswer, successor: KeyAnswer | undefined): KeyAnswer => {
    let handOver = followed.get(successor?.kid ?? "");
    if (own.refusal !== "KEY_UNKNOWN" || !successor || !handOver) return own; // RO2
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
