/**
 * Lines that writer and checker both generate from a seed: the content of a log after a crash can then
 * be compared byte for byte. A line names its writer, even one of a single byte.
 */

/** `wide` is 1 byte to 1 MiB, uniform over powers of two; `small` and `mixed` are faster. */
export type Sizes = "small" | "mixed" | "wide";

export interface LineOrder {
  /** From 1 to 9 if several write to one log. */
  readonly writer: number;
  readonly n: number;
  readonly seed: number;
  readonly sizes: Sizes;
}

const MIB = 1024 * 1024;

export function lineOf({ writer, n, seed, sizes }: LineOrder): Buffer {
  const bytes = sizeOf(seed + 7919 * writer, n, sizes);
  const number = `${writer}${String(n).padStart(6, "0")}`;
  if (bytes < 24) return Buffer.from(number.slice(0, bytes).padEnd(bytes, "0"));
  const line = Buffer.alloc(bytes, number.slice(1));
  line.write(`"${number}`);
  line.write('"', bytes - 1);
  return line;
}

/** Which writer wrote a line. */
export function writerOf(line: Uint8Array): number {
  const first = line[0] === 0x22 ? line[1] : line[0];
  return (first ?? 0) - 0x30;
}

function sizeOf(seed: number, n: number, sizes: Sizes): number {
  const u = unit(seed, n);
  if (sizes === "small") return 24 + Math.floor(u * 200);
  // Both extremes are always included.
  if (n === 0) return 1;
  if (n === 1) return MIB;
  const skewed = sizes === "wide" ? u : u ** 4;
  return Math.floor(MIB ** skewed);
}

/** A number from 0 up to 1 that depends only on its arguments (mulberry32). */
export function unit(seed: number, n: number): number {
  let a = (Math.imul(seed, 0x9e3779b1) + Math.imul(n + 1, 0x6d2b79f5)) | 0;
  a = Math.imul(a ^ (a >>> 15), a | 1);
  a ^= a + Math.imul(a ^ (a >>> 7), a | 61);
  return ((a ^ (a >>> 14)) >>> 0) / 2 ** 32;
}
