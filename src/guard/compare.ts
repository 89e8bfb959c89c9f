/** Compare: whether a source still begins with its copy, and what it no longer has. */

import { createHash } from "node:crypto";
import type { OpenFile } from "../core/base/files.ts";
import { readChunks, readStretch } from "../core/log/bytes.ts";

/** Up to here all bytes are compared each time (docs/formats/guard.md). */
export const COMPARED_BYTES = 8 * 1024 * 1024;
const MARK_BYTES = 64 * 1024;
const STRETCHES = 16;
const STRETCH_BYTES = 4096;
const CHUNK_BYTES = 256 * 1024;
/** Lost lines of larger files are not counted. */
const COUNTED_BYTES_MAX = 256 * 1024 * 1024;
const LF = 0x0a;

/** Where two files differ first, before `to`; `to` if they do not. */
export async function commonBytes(a: OpenFile, b: OpenFile, to: number, from = 0): Promise<number> {
  for (let at = from; at < to; at += CHUNK_BYTES) {
    const end = Math.min(at + CHUNK_BYTES, to);
    const [left, right] = [await readStretch(a, at, end), await readStretch(b, at, end)];
    if (left.equals(right) && left.length === end - at) continue;
    return at + commonLength(left, right);
  }
  return to;
}

/** How many bytes two buffers have in common at their beginning. */
export function commonLength(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 4096) {
    const end = Math.min(at + 4096, length);
    if (Buffer.compare(a.subarray(at, end), b.subarray(at, end)) === 0) continue;
    for (let each = at; ; each++) if (a[each] !== b[each]) return each;
  }
  return length;
}

/** Whether the first `to` bytes are the same, judged by stretches of them. */
export async function seemSame(a: OpenFile, b: OpenFile, to: number): Promise<boolean> {
  if (to <= COMPARED_BYTES) return (await commonBytes(a, b, to)) === to;
  const step = Math.floor(to / (STRETCHES + 1));
  const stretches = [
    [0, MARK_BYTES],
    [to - MARK_BYTES, to],
    ...Array.from({ length: STRETCHES }, (_, at) => [
      (at + 1) * step,
      (at + 1) * step + STRETCH_BYTES,
    ]),
  ] as [number, number][];
  for (const [from, end] of stretches) {
    if ((await commonBytes(a, b, end, from)) !== end) return false;
  }
  return true;
}

export async function sha256Of(file: OpenFile, to = file.size()): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of readChunks(file, 0, to)) hash.update(chunk);
  return hash.digest("hex");
}

/** How many lines of the copy, from `common` on, the source no longer has; null: not counted. */
export async function lostLines(
  copy: OpenFile,
  source: OpenFile,
  common: number,
): Promise<number | null> {
  if (copy.size() > COUNTED_BYTES_MAX || source.size() > COUNTED_BYTES_MAX) return null;
  const from = common === 0 ? 0 : await lineStart(copy, common);
  const left = new Set<string>();
  for await (const line of hashedLines(source, from)) left.add(line);
  let lost = 0;
  for await (const line of hashedLines(copy, from)) if (!left.has(line)) lost++;
  return lost;
}

/** Where the line begins that contains this byte. */
async function lineStart(file: OpenFile, at: number): Promise<number> {
  for (let end = at; end > 0; ) {
    const from = Math.max(0, end - MARK_BYTES);
    const found = (await readStretch(file, from, end)).lastIndexOf(LF);
    if (found !== -1) return from + found + 1;
    end = from;
  }
  return 0;
}

async function* hashedLines(file: OpenFile, from: number): AsyncGenerator<string> {
  let hash = createHash("sha1");
  let isEmpty = true;
  for await (const chunk of readChunks(file, from, file.size())) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      if (end > start || !isEmpty) yield hash.update(chunk.subarray(start, end)).digest("base64");
      hash = createHash("sha1");
      isEmpty = true;
      start = end + 1;
    }
    if (start < chunk.length) isEmpty = false;
    hash.update(chunk.subarray(start));
  }
  if (!isEmpty) yield hash.digest("base64");
}
