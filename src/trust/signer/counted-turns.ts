/**
 * Counted turns: the turns of a log that is being signed. Continues from the newest checkpoint, so
 * that little of a long log is read.
 */

import type { Host } from "../../core/base/host.ts";
import { toByteOffset } from "../../core/base/offset.ts";
import { LogReader } from "../../core/log/reader.ts";
import type { Native } from "../../core/model/entry.ts";
import { PhaseBefore, type TurnMark, type TurnState, Turns } from "../../core/model/turns.ts";
import type { SignedSoFar } from "./signer-state.ts";

export interface CountedLog {
  readonly host: Host;
  readonly root: string;
  readonly logId: string;
}

export class CountedTurns extends Turns {
  readonly #log: CountedLog;
  readonly #markOf: (native: Native) => TurnMark;
  /** A log that was opened but not counted yet. */
  #opened: SignedSoFar | null = null;
  /** Counted up to here. */
  #end = 0;

  constructor(log: CountedLog, markOf: (native: Native) => TurnMark) {
    super();
    this.#log = log;
    this.#markOf = markOf;
  }

  /** Counts an opened log, or what others appended to it since, up to its end. */
  async catchUp(caught: SignedSoFar | "followed", end: number): Promise<void> {
    if (caught !== "followed") this.#opened = caught;
    if (this.#opened) {
      const { turn, isInTurn, newest } = this.#opened;
      this.#end = newest?.byteOffset ?? 0;
      this.continueFrom({
        ended: turn,
        phase: isInTurn ? await this.#phaseAt(this.#end) : "over",
      });
    }
    if (this.#end < end) {
      const stretch = { from: toByteOffset(this.#end), to: toByteOffset(end) };
      for await (const { value } of this.#reader().forward(stretch)) {
        if (isNative(value)) this.note(this.#markOf(value));
      }
    }
    this.countedTo(end);
  }

  /** Our own lines were counted up to here. */
  countedTo(end: number): void {
    this.#opened = null;
    this.#end = end;
  }

  async #phaseAt(to: number): Promise<TurnState["phase"]> {
    if (to === 0) return "idle";
    const before = new PhaseBefore();
    for await (const { value } of this.#reader().backward({ to: toByteOffset(to) })) {
      const phase = isNative(value) ? before.take(this.#markOf(value)) : null;
      if (phase !== null) return phase;
    }
    return "idle";
  }

  #reader(): LogReader {
    const { host, root, logId } = this.#log;
    return new LogReader(host, logId, { root, onBadLine: "skip" });
  }
}

function isNative(value: unknown): value is Native {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface CheckpointOpening {
  /** The line's text up to the checkpoint's body. */
  readonly text: string;
  /** The line's own id, to which the next line may refer. */
  readonly id: string | null;
}
