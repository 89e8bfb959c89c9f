/**
 * Kept text: what was last printed of many sessions, to be printed again while their logs are as
 * they were. Listing ten thousand takes half the time when no database is opened and no row is
 * touched (docs/decisions/0010-kept-listing.md).
 *
 * One file beside the catalog, for the last listing. Page: docs/formats/catalog.md.
 *
 * KT1  It is good only for the same question, for the time it was kept for, and only when the logs
 *      found are those it was made of: as many, in the same order, each of the same size and time.
 * KT2  No failure reaches the caller: without it, the catalog is asked.
 * KT3  It is replaced as a whole. One that others could have written is not used: it is printed as
 *      it is.
 * KT4  The text stays bytes from the file to the printer, and logs are compared as they are found, with
 *      one string: of many in the heap, the collector copies each again and again.
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
  /** What was asked, and in which version's words. */
  readonly question: string;
  /** When it is asked. */
  readonly nowMs: number;
}

/** The first line of the file. After it come the logs, a line each, and then the text. */
interface Header extends Pick<Question, "question"> {
  /** When the answer is another although no log has changed; null for never. */
  readonly untilMs: number | null;
  readonly logsBytes: number;
}

type Look = Pick<FoundLog, "path" | "size" | "mtimeMs">;
type Logs = Iterable<Look>;

const LF = 0x0a;
const BYTES_MAX = 256 * 1024 * 1024;
const OTHERS = 0o077;

/** The text that answered a question about these logs; null when it is not kept. */
export function keptText(path: string, asked: Question, logs: Logs): Uint8Array | null {
  try {
    const bytes = readOwn(path);
    const lf = bytes.indexOf(LF);
    const { question, untilMs, logsBytes } = JSON.parse(bytes.toString("utf8", 0, lf)) as Header;
    if (question !== asked.question || asked.nowMs >= (untilMs ?? Infinity)) return null;
    const end = lf + 1 + logsBytes;
    return isOf(bytes.toString("utf8", lf + 1, end), logs) ? bytes.subarray(end) : null;
  } catch {
    return null; // KT2
  }
}

/** Keeps a text for the next time. */
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
      rmSync(draft, { force: true }); // Of a disk that is full; after the renaming there is none.
    }
  } catch {
    // KT2
  }
}

/** The file's bytes; throws for one that is not this user's alone (KT3). */
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

/** Whether these are the lines of the logs, which are looked at as they are compared (KT1, KT4). */
function isOf(lines: string, logs: Logs): boolean {
  let at = 0;
  for (const log of logs) {
    const line = lineOf(log);
    if (!lines.startsWith(line, at)) return false;
    at += line.length;
  }
  return at === lines.length;
}

/** No path holds a NUL. */
function lineOf({ path, size, mtimeMs }: Look): string {
  return `${path}\0${size} ${microseconds(mtimeMs)}\n`;
}
