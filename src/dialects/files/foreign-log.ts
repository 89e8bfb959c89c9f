/**
 * Foreign log: refuses to write to a file that has no line of its dialect. Such a file belongs to
 * another program, or was opened with the wrong dialect. It is left unchanged: no tail is cut, no
 * LF is added, no permission is changed, no line is appended.
 *
 * A log that holds only the remains of its first append after a crash has no line either, but is
 * ours: its bytes begin as our lines do. Lines of NULs are ignored: a power cut leaves them.
 */

import { ioError, VerbatimError } from "../../core/base/errors.ts";
import type { OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { readStretch } from "../../core/log/bytes.ts";
import { decodeLine } from "../../core/log/json.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { spansForward } from "../../core/log/spans.ts";
import { findTail } from "../../core/log/tail.ts";
import type { Dialect } from "../dialect.ts";
import { SUPPORTED } from "../program-formats.ts";
import { type Beginning, recognise } from "../recognise.ts";

/** Lines and bytes that are enough to recognise a format. */
export const RECOGNISED_LINES = 20;
export const HEAD_BYTES = 4096;

export interface LogPlace {
  readonly logId: string;
  readonly root: string | undefined;
}

/**
 * Refuses with FOREIGN_FILE a log without any line of the dialect. `isOurs`: the file is in a
 * store.
 */
export async function refuseForeign(
  host: Host,
  place: LogPlace,
  dialect: Dialect,
  isOurs: boolean,
): Promise<void> {
  if (dialect.program) throw programSessionError(dialect.program.label, place.logId, dialect.name);
  const look = await lookAt(host, place, (file) => lookFor(file, dialect));
  if (look === null || look.hasOwn) return;
  const { path, lines, size, head } = look;
  if (size === 0) return;
  // A crash in the first append leaves only the beginning of one of our lines.
  if (lines === 0 && isOurs && /^[{\0\s]/.test(head)) return;
  const found = await recognise(look);
  const counted = lines === 1 ? "its only line is not" : `none of its ${lines} lines is`;
  const what = lines === 0 ? "it has no whole line" : `${counted} of the dialect ${dialect.name}`;
  throw new VerbatimError(
    "FOREIGN_FILE",
    `${path} is not changed: ${what}. ${found ? `This is ${found}` : "Its format is unknown"}. ` +
      `${SUPPORTED}; leave other files to the program that writes them`,
    { path, dialect: dialect.name, lines },
  );
}

/** A session of another program, which is only read, however its lines look. */
export function programSessionError(
  label: string,
  path: string,
  dialect: string,
): VerbatimError<"FOREIGN_FILE"> {
  return new VerbatimError(
    "FOREIGN_FILE",
    `${path} is not changed: it is a session of ${label}, and sessions of other programs are only ` +
      "read; `verbatim export --format bundle`, then `verbatim import`, make a session of your own of it, which " +
      "you can continue",
    { path, dialect, lines: 0 },
  );
}

/** Describes what kind of file this is, as in "this is …"; null if it is not recognised. */
export async function recogniseFile(host: Host, place: LogPlace): Promise<string | null> {
  const look = await lookAt(host, place, (file) => lookFor(file, null));
  return look && recognise(look);
}

interface Look extends Beginning {
  readonly lines: number;
  readonly hasOwn: boolean;
  readonly size: number;
}

async function lookAt(
  host: Host,
  { logId, root }: LogPlace,
  look: (file: OpenFile) => Promise<Look>,
): Promise<(Look & { readonly path: string }) | null> {
  try {
    const place = await openLogPath(host, logId, { create: false, root });
    try {
      const file = openToRead(place);
      try {
        return { ...(await look(file)), path: place.path };
      } catch (cause) {
        throw ioError(place.path, "reading", cause);
      } finally {
        file.close();
      }
    } finally {
      place.directory.close();
    }
  } catch (cause) {
    if (cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND") return null;
    throw cause;
  }
}

/** Reads up to the first line of the dialect; without a dialect, as much as recognising needs. */
async function lookFor(file: OpenFile, dialect: Dialect | null): Promise<Look> {
  const size = file.size();
  const head = (await readStretch(file, 0, Math.min(size, HEAD_BYTES))).toString("latin1");
  const { end, tornBytes, lacksOnlyLf } = await findTail(file, size);
  const to = lacksOnlyLf ? end + tornBytes : end;
  const { lineBytesMax } = LOG_LIMITS;
  const stretch = { from: 0, to, lineBytesMax, signal: undefined, lacksLastLf: lacksOnlyLf };
  const values: unknown[] = [];
  let lines = 0;
  for await (const spans of spansForward(file, stretch)) {
    for (const { bytes, from, to: until } of spans) {
      const start =
        lines === 0 && bytes && hasMark(bytes, from) ? from + BYTE_ORDER_MARK.length : from;
      const { value, fault } = bytes ? decodeLine(bytes, start, until) : TOO_LONG;
      if (fault === "blank" || fault === "holds NUL") continue;
      lines++;
      if (fault !== null) continue;
      if (dialect && isOwn(dialect, value)) return { values, head, lines, size, hasOwn: true };
      if (values.length < RECOGNISED_LINES) values.push(value);
      else if (!dialect) return { values, head, lines, size, hasOwn: false };
    }
  }
  return { values, head, lines, size, hasOwn: false };
}

/** Some editors put a byte order mark before the first line. */
const BYTE_ORDER_MARK = Buffer.from("\ufeff");

function hasMark(bytes: Buffer, from: number): boolean {
  return bytes.subarray(from, from + BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
}

const TOO_LONG = { value: undefined, fault: "too long" } as const;

function isOwn(dialect: Dialect, value: unknown): boolean {
  return dialect.reading.isOwn?.(value) ?? dialect.reading.decode(value).entry !== null;
}
