/** Bytes: LF and NUL, reading ranges of a file, and waiting for the end of a line. */

import type { OpenFile } from "../base/files.ts";
import type { Clock } from "../base/host.ts";

export const LF = 0x0a;
export const NUL = 0x00;

/** Forward reads want few, large calls; backward ones mostly want the last few lines. */
const CHUNK_BYTES = 256 * 1024;
const BACKWARD_CHUNK_BYTES = 64 * 1024;

/** The read-only part of a file. */
export type Readable = Pick<OpenFile, "read" | "size">;

/** The bytes of `[from, to)`; fewer if the file ends before `to`. */
export async function readStretch(file: Readable, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(to - from);
  const count = await file.read(bytes, from);
  return bytes.subarray(0, count);
}

/**
 * The range `[from, to)` in chunks, in order; ends early where the file does. The next chunk is
 * read while the caller works on the current one.
 */
export async function* readChunks(
  file: OpenFile,
  from: number,
  to: number,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const startReading = (at: number) => {
    const chunk = readStretch(file, at, Math.max(at, Math.min(at + CHUNK_BYTES, to)));
    chunk.catch(() => {}); // Thrown when awaited; until then it is not unhandled.
    return chunk;
  };
  let next = startReading(from);
  try {
    for (let at = from; at < to; ) {
      signal?.throwIfAborted();
      const chunk = await next;
      if (chunk.length === 0) return;
      at += chunk.length;
      next = startReading(at);
      yield chunk;
    }
  } finally {
    await Promise.allSettled([next]); // A caller that stops early closes the file next.
  }
}

/** The offset of the first LF in `[from, to)`, else `to`, or the file's end. Holds no chunk. */
export async function findLf(
  file: Readable,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<number> {
  const chunk = Buffer.allocUnsafe(Math.min(to - from, CHUNK_BYTES));
  for (let at = from; at < to; ) {
    signal?.throwIfAborted();
    const read = chunk.subarray(0, await file.read(chunk.subarray(0, to - at), at));
    const lf = read.indexOf(LF);
    if (lf !== -1) return at + lf;
    if (read.length === 0) return at;
    at += read.length;
  }
  return to;
}

/** The range `[from, to)` in chunks, last one first, each with its offset. */
export async function* readChunksBackward(
  file: Readable,
  from: number,
  to: number,
  signal?: AbortSignal,
): AsyncGenerator<{ chunk: Buffer; at: number }> {
  for (let end = to; end > from; ) {
    signal?.throwIfAborted();
    const at = Math.max(from, end - BACKWARD_CHUNK_BYTES);
    yield { chunk: await readStretch(file, at, end), at };
    end = at;
  }
}

/** How long a line without its LF is left alone, and how often it is looked at. */
const PIECES_MS = 100;
const LOOK_MS = 10;

/** Resolves when the file ends with a whole line, or after the moment. */
export async function lineEnd(file: OpenFile, sleep: Clock["sleep"]): Promise<void> {
  for (let waited = 0; waited < PIECES_MS && !(await endsLine(file)); waited += LOOK_MS) {
    await sleep(LOOK_MS);
  }
}

async function endsLine(file: OpenFile): Promise<boolean> {
  const size = file.size();
  return size === 0 || (await readStretch(file, size - 1, size))[0] === LF;
}
