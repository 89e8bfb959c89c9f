/**
 * Text cache: a text and the logs it was made from, used again while these are unchanged: the last
 * printed listing, and the logs that the search index has. Listing ten thousand sessions takes half
 * the time when no database is opened and no row is touched
 * (docs/decisions/0010-kept-listing.md).
 *
 * One file for each, next to the catalog. Page: docs/formats/catalog.md.
 *
 * - It is valid only for the same question, until its expiry, and only when the logs found are
 *   those it was made from: as many, in the same order, each with the same size and time. The
 *   caller compares them (`logs`).
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
import type { FoundLog } from "../../dialects/session-row.ts";
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

const LF = 0x0a;
const BYTES_MAX = 256 * 1024 * 1024;
const OTHERS = 0o077;

export interface CachedText {
  readonly logs: CachedLogs;
  readonly text: Buffer;
  readonly untilMs: number | null;
}

/** The stored text for a question, and the logs it was made from; null if there is none. */
export function readCachedText(path: string, asked: Question): CachedText | null {
  try {
    const bytes = readOwn(path);
    const lf = bytes.indexOf(LF);
    const { question, untilMs, logsBytes } = JSON.parse(bytes.toString("utf8", 0, lf)) as Header;
    if (question !== asked.question || asked.nowMs >= (untilMs ?? Infinity)) return null;
    const end = lf + 1 + logsBytes;
    if (!(end <= bytes.length)) return null;
    const logs = new CachedLogs(bytes.toString("utf8", lf + 1, end));
    return { logs, text: bytes.subarray(end), untilMs };
  } catch {
    return null;
  }
}

/**
 * The logs of a stored text, compared with those found now, in the order in which they are found. A
 * method that returns false changes nothing.
 */
export class CachedLogs {
  readonly #lines: string;
  #at = 0;
  /** The lines up to `#copied` as they are now. */
  #now = "";
  #copied = 0;

  constructor(lines: string) {
    this.#lines = lines;
  }

  /** Whether it is the next log, unchanged. */
  readonly isKnown = (path: string, size: number, mtimeMs: number): boolean => {
    const line = lineOf({ path, size, mtimeMs });
    if (!this.#lines.startsWith(line, this.#at)) return false;
    this.#at += line.length;
    return true;
  };

  /** Whether it is the next log, in whatever state. */
  isNext(log: Look): boolean {
    const { path } = log;
    if (!this.#lines.startsWith(`${path}\0`, this.#at)) return false;
    this.#now += this.#lines.slice(this.#copied, this.#at) + lineOf(log);
    this.#at = this.#lines.indexOf("\n", this.#at + path.length + 1) + 1;
    this.#copied = this.#at;
    return true;
  }

  /** Whether all were found. */
  get isDone(): boolean {
    return this.#at === this.#lines.length;
  }

  /** The logs as they were found, to be stored. */
  get lines(): string {
    return this.#now + this.#lines.slice(this.#copied);
  }
}

/** The lines of logs, in the order in which they are found. */
export function logLines(logs: Iterable<Look>): string {
  return Array.from(logs, lineOf).join("");
}

/** Stores a text for the next time. */
export function keepText(
  path: string,
  { question, untilMs }: Pick<Header, "question" | "untilMs">,
  logs: string,
  text: string | Uint8Array,
): void {
  const logBytes = Buffer.from(logs);
  const header: Header = { question, untilMs, logsBytes: logBytes.length };
  const bytes = [Buffer.from(`${JSON.stringify(header)}\n`), logBytes, toBytes(text)];
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

function toBytes(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? Buffer.from(text) : text;
}

/** No path has a NUL. */
function lineOf({ path, size, mtimeMs }: Look): string {
  return `${path}\0${size} ${microseconds(mtimeMs)}\n`;
}
