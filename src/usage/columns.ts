/**
 * Columns: responses of models in arrays of numbers, a row each. A hundred thousand of them take
 * 8 MB and no object.
 *
 * A row's `key` is a hash of 64 bits of what identifies the response; `request` is one of 32 bits
 * of the request's id, 0 if it is unknown. `model` is an index into a list that the owner keeps.
 */

import type { Flag } from "./usage-row.ts";

/** Numbers of 32 bits, then of 64, in the order in which they are stored. */
export const WORDS = ["keyHigh", "keyLow", "request", "model", "flags"] as const;
export const NUMBERS = [
  ...["at", "input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead", "reasoning"],
  "recorded",
] as const;
/** Those of NUMBERS that are counts. */
export const COUNTS = [
  ...["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead", "reasoning"],
] as const;

const FIRST_ROWS = 64;

export class Columns {
  length = 0;
  keyHigh!: Uint32Array;
  keyLow!: Uint32Array;
  request!: Uint32Array;
  model!: Uint32Array;
  flags!: Uint32Array;
  /** Milliseconds since 1970; NaN if unknown. */
  at!: Float64Array;
  input!: Float64Array;
  output!: Float64Array;
  cacheWrite5m!: Float64Array;
  cacheWrite1h!: Float64Array;
  cacheRead!: Float64Array;
  reasoning!: Float64Array;
  /** The cost that the agent recorded, in US dollars; NaN if none. */
  recorded!: Float64Array;
  #room = 0;

  constructor(room = FIRST_ROWS) {
    this.#grow(room);
  }

  /** A new row, all zeros. */
  add(): number {
    if (this.length === this.#room) this.#grow(this.#room * 2);
    return this.length++;
  }

  has(row: number, flag: Flag): boolean {
    return ((this.flags[row] ?? 0) & flag) !== 0;
  }

  copy(to: number, other: Columns, from: number): void {
    for (const name of WORDS) this[name][to] = other[name][from] ?? 0;
    for (const name of NUMBERS) this[name][to] = other[name][from] ?? 0;
  }

  /** Keeps the larger of each count, and the facts of the row with more tokens. */
  merge(to: number, other: Columns, from: number): void {
    const isMore = isFuller(other, from, this, to);
    for (const name of COUNTS) {
      const value = other[name][from] ?? 0;
      if (value > (this[name][to] ?? 0)) this[name][to] = value;
    }
    const recorded = other.recorded[from] ?? Number.NaN;
    if (!((this.recorded[to] ?? 0) >= recorded) && !Number.isNaN(recorded)) {
      this.recorded[to] = recorded;
    }
    if ((this.request[to] ?? 0) === 0) this.request[to] = other.request[from] ?? 0;
    if (!isMore) return;
    this.at[to] = other.at[from] ?? 0;
    this.model[to] = other.model[from] ?? 0;
    this.flags[to] = other.flags[from] ?? 0;
  }

  /** Forgets all rows and keeps the memory. */
  clear(): void {
    for (const name of [...WORDS, ...NUMBERS]) this[name].fill(0, 0, this.length);
    this.length = 0;
  }

  /** The rows as bytes: column after column, numbers of 64 bits first. */
  toBytes(): Buffer {
    const bytes = Buffer.alloc(this.length * ROW_BYTES);
    let at = 0;
    for (const name of [...NUMBERS, ...WORDS]) {
      const column = this[name].subarray(0, this.length);
      bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
      at += column.byteLength;
    }
    return bytes;
  }

  /** Appends `count` rows from what `toBytes` returned. */
  addBytes(bytes: Uint8Array, count: number): void {
    const first = this.length;
    while (this.#room < first + count) this.#grow(this.#room * 2);
    this.length += count;
    let at = 0;
    for (const name of [...NUMBERS, ...WORDS]) {
      const column = this[name].subarray(first, first + count);
      const target = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
      target.set(bytes.subarray(at, at + target.length));
      at += target.length;
    }
  }

  #grow(room: number): void {
    this.#room = room;
    for (const name of WORDS) this[name] = grown(this[name], new Uint32Array(room));
    for (const name of NUMBERS) this[name] = grown(this[name], new Float64Array(room));
  }
}

export const ROW_BYTES = WORDS.length * 4 + NUMBERS.length * 8;

export function tokensOf(columns: Columns, row: number): number {
  let sum = 0;
  for (const name of COUNTS) if (name !== "reasoning") sum += columns[name][row] ?? 0;
  return sum;
}

/** More tokens; if as many, the earlier. */
function isFuller(one: Columns, row: number, other: Columns, otherRow: number): boolean {
  const difference = tokensOf(one, row) - tokensOf(other, otherRow);
  if (difference !== 0) return difference > 0;
  return (one.at[row] ?? Number.NaN) < (other.at[otherRow] ?? Number.NaN);
}

function grown<Column extends Uint32Array | Float64Array>(
  old: Column | undefined,
  fresh: Column,
): Column {
  if (old !== undefined) fresh.set(old);
  return fresh;
}
