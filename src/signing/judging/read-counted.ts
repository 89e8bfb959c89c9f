/**
 * Read counted: reads a byte range whose length was determined before, each byte once.
 *
 * If the file is shorter by now, that is CHANGED_WHILE_READ: it was cut meanwhile. Treating the
 * missing bytes as an empty range would report `verified` for a log whose end was never read.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { OpenFile } from "../../base/files.ts";
import { readChunks } from "../../log/bytes.ts";

/** The range `[from, to)` in chunks, in order, complete or CHANGED_WHILE_READ. */
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
