/**
 * Line check: what may become a line. A line holds neither LF nor NUL, so that a log can be
 * split at LF alone and a NUL always means that a crash left it there (tail.ts, T1).
 */

import { type ErrorDetails, VerbatimError } from "../base/errors.ts";
import type { LogLimits } from "../base/limits.ts";
import { LF, NUL } from "./bytes.ts";

/** A Buffer's search, which a plain Uint8Array may use: its own takes many times as long (Node 20). */
const { indexOf } = Buffer.prototype;

/** Refuses a line, given without its LF, that would break the framing. */
export function checkLine(path: string, line: Uint8Array, limits: LogLimits): void {
  if (line.length > limits.lineBytesMax) throw tooLong(path, line.length, limits);
  if (indexOf.call(line, LF) !== -1) throw invalid(path, "holds LF");
  if (indexOf.call(line, NUL) !== -1) throw invalid(path, "holds NUL");
}

/** Refuses lines, each given with its LF, unless all of them may be appended. */
export function checkLines(path: string, lines: Uint8Array, limits: LogLimits): void {
  const { lineBytesMax, batchBytesMax } = limits;
  if (lines.length > batchBytesMax) {
    throw new VerbatimError(
      "BATCH_TOO_LARGE",
      `${lines.length} bytes at once are too many for ${path} (at most ${batchBytesMax}); ` +
        "append them in parts",
      { path, bytes: lines.length, bytesMax: batchBytesMax },
    );
  }
  if (lines[lines.length - 1] !== LF) throw invalid(path, "ends without LF");
  if (indexOf.call(lines, NUL) !== -1) throw invalid(path, "holds NUL");
  if (lines.length <= lineBytesMax) return;
  for (let from = 0; from < lines.length; ) {
    const lf = indexOf.call(lines, LF, from);
    if (lf - from > lineBytesMax) throw tooLong(path, lf - from, limits);
    from = lf + 1;
  }
}

function invalid(path: string, reason: ErrorDetails["INVALID_LINE"]["reason"]): VerbatimError {
  return new VerbatimError(
    "INVALID_LINE",
    `a line given to ${path} ${reason}; nothing was written. Encode it as JSON first`,
    { path, reason },
  );
}

function tooLong(path: string, bytes: number, { lineBytesMax }: LogLimits): VerbatimError {
  return new VerbatimError(
    "LINE_TOO_LONG",
    `a line of ${bytes} bytes is too long for ${path} (at most ${lineBytesMax}); ` +
      "keep large contents in a file of their own and refer to it",
    { path, bytes, bytesMax: lineBytesMax },
  );
}
