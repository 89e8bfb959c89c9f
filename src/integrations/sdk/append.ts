/** Append: writes lines together, so that they count together (history.ts, HY1). */

import { VerbatimError } from "../../base/errors.ts";
import { LOG_LIMITS } from "../../base/limits.ts";
import type { ByteOffset } from "../../base/offset.ts";
import type { Session } from "../../store/session.ts";
import type { Line } from "./history.ts";

/** What surely fits one write: the rest is for the fields added to each line, and for signing. */
export const TOGETHER_BYTES_MAX = LOG_LIMITS.batchBytesMax - 256 * 1024;
/** Id, time, part. */
const ADDED_BYTES = 200;

/** Resolves, once they are durable, to the offset after them. Refuses with BATCH_TOO_LARGE. */
export function appendTogether(session: Session, lines: readonly Line[]): Promise<ByteOffset> {
  const of = lines.length;
  const bytes = lines.reduce((sum, line) => sum + sizeOf(line), 0);
  if (of > 1 && bytes > TOGETHER_BYTES_MAX) {
    throw new VerbatimError(
      "BATCH_TOO_LARGE",
      `${of} lines for ${session.path} are ${bytes} bytes, and ${TOGETHER_BYTES_MAX} can be ` +
        `written together; pass fewer at once`,
      { path: session.path, bytes, bytesMax: TOGETHER_BYTES_MAX },
    );
  }
  if (of === 1) return session.appendNatives(lines);
  return session.appendNatives(lines.map((line, n) => ({ ...line, part: [n + 1, of] })));
}

/** Splits lines into as few groups as possible that can be written together. */
export function* inGroups(lines: readonly Line[]): Generator<readonly Line[]> {
  let group: Line[] = [];
  let bytes = 0;
  for (const line of lines) {
    const size = sizeOf(line);
    if (group.length > 0 && bytes + size > TOGETHER_BYTES_MAX) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(line);
    bytes += size;
  }
  if (group.length > 0) yield group;
}

/** An upper bound; a value without JSON is refused when it is appended. */
function sizeOf(line: Line): number {
  try {
    return Buffer.byteLength(JSON.stringify(line)) + ADDED_BYTES;
  } catch {
    return 0;
  }
}
