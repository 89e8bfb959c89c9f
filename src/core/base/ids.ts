/**
 * Ids: which names may become part of a path.
 *
 * - An accepted id names a place below its root, whatever the file system does with case or length:
 *   no `.` or `..`, no separator but `/`, no control character, no empty segment.
 */

import { VerbatimError } from "./errors.ts";
import { ID_SEGMENT_BYTES_MAX } from "./limits.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Endings of logs and of the sidecar files that are opened like logs. */
const LOG_ENDING = /\.jsonl(?:\.checkpoints)?$/;

/** Like `idSegments`, for the path of a log: its ending does not count towards the length. */
export function logSegments(path: string): readonly string[] {
  return idSegments(path, LOG_ENDING);
}

/**
 * Splits an id at `/` into path segments, or refuses it with BAD_ID. An `ending` of a segment does
 * not count towards its length.
 */
export function idSegments(id: string, ending: RegExp | null = null): readonly string[] {
  const refuse = (reason: string): never => {
    throw new VerbatimError(
      "BAD_ID",
      `the id ${JSON.stringify(id)} is refused: ${reason}; choose one made of plain path segments`,
      { id, reason },
    );
  };
  if (typeof id !== "string") refuse("it is not text");
  if (id === "") refuse("it is empty");
  if (!id.isWellFormed()) refuse("it is not well-formed Unicode");
  if (CONTROL.test(id)) refuse("it holds a control character");
  if (id.includes("\\")) refuse("it holds a backslash");
  if (id.includes("..")) refuse("it holds ..");
  const segments = id.split("/");
  for (const segment of segments) {
    if (segment === "") refuse("it has an empty segment");
    if (segment === ".") refuse("it has a segment that is only a dot");
    const counted = ending === null ? segment : segment.replace(ending, "");
    // A character has at most three bytes per unit: a short segment need not be encoded.
    if (counted.length * 3 <= ID_SEGMENT_BYTES_MAX) continue;
    if (new TextEncoder().encode(counted).length > ID_SEGMENT_BYTES_MAX) {
      refuse(`a segment is over ${ID_SEGMENT_BYTES_MAX} bytes`);
    }
  }
  return segments;
}
