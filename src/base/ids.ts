/**
 * Ids: which names may become part of a path.
 *
 * I1  An id that passes names a place below its root, whatever the file system makes of case
 *     or length: no `.` or `..`, no separator but `/`, no control character, no empty segment.
 */

import { VerbatimError } from "./errors.ts";
import { ID_SEGMENT_BYTES_MAX } from "./limits.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Splits an id at `/` into the segments of a path, or refuses it with BAD_ID. */
export function idSegments(id: string): readonly string[] {
  const refuse = (reason: string): never => {
    throw new VerbatimError(
      "BAD_ID",
      `the id ${JSON.stringify(id)} is refused: ${reason}; choose one made of plain path segments`,
      { id, reason },
    );
  };
  if (id === "") refuse("it is empty");
  if (!id.isWellFormed()) refuse("it is not well-formed Unicode");
  if (CONTROL.test(id)) refuse("it holds a control character");
  if (id.includes("\\")) refuse("it holds a backslash");
  if (id.includes("..")) refuse("it holds ..");
  const segments = id.split("/");
  for (const segment of segments) {
    if (segment === "") refuse("it has an empty segment");
    if (segment === ".") refuse("it has a segment that is only a dot");
    if (new TextEncoder().encode(segment).length > ID_SEGMENT_BYTES_MAX) {
      refuse(`a segment is over ${ID_SEGMENT_BYTES_MAX} bytes`);
    }
  }
  return segments;
}
