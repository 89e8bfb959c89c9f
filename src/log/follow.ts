/**
 * Follow: what a follower has delivered, and whether it still stands.
 *
 * A writer takes back a write that the disk did not hold (appender.ts). A follower may have
 * delivered lines of it already, and new ones may stand in their place, as long or longer.
 *
 * G1  Before it goes on, a follower reads its last delivered line again. When it changed, the
 *     newest remembered line that still stands is where it goes on; when none does, nothing
 *     it delivered can be vouched for, and it starts over.
 */

import { crc32 } from "node:zlib";
import type { Directory, OpenFile } from "../base/files.ts";
import type { Clock } from "../base/host.ts";
import { LF, readStretch } from "./bytes.ts";

/** More than a write that was taken back can hold of lines that were also seen. */
const REMEMBERED_LINES_MAX = 1000;
/** A safety net under the directory's watch, which may miss changes. */
const POLL_MS = 250;

interface Mark {
  readonly start: number;
  readonly length: number;
  readonly crc: number;
  readonly nextNumber: number | null;
}

export class Delivered {
  /** Where to go on when no mark is left: where following began, or the very start. */
  #begin: { readonly offset: number; readonly nextNumber: number | null };
  #marks: Mark[] = [];

  /** `offset` is where following began: nothing before it was delivered. */
  constructor(offset: number) {
    this.#begin = { offset, nextNumber: offset === 0 ? 0 : null };
  }

  add(start: number, bytes: Uint8Array, number: number | null): void {
    const nextNumber = number === null ? null : number + 1;
    this.#marks.push({ start, length: bytes.length, crc: crc32(bytes), nextNumber });
    if (this.#marks.length > 2 * REMEMBERED_LINES_MAX) {
      this.#marks = this.#marks.slice(-REMEMBERED_LINES_MAX);
      this.#begin = { offset: 0, nextNumber: 0 };
    }
  }

  /** The end of the last delivered line. */
  get end(): number {
    const last = this.#marks.at(-1);
    return last ? last.start + last.length + 1 : this.#begin.offset;
  }

  get nextNumber(): number | null {
    return (this.#marks.at(-1) ?? this.#begin).nextNumber;
  }

  /** Forgets lines that no longer stand in the file; whether there were any. */
  async forgetChanged(file: OpenFile): Promise<boolean> {
    const delivered = this.#marks.length;
    for (let mark = this.#marks.at(-1); mark; mark = this.#marks.at(-1)) {
      const bytes = await readStretch(file, mark.start, mark.start + mark.length + 1);
      const isWhole = bytes.length === mark.length + 1 && bytes.at(-1) === LF;
      if (isWhole && crc32(bytes.subarray(0, -1)) === mark.crc) break;
      this.#marks.pop();
    }
    return this.#marks.length < delivered;
  }
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
      // Rejects only because it was woken or told to stop, which is looked at next.
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
