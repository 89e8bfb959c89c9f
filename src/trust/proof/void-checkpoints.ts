/**
 * Void checkpoints: checkpoints in a log that landed after their `byte_offset`, because another
 * program appended between. They count for nothing, and are ordinary lines
 * (docs/formats/checkpoint.md, "Void checkpoints").
 *
 * What a void checkpoint states of itself is judged where it is met; that its `hash` is right at its
 * offset, in a second pass, because the bytes there are gone by then.
 */

import { LF, toHex } from "./bytes.ts";
import type { CheckpointFault } from "./chain.ts";
import type { Checkpoint, FoundRange } from "./checkpoint.ts";
import type { ProofCrypto, RunningHash } from "./crypto.ts";

export interface VoidCheckpoint {
  /** Its own place: where its line begins, and ends. */
  readonly start: number;
  readonly end: number;
  readonly seq: number;
  readonly turn: number;
  /** SHA-256 of its line. */
  readonly line: string;
  /** What it was signed over. */
  readonly byteOffset: number;
  readonly hash: string;
}

/** What a checkpoint states about those before it, and the end of the last one that counts. */
export interface Next {
  readonly seq: number;
  readonly prev: string;
  readonly log: string | null;
  readonly end: number;
}

/** Whether a checkpoint at `start` may be void: it would be the next one, if it were in its place. */
export function mayBeVoid(checkpoint: Checkpoint, start: number, next: Next): boolean {
  const isNext = checkpoint.seq === next.seq && checkpoint.prev === next.prev;
  const isOfLog = next.log === null || checkpoint.log === next.log;
  const isAfter = checkpoint.byteOffset >= next.end && checkpoint.byteOffset < start;
  return isNext && isOfLog && isAfter && (checkpoint.kind === "genesis") === (next.seq === 0);
}

/** A checkpoint at `start` whose line is `line`, with its LF. */
export function voidOf(
  { seq, turn, byteOffset, hash }: Checkpoint,
  start: number,
  line: Uint8Array,
  { sha256 }: Pick<ProofCrypto, "sha256">,
): VoidCheckpoint {
  const end = start + line.length;
  return { start, end, seq, turn, line: toHex(sha256(line)), byteOffset, hash };
}

/** Whether a checkpoint that follows states these as found. */
export function statesFound(checkpoint: Checkpoint, voids: readonly VoidCheckpoint[]): boolean {
  const range: FoundRange | null =
    checkpoint.kind === "genesis" || checkpoint.kind === "recovery" ? checkpoint.found : null;
  return voids.every(({ start, end }) => range !== null && range[0] <= start && end <= range[1]);
}

/** Compares what void checkpoints were signed over with a log's lines, fed from `at` on. */
export class VoidHashes {
  readonly #hash: Pick<RunningHash, "update" | "hex">;
  /** Not reached yet, the nearest first. */
  readonly #ahead: VoidCheckpoint[];
  #at: number;
  /** The first that was signed over other bytes, or not over whole lines. */
  wrong: VoidCheckpoint | null = null;

  constructor(voids: readonly VoidCheckpoint[], hash: Pick<RunningHash, "update" | "hex">, at = 0) {
    this.#hash = hash;
    this.#ahead = voids.toSorted((one, other) => one.byteOffset - other.byteOffset);
    this.#at = at;
    this.#compare();
  }

  /** Whole lines. */
  lines(bytes: Uint8Array): void {
    let done = 0;
    for (;;) {
      const [next] = this.#ahead;
      const upTo =
        next && next.byteOffset <= this.#at + bytes.length - done ? next.byteOffset : null;
      if (upTo === null) break;
      const length = upTo - this.#at;
      if (bytes[done + length - 1] !== LF) {
        this.wrong ??= next ?? null;
        this.#ahead.shift();
        continue;
      }
      this.#hash.update(bytes.subarray(done, done + length));
      done += length;
      this.#at = upTo;
      this.#compare();
    }
    if (done === bytes.length) return;
    this.#hash.update(bytes.subarray(done));
    this.#at += bytes.length - done;
  }

  claim(line: Uint8Array): void {
    this.lines(line);
  }

  /** Those that were signed over everything so far. */
  #compare(): void {
    while (this.#ahead[0] && this.#ahead[0].byteOffset <= this.#at) {
      const next = this.#ahead.shift();
      const isRight = next?.byteOffset === this.#at && next.hash === this.#hash.hex();
      if (!isRight) this.wrong ??= next ?? null;
    }
  }
}

/** What is wrong with a checkpoint after void ones: it must state that it found them. */
export function voidFaultOf(
  voids: readonly VoidCheckpoint[],
  checkpoint: Checkpoint,
): CheckpointFault | null {
  const [first] = voids;
  if (!first || statesFound(checkpoint, voids)) return null;
  const message =
    `a checkpoint ${first.seq} was signed at byte ${first.byteOffset} and is at byte ${first.start}, ` +
    `and checkpoint ${checkpoint.seq} does not state it as found`;
  return { code: "CHECKPOINT_MISPLACED", message };
}
