/**
 * Follow: the lines that a follower has delivered, and whether they are still in the log.
 *
 * A writer undoes a write that the disk did not take whole (appender.ts). A follower may have
 * delivered lines of it already, and new lines may take their place, as long or longer.
 *
 * G1  Before it continues, a follower reads its last line again. If that changed, it continues
 *     after the newest remembered line that is still there; if none is, it starts over. What is
 *     before its first line counts as remembered: a log that was replaced is found by that.
 */

import { crc32 } from "node:zlib";
import type { Directory, OpenFile } from "../base/files.ts";
import type { Clock } from "../base/host.ts";
import { LF, readStretch } from "./bytes.ts";
import type { LineSpan } from "./spans.ts";

/** More lines than an undone write can have that were also delivered. */
const REMEMBERED_LINES_MAX = 1000;
/** How much of what is before the first line is compared. */
const BEFORE_BYTES = 1024;
/** A safety net: directory watches may miss changes. */
const POLL_MS = 250;

const BEGINNING = { offset: 0, nextNumber: 0 };

interface Mark {
  readonly start: number;
  readonly length: number;
  /** Null for a line too long to hold: only its position can be checked. */
  readonly crc: number | null;
  readonly nextNumber: number | null;
  readonly wasDelivered: boolean;
}

export class DeliveryMarks {
  /** Where to continue when no mark is left: where following began, or the start. */
  #begin: { readonly offset: number; readonly nextNumber: number | null } = BEGINNING;
  #marks: Mark[] = [];
  /** The bytes before `#begin`, without the last: a last line may still lack its LF. */
  #before: Buffer | null = null;

  /** `offset` is where following began: nothing before it was delivered. */
  constructor(offset: number) {
    this.restartAt(offset);
  }

  /** Continues here, with no line to go back to. */
  restartAt(offset: number): void {
    this.#begin = { offset, nextNumber: offset === 0 ? 0 : null };
    this.#marks = [];
    this.#before = null;
  }

  /** The next line, delivered or skipped as bad. */
  add({ start, length, bytes, from, to }: LineSpan, wasDelivered: boolean): void {
    const number = this.nextNumber;
    const nextNumber = number === null ? null : number + 1;
    const crc = bytes === null ? null : crc32(bytes.subarray(from, to));
    this.#marks.push({ start, length, crc, nextNumber, wasDelivered });
    if (this.#marks.length > 2 * REMEMBERED_LINES_MAX) {
      this.#marks = this.#marks.slice(-REMEMBERED_LINES_MAX);
      this.#begin = BEGINNING;
    }
  }

  /** The end of the last line: where to continue. */
  get end(): number {
    const last = this.#marks.at(-1);
    return last ? last.start + last.length + 1 : this.#begin.offset;
  }

  get nextNumber(): number | null {
    return (this.#marks.at(-1) ?? this.#begin).nextNumber;
  }

  /**
   * Forgets lines that are no longer in the file, which has whole lines up to `end`. Returns whether
   * one of them was delivered, by this follower or before.
   */
  async forgetChanged(file: OpenFile, end: number): Promise<boolean> {
    let wasDelivered = false;
    for (let mark = this.#marks.at(-1); mark; mark = this.#marks.at(-1)) {
      if (await stillStands(file, mark)) break;
      wasDelivered ||= mark.wasDelivered;
      this.#marks.pop();
    }
    const { offset } = this.#begin;
    if (this.#marks.length > 0 || offset === 0 || offset > end) return wasDelivered;
    const before = await readStretch(file, Math.max(0, offset - 1 - BEFORE_BYTES), offset - 1);
    this.#before ??= before;
    if (this.#before.equals(before)) return wasDelivered;
    this.restartAt(0);
    return true;
  }
}

async function stillStands(file: OpenFile, { start, length, crc }: Mark): Promise<boolean> {
  if (crc === null) return (await readStretch(file, start + length, start + length + 1))[0] === LF;
  const bytes = await readStretch(file, start, start + length + 1);
  return bytes.length === length + 1 && bytes.at(-1) === LF && crc32(bytes.subarray(0, -1)) === crc;
}

/** Wakes its owner when the log may have changed. */
export class Alarm {
  readonly #clock: Clock;
  readonly #unwatch: () => void;
  #hasRung = false;
  #wake: () => void = () => {};

  constructor(clock: Clock, directory: Directory, name: string) {
    this.#clock = clock;
    this.#unwatch = directory.watch(name, () => {
      this.#hasRung = true;
      this.#wake();
    });
  }

  /** Resolves after a change since the last call, or after a while. */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (!this.#hasRung) {
      const done = new AbortController();
      const stop = () => done.abort();
      signal?.addEventListener("abort", stop, { once: true });
      this.#wake = stop;
      // Rejects only when woken or stopped, which is checked next.
      await this.#clock.sleep(POLL_MS, done.signal).catch(() => {});
      signal?.removeEventListener("abort", stop);
    }
    this.#hasRung = false;
    signal?.throwIfAborted();
  }

  close(): void {
    this.#unwatch();
  }
}
