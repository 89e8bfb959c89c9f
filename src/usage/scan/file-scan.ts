/**
 * File scan: counts the responses of one file that only grows, from where the last scan ended.
 *
 * Lines are read into one buffer that all files share. A last line without LF counts if it is whole,
 * and is read again the next time: its key is the same.
 */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { Hash, RowSet } from "../row-set.ts";
import { MessageRows } from "./message-rows.ts";
import { TotalRows } from "./total-rows.ts";
import type { RowShape, Scanner } from "./usage-counts.ts";

const BUFFER_BYTES = 1024 * 1024;
/** A longer line is skipped. */
export const LINE_BYTES_MAX = 256 * 1024 * 1024;
/** The bytes before the end of a scan that must be the same for the next one to continue. */
const MARK_BYTES = 48;
const LF = 0x0a;

export interface FileToScan {
  readonly path: string;
  readonly shape: RowShape;
  /** What keys of the session hold within, if its rows do not say that. */
  readonly name: string;
  /** Where the last scan ended; null: there was none. */
  readonly from: ScanEnd | null;
}

export interface ScanEnd {
  /** The end of the last whole line. */
  readonly offset: number;
  /** How many bytes before it must be the same, and their hash: the ledger keeps no text. */
  readonly mark: string;
  readonly state: unknown;
}

export interface FileScan {
  readonly reached: ScanEnd;
  readonly rowCount: number;
  readonly about: Readonly<Record<string, unknown>> | null;
}

/** Counts files, one after the other, into one set of rows. */
export class FileScanner {
  readonly set = new RowSet();
  readonly #messages = new MessageRows(this.set);
  readonly #scanners: Readonly<Record<RowShape, Scanner>> = {
    messages: this.#messages,
    totals: new TotalRows(this.set),
  };
  #buffer = Buffer.alloc(0);
  #mark = "";

  /** For a process that scans little (message-rows.ts). */
  parseRows(): void {
    this.#messages.isParsing = true;
  }

  scanner(shape: RowShape): Scanner {
    return this.#scanners[shape];
  }

  /** Throws the error of the file system, such as ENOENT. */
  scan({ path, shape, from, name }: FileToScan): FileScan {
    if (this.#buffer.length === 0) this.#buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size } = fstatSync(file);
      const isContinued = from !== null && from.offset <= size && isMarked(file, from);
      const scanner = this.scanner(shape);
      scanner.begin(isContinued ? from.state : null);
      this.#mark = isContinued ? from.mark : "";
      const { offset, state } = this.#readLines(file, size, isContinued ? from.offset : 0, scanner);
      const rowCount = this.set.endFile(scopeIn(scanner.about) ?? name);
      return { reached: { offset, mark: this.#mark, state }, rowCount, about: scanner.about };
    } catch (cause) {
      this.set.dropFile();
      throw cause;
    } finally {
      closeSync(file);
      if (this.#buffer.length > BUFFER_BYTES) this.#buffer = Buffer.alloc(0);
    }
  }

  /** The end of the last whole line, and the scanner's state there. */
  #readLines(file: number, size: number, start: number, scanner: Scanner): Omit<ScanEnd, "mark"> {
    let offset = start;
    let state = scanner.state;
    let held = 0;
    while (offset + held < size) {
      const buffer = this.#buffer;
      const room = Math.min(buffer.length - held, size - offset - held);
      const got = readSync(file, buffer, held, room, offset + held);
      if (got === 0) break;
      const end = held + got;
      const lf = buffer.lastIndexOf(LF, end - 1);
      if (lf < 0) {
        held = end;
        // The rest of a line that is too long is read as one of its own.
        if (held === buffer.length && !this.#growBuffer()) [offset, held] = [offset + held, 0];
        continue;
      }
      scanner.scan(buffer, 0, lf + 1, offset);
      state = scanner.state;
      this.#mark = markOf(buffer.subarray(Math.max(0, lf + 1 - MARK_BYTES), lf + 1));
      buffer.copyWithin(0, lf + 1, end);
      held = end - lf - 1;
      offset += lf + 1;
    }
    if (held > 0) scanner.scan(this.#buffer, 0, held, offset);
    return { offset, state };
  }

  #growBuffer(): boolean {
    if (this.#buffer.length >= LINE_BYTES_MAX) return false;
    const larger = Buffer.allocUnsafeSlow(this.#buffer.length * 2);
    larger.set(this.#buffer);
    this.#buffer = larger;
    return true;
  }
}

/** The thread that a rollout's rows name. */
export function scopeIn(about: FileScan["about"]): string | null {
  const id = (about?.payload as { id?: unknown } | undefined)?.id;
  return typeof id === "string" && id !== "" ? id : null;
}

function isMarked(file: number, { offset, mark }: ScanEnd): boolean {
  const found = Buffer.alloc(Math.min(Number.parseInt(mark, 10) || 0, MARK_BYTES));
  readSync(file, found, 0, found.length, offset - found.length);
  return mark === "" || markOf(found) === mark;
}

function markOf(bytes: Uint8Array): string {
  const { high, low } = new Hash().begin().bytes(bytes, 0, bytes.length).end();
  return `${bytes.length}:${high.toString(16)}:${low.toString(16)}`;
}
