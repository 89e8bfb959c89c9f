/**
 * Zstd: decompresses a rollout of Codex, or a body of a call, in memory. In JavaScript, because
 * Node 20 has no zstd.
 *
 * The result, the window and the number of blocks are limited, so that a small file cannot take all
 * memory or hours. The decompressor does not check the checksum at the end of a frame.
 */

import { Decompress } from "fzstd";

const MIB = 1024 * 1024;

/** The longest decompressed rollout. */
const ROLLOUT_BYTES_MAX = 512 * MIB;
/** The largest window that RFC 8878 asks a decoder to support. */
export const WINDOW_BYTES_MAX = 8 * MIB;
/** Blocks hold 128 KiB, but for the last of a frame; more than these must hold BLOCK_BYTES_MIN. */
const SHORT_BLOCKS_MAX = 4096;
const BLOCK_BYTES_MIN = 4096;
const FED_AT_ONCE = 64 * 1024;

/** Throws an error whose message is a reason in a few words. */
export function decompress(bytes: Uint8Array, bytesMax = ROLLOUT_BYTES_MAX): Buffer {
  const pieces: Uint8Array[] = [];
  let [length, blocks] = [0, 0];
  const take = (piece: Uint8Array, isEnd = false) => {
    if (isEnd) return;
    length += piece.length;
    if (length > bytesMax) throw new Error(`it holds more than ${bytesMax} bytes`);
    if (++blocks > SHORT_BLOCKS_MAX + length / BLOCK_BYTES_MIN) {
      throw new Error("its zstd blocks are too short");
    }
    pieces.push(piece);
  };
  for (const frame of framesOf(bytes)) {
    const stream = new Decompress(take);
    for (let at = 0; at < frame.length; at += FED_AT_ONCE) {
      stream.push(frame.subarray(at, at + FED_AT_ONCE), at + FED_AT_ONCE >= frame.length);
    }
  }
  return Buffer.concat(pieces, length);
}

const MAGIC = 0xfd2fb528;
const RLE_BLOCK = 1;

/** The frames of a file (RFC 8878, 3.1), each with a window that is not too large. */
function* framesOf(bytes: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length - at < 9 || view.getUint32(at, true) !== MAGIC) {
      throw new Error("it is not a zstd file");
    }
    const flags = view.getUint8(at + 4);
    const { window, headerBytes } = headerAt(view, at + 4, flags);
    if (window > WINDOW_BYTES_MAX) throw new Error(`its zstd window has ${window} bytes`);
    let end = at + 4 + headerBytes;
    for (let isLast = false; !isLast; ) {
      if (end + 3 > bytes.length) throw new Error("it is cut off");
      const block = view.getUint16(end, true) + view.getUint8(end + 2) * 65_536;
      isLast = (block & 1) === 1;
      end += 3 + (((block >> 1) & 3) === RLE_BLOCK ? 1 : block >> 3);
    }
    if ((flags & 4) !== 0) end += 4; // The checksum.
    if (end > bytes.length) throw new Error("it is cut off");
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** The window, and the length of the header, which begins with its flags. */
function headerAt(view: DataView, at: number, flags: number) {
  const isSegment = (flags & 0x20) !== 0;
  const sizeBytes = [isSegment ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0;
  const idBytes = [0, 1, 2, 4][flags & 3] ?? 0;
  const sizeAt = at + (isSegment ? 1 : 2) + idBytes;
  const headerBytes = sizeAt + sizeBytes - at;
  if (at + headerBytes > view.byteLength) throw new Error("it is cut off");
  if (!isSegment) {
    const descriptor = view.getUint8(at + 1);
    const base = 2 ** (10 + (descriptor >> 3));
    return { headerBytes, window: base + (base / 8) * (descriptor & 7) };
  }
  // One segment: the window is the content.
  if (sizeBytes === 1) return { headerBytes, window: view.getUint8(sizeAt) };
  if (sizeBytes === 2) return { headerBytes, window: view.getUint16(sizeAt, true) + 256 };
  if (sizeBytes === 4) return { headerBytes, window: view.getUint32(sizeAt, true) };
  return { headerBytes, window: Number(view.getBigUint64(sizeAt, true)) };
}
