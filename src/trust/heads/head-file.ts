/**
 * Head file: `heads.jsonl`, the file of head pins. Which of its lines count is decided in
 * `trust/proof/pins.ts`; when they are written, in `heads.ts`. Format: docs/formats/heads.md.
 *
 * A log's writer keeps its file open and would continue to write to one that compaction has
 * replaced. So this file is opened, appended to and closed each time, under a lock of its own. Torn
 * tails are detected and cut by the log's rules (core/log/repair.ts).
 *
 * - The file is opened after the lock is taken and closed before it is released. Compaction
 *   replaces it under the same lock, so no line goes to an unlinked file.
 * - Compaction drops lines only if the remaining ones give the same book, and replaces the file
 *   atomically. A file with a line that is not a pin is not compacted: its meaning is unknown.
 * HF3  A line that is not a pin is counted and reported: a pin may be missing.
 */

import { dirname, join } from "node:path";
import { ioError, VerbatimError } from "../../core/base/errors.ts";
import type { OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { replaceFileDurably } from "../../core/base/replace.ts";
import { encodeLine } from "../../core/log/json.ts";
import type { LogPath } from "../../core/log/log-path.ts";
import { LogReader } from "../../core/log/reader.ts";
import { repairTail } from "../../core/log/repair.ts";
import { withLockedDirectory } from "../keys/key-files.ts";
import { type Pin, pinFields, readPin } from "../proof/pin.ts";
import { PinBook } from "../proof/pins.ts";

export const HEADS_NAME = "heads.jsonl";
/** The lock file is `heads.lock`: the log's lock appends `.lock`. */
const LOCK_STEM = "heads";

/** The line of a pin is shorter than this even with the longest place and id. */
export const PIN_LINE_BYTES_MAX = 128 * 1024;
/**
 * Compaction is considered each time the file has grown by this much, or by about an eighth if that
 * is more: the check reads the whole file.
 */
export const COMPACT_LOOK_BYTES = 256 * 1024;
const COMPACT_LOOK_SHARE = 8;
/** Compacts a file that is this many times larger than necessary. */
export const COMPACT_FACTOR = 4;

/** Lines that are not pins (HF3). */
export interface BadPins {
  readonly count: number;
  /** The first of them, counted from 1, and its fault. */
  readonly line: number;
  readonly reason: string;
}

export interface LockedHeads {
  /** The result of all lines in the file now. */
  readBook(): Promise<PinBook>;
  /** Appends a line for each pin; synced if `isDurable`. */
  append(pins: readonly Pin[], options: { readonly isDurable: boolean }): Promise<void>;
}

export class HeadFile {
  readonly path: string;
  readonly #host: Host;
  /** Whether the last cut is synced; unknown at first. */
  #isCutDurable = false;
  /** Whether the file's name is synced. Replacing the file syncs it. */
  #isNameDurable = false;

  constructor(host: Host, stateDirectory: string) {
    this.#host = host;
    this.path = join(stateDirectory, HEADS_NAME);
  }

  /**
   * Calls `onPin` for every pin, in line order; takes no lock. Returns the lines that are not pins.
   * A missing file has no pins; a torn tail was never a pin.
   */
  async read(onPin: (pin: Pin) => void): Promise<BadPins | null> {
    let [count, line, reason] = [0, 0, ""];
    const tell = (at: number | null, fault: string) => {
      if (fault === "blank") return; // An empty line held no pin.
      if (count++ === 0) [line, reason] = [at ?? 0, fault];
    };
    const reader = new LogReader(this.#host, this.path, {
      onBadLine: (bad) => tell(bad.line, bad.reason),
      lineBytesMax: PIN_LINE_BYTES_MAX,
      takesUnterminated: true,
    });
    try {
      for await (const { value, number } of reader) {
        const { pin, fault } = readPin(value);
        if (pin) onPin(pin);
        else tell((number ?? 0) + 1, fault);
      }
    } catch (cause) {
      if (cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND") return null;
      throw ioError(this.path, "reading", cause);
    }
    return count === 0 ? null : { count, line, reason };
  }

  /** Runs `work` with the lock held; creates the file if missing. */
  async locked<T>(work: (heads: LockedHeads) => Promise<T>): Promise<T> {
    return withLockedDirectory(this.#host, dirname(this.path), LOCK_STEM, (directory) => {
      const place = { directory, name: HEADS_NAME, path: this.path };
      return work({
        readBook: () => this.#readBook(),
        append: (pins, { isDurable }) => this.#append(place, pins, isDurable),
      });
    });
  }

  async #readBook(): Promise<PinBook> {
    const book = new PinBook();
    await this.read((pin) => book.add(pin));
    return book;
  }

  /** Writes all lines, or none if refused. */
  async #append(place: LogPath, pins: readonly Pin[], isDurable: boolean): Promise<void> {
    const file = place.directory.open(place.name, "append");
    let [start, end] = [0, 0];
    try {
      const repair = await repairTail(place, file);
      start = repair.end;
      end = repair.end;
      // If bytes were cut, by us or by a process that was killed, a power cut could bring back the
      // end of an old pin after the beginning of a new one: a pin that was never written (W3).
      const isDoubtful = start > 0 && !this.#isCutDurable;
      if (repair.cutBytes > 0 || isDoubtful) await this.#sync(place, file);
      this.#isCutDurable = true;
      try {
        for (const pin of pins) end += writeLine(file, pin);
        if (isDurable) await this.#sync(place, file);
      } catch (cause) {
        this.#isCutDurable = false;
        file.truncate(start);
        throw cause;
      }
    } finally {
      file.close();
    }
    if (start === 0) this.#isNameDurable = false; // It seems to be a new file.
    if (isDurable && !this.#isNameDurable) {
      await place.directory.sync();
      this.#isNameDurable = true;
    }
    if (!isTimeToLook(start, end)) return;
    try {
      await this.#compact(place, end / COMPACT_FACTOR);
    } catch {
      // The lines are written; the file stays too large until the next check.
    }
  }

  async #sync(place: LogPath, file: OpenFile): Promise<void> {
    try {
      await file.sync();
    } catch (cause) {
      // The kernel may have dropped dirty pages, also with lines of other processes, and a later
      // sync would not report it. So the whole file is rewritten, or this call fails
      // (core/log/repair.ts, R2).
      if (!(await this.#compact(place, Number.POSITIVE_INFINITY))) throw cause;
    }
  }

  /**
   * Replaces the file by its compacted form if that has at most `bytesMax` bytes; returns whether.
   */
  async #compact(place: LogPath, bytesMax: number): Promise<boolean> {
    const book = new PinBook();
    if ((await this.read((pin) => book.add(pin))) !== null) return false;
    const text = book.needed().map(pinLine).join("");
    if (Buffer.byteLength(text) > bytesMax) return false;
    await replaceFileDurably(place.directory, place.name, text);
    return true;
  }
}

/** Decides the same in every process: true when the growth passes one of fixed sizes. */
function isTimeToLook(before: number, now: number): boolean {
  let step = COMPACT_LOOK_BYTES;
  while (step * 2 * COMPACT_LOOK_SHARE <= now) step *= 2;
  return Math.floor(before / step) !== Math.floor(now / step);
}

/** One write, which must take all bytes; returns their number. */
function writeLine(file: OpenFile, pin: Pin): number {
  const line = Buffer.from(pinLine(pin));
  const taken = file.write(line);
  if (taken === line.length) return taken;
  throw Object.assign(new Error(`only ${taken} of ${line.length} bytes were taken`), {
    code: "ENOSPC",
  });
}

/** A pin's line, with its LF. */
export function pinLine(pin: Pin): string {
  return `${Buffer.from(encodeLine(pinFields(pin))).toString("utf8")}\n`;
}
