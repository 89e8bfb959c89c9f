/** Stream copy: makes a file equal to a stream, and writes only what differs. */

import type { OpenFile } from "../../core/base/files.ts";
import { formatOffset, type OffsetToken, parseOffset } from "../../streams/files/offset-token.ts";
import type { StreamHead, StreamStore } from "../../streams/files/stream-store.ts";

const CHUNK_BYTES = 1024 * 1024;

interface StreamCopyOptions {
  readonly store: StreamStore;
  readonly stream: string;
  /** The copy ends where this head ends. */
  readonly head: StreamHead;
  /** The file is known to hold the first bytes of the stream. Else they are compared. */
  readonly isTrusted: boolean;
  readonly isStopped: () => boolean;
}

/**
 * Makes a file, which is open to append, equal to a stream; reads only what it lacks. False: stopped
 * before the end.
 */
export async function copyStream(file: OpenFile, options: StreamCopyOptions): Promise<boolean> {
  const { store, stream, head, isTrusted, isStopped } = options;
  const { readSeq, byteOffset: end } = parsed(head.end);
  const known = isTrusted && file.size() <= end ? file.size() : 0;
  let from: OffsetToken | "start" = known === 0 ? "start" : formatOffset(readSeq, known);
  let at = known;
  while (at < end) {
    if (isStopped()) return false;
    const { bytes, next } = await store.read(stream, from, CHUNK_BYTES);
    if (bytes.length === 0) break;
    await put(file, bytes.subarray(0, end - at), at);
    at += bytes.length;
    from = next;
  }
  if (file.size() > end) file.truncate(end);
  await file.sync();
  return true;
}

/** Keeps what is there if it is the same; else replaces everything from there on. */
async function put(file: OpenFile, bytes: Uint8Array, at: number): Promise<void> {
  const there = new Uint8Array(Math.max(0, Math.min(bytes.length, file.size() - at)));
  if (there.length > 0) await file.read(there, at);
  const isSame = Buffer.compare(there, bytes.subarray(0, there.length)) === 0;
  if (!isSame) file.truncate(at);
  let rest = isSame ? bytes.subarray(there.length) : bytes;
  while (rest.length > 0) rest = rest.subarray(file.write(rest));
}

function parsed(token: OffsetToken): { readSeq: number; byteOffset: number } {
  const found = parseOffset(token);
  if (found === null) throw new TypeError("a head has a valid end");
  return found;
}
