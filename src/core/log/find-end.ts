/**
 * Find end: where a log ends for readers, and whether an offset is on a line boundary.
 *
 * Bytes after the end are called torn only when no writer is at work on them.
 */

import { VerbatimError } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import { LF, readStretch } from "./bytes.ts";
import { isBeingWritten } from "./lock.ts";
import type { LogPath } from "./log-path.ts";
import { findTail } from "./tail.ts";

export interface LogEnd {
  /** End of the last line; without its LF when that is missing. */
  readonly end: number;
  /** The last line is complete except for its LF. */
  readonly lacksLastLf: boolean;
  /** Bytes after the end that a crash left. */
  readonly tornBytes: number;
  /** Bytes after the end that a writer is at work on. */
  readonly unfinishedBytes: number;
}

/** With `takesUnterminated`, a last line that lacks only its LF counts as one. */
export async function findEnd(
  { directory, name }: LogPath,
  file: OpenFile,
  takesUnterminated: boolean,
): Promise<LogEnd> {
  const seen = await findTail(file);
  const isAtWork = seen.tornBytes > 0 && isBeingWritten(directory, name);
  // The writer may have finished between the two checks, so look again.
  const tail = seen.tornBytes > 0 && !isAtWork ? await findTail(file) : seen;
  const lacksLastLf = takesUnterminated && tail.lacksOnlyLf && !isAtWork;
  return {
    end: lacksLastLf ? tail.end + tail.tornBytes : tail.end,
    lacksLastLf,
    tornBytes: isAtWork || lacksLastLf ? 0 : tail.tornBytes,
    unfinishedBytes: isAtWork ? tail.tornBytes : 0,
  };
}

/** Refuses an offset that is not on a line boundary with OUT_OF_RANGE. */
export async function checkBoundary(
  file: OpenFile,
  path: string,
  boundary: number,
  end: number,
): Promise<void> {
  if (boundary === 0 || (await readStretch(file, boundary - 1, boundary))[0] === LF) return;
  throw new VerbatimError(
    "OUT_OF_RANGE",
    `byte ${boundary} of ${path} is not a line boundary; use a line's start or end`,
    { path, offset: boundary, length: 0, end },
  );
}

export function rewound(path: string, from: number, to: number): VerbatimError {
  return new VerbatimError(
    "LOG_REWOUND",
    `${path} now ends, or differs, after byte ${to}, although it was read up to byte ${from}; ` +
      "read it again from there",
    { path, from, to },
  );
}
