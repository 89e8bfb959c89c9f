/**
 * Head file: `heads.jsonl` on the disk, where head pins are kept. Which of its lines count is
 * `proof/pins.ts`; when they are written is `heads.ts`. Format: docs/formats/heads.md.
 *
 * A log's writer keeps its file open, and would go on writing to one that compaction has replaced.
 * So this opens, appends and closes, each time, under a lock of its own; what a torn tail is and
 * how it is cut are the log's rules (log/repair.ts).
 *
 * HF1  The file is opened after the lock is held and closed before it is given back. Whoever
 *      replaces it does so under the same lock, so that no line goes to a file without a name.
 * HF2  Compaction leaves out lines only when a book without them says the same, and replaces the
 *      file whole. A file with a line that is no pin is not compacted: we cannot say what it meant.
 * HF3  A line that is no pin is counted and told: with it a pin may be missing.
 */

import { dirname, join } from "node:path";
import { ioError, VerbatimError } from "../../base/errors.ts";
import type { OpenFile } from "../../base/files.ts";
import type { Host } from "../../base/host.ts";
import { replaceFileDurably } from "../../base/replace.ts";
import { encodeLine } from "../../log/json.ts";
import type { Place } from "../../log/place.ts";
import { LogReader } from "../../log/reader.ts";
import { repairTail } from "../../log/repair.ts";
import { type Pin, pinFields, readPin } from "../../proof/pin.ts";
import { PinBook } from "../../proof/pins.ts";
import { withLockedDirectory } from "../keys/locked-directory.ts";

export const HEADS_NAME = "heads.jsonl";
/** The lock's file is `heads.lock`: what the log's lock adds to a name is `.lock`. */
const LOCK_STEM = "heads";

/** A pin's line, with the longest place and id, is shorter. */
export const PIN_LINE_BYTES_MAX = 128 * 1024;
/**
 * Whether compaction is worth it is looked at each time the file has grown by so much, or by about
 * an eighth when that is more: looking reads all of it.
 */
export const COMPACT_LOOK_BYTES = 256 * 1024;
const COMPACT_LOOK_SHARE = 8;
/** It is worth it when the file is so many times as large as it need be. */
export const COMPACT_FACTOR = 4;

/** Lines that are no pins (HF3). */
export interface BadPins {
  readonly count: number;
  /** The first of them, counted from 1, and what is wrong with it. */
  readonly line: number;
  readonly reason: string;
}

/** The file while its lock is held. */
export interface LockedHeads {
  /** What all lines come to, as they are now. */
  readBook(): Promise<PinBook>;
  /** Appends a line for each pin, and has them on the disk when asked. */
  append(pins: readonly Pin[], options: { readonly isDurable: boolean }): Promise<void>;
}

export class HeadFile {
  readonly path: string;
  readonly #host: Host;
  /** Whether what was last cut off is so on the disk, too; at first nobody knows. */
  #isCutDurable = false;
  /** Whether the file's name is on the disk: who replaces it has seen to that. */
  #isNameDurable = false;

  constructor(host: Host, stateDirectory: string) {
    this.#host = host;
    this.path = join(stateDirectory, HEADS_NAME);
  }

  /**
   * Hands over every pin, in the order of the lines; takes no lock. Answers what was no pin. A
   * file that is not there holds none; a tail that a crash left was never a pin.
   */
  async read(onPin: (pin: Pin) => void): Promise<BadPins | null> {
    let [count, line, reason] = [0, 0, ""];
    const tell = (at: number | null, fault: string) => {
      if (fault === "blank") return; // Nothing stood in it.
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

  /** Does something with the file while nobody else does (HF1), making it when missing. */
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

  /** All lines or, refused, none. */
  async #append(place: Place, pins: readonly Pin[], isDurable: boolean): Promise<void> {
    const file = place.directory.open(place.name, "append");
    let [start, end] = [0, 0];
    try {
      const repair = await repairTail(place, file);
      [start, end] = [repair.end, repair.end];
      // Where bytes were cut, by us or by whoever was killed before us, a power cut could bring the
      // end of an old pin back after the beginning of a new one: a pin that nobody gave (W3).
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
    if (start === 0) this.#isNameDurable = false; // It is a new one, as it seems.
    if (isDurable && !this.#isNameDurable) {
      await place.directory.sync();
      this.#isNameDurable = true;
    }
    if (!isTimeToLook(start, end)) return;
    try {
      await this.#compact(place, end / COMPACT_FACTOR);
    } catch {
      // The lines are written; the file stays larger than need be, until it is looked at again.
    }
  }

  async #sync(place: Place, file: OpenFile): Promise<void> {
    try {
      await file.sync();
    } catch (cause) {
      // The kernel may have dropped what it failed to write, lines of others too, and a later sync
      // would not tell. So all of it is written anew, or this has failed (log/repair.ts, R2).
      if (!(await this.#compact(place, Number.POSITIVE_INFINITY))) throw cause;
    }
  }

  /** Replaces the file by what is needed of it, if that is no more; answers whether it did (HF2). */
  async #compact(place: Place, bytesMax: number): Promise<boolean> {
    const book = new PinBook();
    if ((await this.read((pin) => book.add(pin))) !== null) return false;
    const text = book.needed().map(lineOf).join("");
    if (Buffer.byteLength(text) > bytesMax) return false;
    await replaceFileDurably(place.directory, place.name, text);
    return true;
  }
}

/** Says the same in every process: of the sizes at which one looks, one lies in between. */
function isTimeToLook(before: number, now: number): boolean {
  let step = COMPACT_LOOK_BYTES;
  while (step * 2 * COMPACT_LOOK_SHARE <= now) step *= 2;
  return Math.floor(before / step) !== Math.floor(now / step);
}

/** One write; answers how many bytes it took, which must be all. */
function writeLine(file: OpenFile, pin: Pin): number {
  const line = Buffer.from(lineOf(pin));
  const taken = file.write(line);
  if (taken === line.length) return taken;
  throw Object.assign(new Error(`only ${taken} of ${line.length} bytes were taken`), {
    code: "ENOSPC",
  });
}

/** A pin's line, with its LF. */
export function lineOf(pin: Pin): string {
  return `${Buffer.from(encodeLine(pinFields(pin))).toString("utf8")}\n`;
}
