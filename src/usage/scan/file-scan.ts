/**
 * File scan: counts the responses of one file that only grows, from where the last scan ended.
 *
 * Lines are read into one buffer that all files share. A last line without LF counts if it is whole,
 * and is read again the next time: its key is the same.
 */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { MessageRows } from "./message-rows.ts";
import type { RowShape, Scanner } from "./scanner.ts";
import { TotalRows } from "./total-rows.ts";

const BUFFER_BYTES = 2 * 1024 * 1024;
/** A longer line is skipped. */
export const LINE_BYTES_MAX = 256 * 1024 * 1024;
/** The bytes before the end of a scan that must be the same for the next one to continue. */
const MARK_BYTES = 64;
const LF = 0x0a;

export interface FileToScan {
  readonly path: string;
  readonly shape: RowShape;
  /** Where the last scan ended; null: there was none. */
  readonly from: Reached | null;
}

export interface Reached {
  /** The end of the last whole line. */
  readonly offset: number;
  /** What is before it, in base64. */
  readonly mark: string;
  readonly state: unknown;
}

export interface FileScan {
  readonly reached: Reached;
  readonly size: number;
  readonly mtimeMs: number;
  readonly models: readonly string[];
  readonly rowCount: number;
  /** The rows (columns.ts). */
  readonly rows: Uint8Array;
  readonly about: Readonly<Record<string, unknown>> | null;
}

const scanners: Partial<Record<RowShape, Scanner>> = {};
let buffer = Buffer.alloc(0);

/** A scanner of that shape, which a later call may use again. */
export function scannerFor(shape: RowShape): Scanner {
  scanners[shape] ??= shape === "messages" ? new MessageRows() : new TotalRows();
  return scanners[shape];
}

/** Throws the error of the file system, such as ENOENT. */
export function scanFile({ path, shape, from }: FileToScan): FileScan {
  if (buffer.length === 0) buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size, mtimeMs } = fstatSync(file);
    const isContinued = from !== null && from.offset <= size && markAt(file, from) === from.mark;
    const scanner = scannerFor(shape);
    scanner.begin(isContinued ? from.state : null);
    const { offset, state } = readLines(file, size, isContinued ? from.offset : 0, scanner);
    const mark = markBefore(file, offset);
    const { rows, models } = scanner.set;
    return {
      reached: { offset, mark, state },
      size,
      mtimeMs,
      models: [...models],
      rowCount: rows.length,
      rows: rows.toBytes(),
      about: scanner.about,
    };
  } finally {
    closeSync(file);
    if (buffer.length > BUFFER_BYTES) buffer = Buffer.alloc(0);
  }
}

/** The end of the last whole line, and the scanner's state there. */
function readLines(
  file: number,
  size: number,
  start: number,
  scanner: Scanner,
): { offset: number; state: unknown } {
  let offset = start;
  let state = scanner.state;
  let held = 0;
  while (offset + held < size) {
    const got = readSync(file, buffer, held, buffer.length - held, offset + held);
    if (got === 0) break;
    const end = held + got;
    const lf = buffer.lastIndexOf(LF, end - 1);
    if (lf < 0 || lf >= end) {
      held = end;
      if (held === buffer.length && !growBuffer()) {
        [offset, held] = [offset + held, 0]; // The rest of the line is read as one of its own.
      }
      continue;
    }
    scanner.scan(buffer, 0, lf + 1, offset);
    state = scanner.state;
    buffer.copyWithin(0, lf + 1, end);
    held = end - lf - 1;
    offset += lf + 1;
  }
  if (held > 0) scanner.scan(buffer, 0, held, offset);
  return { offset, state };
}

function growBuffer(): boolean {
  if (buffer.length >= LINE_BYTES_MAX) return false;
  const larger = Buffer.allocUnsafeSlow(buffer.length * 2);
  larger.set(buffer);
  buffer = larger;
  return true;
}

function markAt(file: number, { offset }: Reached): string {
  return markBefore(file, offset);
}

function markBefore(file: number, offset: number): string {
  const length = Math.min(MARK_BYTES, offset);
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, offset - length);
  return bytes.toString("base64");
}
