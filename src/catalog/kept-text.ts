/**
 * Kept text: the last printed listing, printed again while its logs are unchanged. Listing ten
 * thousand sessions takes half the time when no database is opened and no row is touched
 * (docs/decisions/0010-kept-listing.md).
 *
 * One file next to the catalog, for the last listing. Page: docs/formats/catalog.md.
 *
 * - It is valid only for the same question, until its expiry, and only when the logs found are
 *   those it was made from: as many, in the same order, each with the same size and time.
 * - No failure reaches the caller: without it, the catalog is used.
 * - It is replaced as a whole. One that others could have written is not used, since it is printed
 *   as it is.
 * - The text stays bytes from the file to the printer, and logs are compared as they are found,
 *   with one string: the garbage collector would copy many strings again and again.
 */

import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { FoundLog } from "./session-row.ts";
import { microseconds } from "./table.ts";

export interface Question {
  /** What was asked, and by which version. */
  readonly question: string;
  /** The current time. */
  readonly nowMs: number;
}

/** The first line of the file. After it come the logs, a line each, and then the text. */
interface Header extends Pick<Question, "question"> {
  /** When the answer changes although no log does; null for never. */
  readonly untilMs: number | null;
  readonly logsBytes: number;
}

type Look = Pick<FoundLog, "path" | "size" | "mtimeMs">;
type Logs = Iterable<Look>;

const LF = 0x0a;
const BYTES_MAX = 256 * 1024 * 1024;
const OTHERS = 0o077;

/** The stored text for a question about these logs, or null. */
export function keptText(path: string, asked: Question, logs: Logs): Uint8Array | null {
  try {
    const bytes = readOwn(path);
    const lf = bytes.indexOf(LF);
    const { question, untilMs, logsBytes } = JSON.parse(bytes.toString("utf8", 0, lf)) as Header;
    if (question !== asked.question || asked.nowMs >= (untilMs ?? Infinity)) return null;
    const end = lf + 1 + logsBytes;
    return isOf(bytes.toString("utf8", lf + 1, end), logs) ? bytes.subarray(end) : null;
  } catch {
    return null;
  }
}

/** Stores a text for the next time. */
export function keepText(
  path: string,
  { question, untilMs }: Pick<Header, "question" | "untilMs">,
  logs: Logs,
  text: string,
): void {
  const found = Buffer.from(Array.from(logs, lineOf).join(""));
  const header: Header = { question, untilMs, logsBytes: found.length };
  const bytes = [Buffer.from(`${JSON.stringify(header)}\n`), found, Buffer.from(text)];
  const draft = `${path}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    try {
      writeFileSync(draft, Buffer.concat(bytes), { mode: 0o600, flag: "wx" });
      renameSync(draft, path);
    } finally {
      rmSync(draft, { force: true }); // Left when the disk is full; after the rename there is none.
    }
  } catch {}
}

/** The file's bytes; throws unless it is private to this user. */
function readOwn(path: string): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size, mode, uid } = fstatSync(descriptor);
    const isOwn = (mode & OTHERS) === 0 && uid === process.geteuid?.();
    if (!isOwn || size > BYTES_MAX) throw new Error("not to be used");
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Whether these are the lines of the logs, which are examined as they are compared. */
function isOf(lines: string, logs: Logs): boolean {
  let at = 0;
  for (const log of logs) {
    const line = lineOf(log);
    if (!lines.startsWith(line, at)) return false;
    at += line.length;
  }
  return at === lines.length;
}

/** No path has a NUL. */
function lineOf({ path, size, mtimeMs }: Look): string {
  return `${path}\0${size} ${microseconds(mtimeMs)}\n`;
}
