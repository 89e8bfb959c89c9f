/**
 * History: the facts that the sound checkpoints of a log state, besides the hash they sign.
 *
 * Turns, changes of key, links to sessions that continue this one, unsigned bytes that a signer
 * found, and an end that was signed. `judge.ts` decides which checkpoints are sound.
 */

import { fromHex, toHex } from "./bytes.ts";
import { type CheckpointFacts, type FoundRange, turnBefore } from "./checkpoint.ts";
import type { ProofCrypto } from "./crypto.ts";
import { FINDINGS_MAX, type Findings } from "./findings.ts";

/** Kinds that may follow another checkpoint directly, and say nothing about turns. */
const WITHOUT_LINES: ReadonlySet<string> = new Set(["rotate", "link"]);

/** The checkpoint from which another key signs. */
export interface KeyChange {
  readonly seq: number;
  readonly from: string;
  readonly to: string;
  /** Whether the checkpoint before is a rotation that names this key. */
  readonly isNamed: boolean;
}

/** A session that continues from this log, as a checkpoint says. */
export interface ContinuationLink {
  readonly seq: number;
  readonly id: string;
  readonly log: string;
}

export class History {
  /** At most FINDINGS_MAX, the first ones. */
  readonly keyChanges: KeyChange[] = [];
  /** At most FINDINGS_MAX, the first ones. */
  readonly links: ContinuationLink[] = [];
  readonly #crypto: ProofCrypto;
  readonly #findings: Findings;
  #isFinal = false;
  #last: CheckpointFacts | null = null;
  /** End of the last checkpoint's line; for a sidecar, end of the bytes it covers. */
  #lastEnd = 0;
  #turns = 0;
  #endsTurn = false;
  /** The revision of thread.json when lines were found, or vouched for, last; null: never. */
  foundRev: number | null = null;
  readonly #foundRanges = new Map<string, { readonly range: FoundRange; readonly turn: number }>();

  constructor(crypto: ProofCrypto, findings: Findings) {
    this.#crypto = crypto;
    this.#findings = findings;
  }

  /** Number of turns, including an unfinished one. */
  get turns(): number {
    return this.#turns;
  }

  /** Whether the last checkpoint, rotations and links aside, ended no turn. */
  get isInTurn(): boolean {
    return !this.#endsTurn;
  }

  /** Byte ranges that a signer found unsigned, and that no later checkpoint vouches for. */
  get found(): readonly FoundRange[] {
    return [...this.#foundRanges.values()].map(({ range }) => range);
  }

  /**
   * Adds a sound checkpoint that covers the bytes up to `place`. Its line ends at `end`. A genesis
   * that was disclosed has no salt to check.
   */
  add(checkpoint: CheckpointFacts, place: number, end: number, hasSalt = true): void {
    this.#addTurn(checkpoint, place);
    this.#addKey(checkpoint);
    this.#addLink(checkpoint);
    if (hasSalt) this.#checkSalt(checkpoint, place);
    this.#addEnd(checkpoint, place);
    this.#addFound(checkpoint, place);
    this.#last = checkpoint;
    this.#lastEnd = end;
  }

  /** After the last checkpoint: reports the ranges that are still unsigned. */
  finish(): void {
    for (const { range, turn } of this.#foundRanges.values()) {
      const [from, to] = range;
      const bytes = `bytes ${from} to ${to}`;
      const message = `${bytes} were found unsigned, and no checkpoint vouches for them`;
      this.#findings.add("FOUND_UNSIGNED", "incomplete", from, turn, message);
    }
  }

  #addTurn(checkpoint: CheckpointFacts, place: number): void {
    const { kind, turn } = checkpoint;
    const hasLines = place > this.#lastEnd;
    const turns = hasLines ? turnBefore(checkpoint) : turn;
    this.#turns = Math.max(this.#turns, turns);
    if (!WITHOUT_LINES.has(kind)) this.#endsTurn = kind === "turn" || kind === "final";
  }

  #addKey({ seq, kid }: CheckpointFacts): void {
    const last = this.#last;
    if (!last || last.kid === kid || this.keyChanges.length >= FINDINGS_MAX) return;
    const isNamed = last.kind === "rotate" && last.next === kid;
    this.keyChanges.push({ seq, from: last.kid, to: kid, isNamed });
  }

  #addLink(checkpoint: CheckpointFacts): void {
    if (checkpoint.kind !== "link" || this.links.length >= FINDINGS_MAX) return;
    const { id, log } = checkpoint.to;
    this.links.push({ seq: checkpoint.seq, id, log });
  }

  #checkSalt(checkpoint: CheckpointFacts, place: number): void {
    if (checkpoint.kind !== "genesis") return;
    const log = toHex(this.#crypto.sha256(fromHex(checkpoint.salt))).slice(0, 32);
    if (log === checkpoint.log) return;
    const message = "the log id in the genesis checkpoint does not match its salt";
    this.#findings.fault("OTHER_LOG", place, checkpoint.turn, message);
  }

  #addEnd({ kind, turn }: CheckpointFacts, place: number): void {
    if (WITHOUT_LINES.has(kind)) return;
    if (this.#isFinal) {
      const message = "the session continued after its end was signed";
      this.#findings.add("REOPENED", null, place, turn, message);
    }
    this.#isFinal = kind === "final";
  }

  #addFound(checkpoint: CheckpointFacts, place: number): void {
    if (checkpoint.kind !== "genesis" && checkpoint.kind !== "recovery") return;
    if (checkpoint.found === null) return;
    const { turn } = checkpoint;
    this.foundRev = checkpoint.rev;
    const [from, to] = checkpoint.found;
    if (from > to || to > place) {
      const message = "a checkpoint names a range of found bytes outside the log";
      this.#findings.fault("CHAIN_BROKEN", place, turn, message);
    } else if (checkpoint.vouched) {
      this.#foundRanges.delete(`${from}-${to}`);
    } else {
      this.#foundRanges.set(`${from}-${to}`, { range: checkpoint.found, turn });
    }
  }
}
