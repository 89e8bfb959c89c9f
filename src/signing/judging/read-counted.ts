/**
 * Read counted: the bytes of a file that were counted before they are judged, each read once.
 *
 * RC1  What was counted and cannot be read is CHANGED_WHILE_READ: somebody cut the file meanwhile. To
 *      take such a stretch for an empty one would call a log verified whose end was never looked at.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { OpenFile } from "../../base/files.ts";
import { readChunks } from "../../log/bytes.ts";

/** The stretch `[from, to)` in chunks, in order, up to its last byte (RC1). */
export async function* readCounted(
  file: OpenFile,
  from: number,
  to: number,
  path: string,
): AsyncGenerator<Uint8Array> {
  let at = from;
  for await (const chunk of readChunks(file, from, to)) {
    at += chunk.length;
    yield chunk;
  }
  if (at < to) throw changedWhileRead(path, at);
}

export function changedWhileRead(path: string, at: number): VerbatimError<"CHANGED_WHILE_READ"> {
  return new VerbatimError(
    "CHANGED_WHILE_READ",
    `${path} changed at or after byte ${at} while it was read; nothing from there on was used, ` +
      "try again",
    { path, offset: at },
  );
}
