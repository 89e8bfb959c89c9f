/**
 * Columns: responses of models in arrays of numbers, a row each. A hundred thousand of them take
 * 8 MB and no object.
 *
 * A row's `key` is a hash of 64 bits of what identifies the response; `request` is one of 32 bits
 * of the request's id, 0 if it is unknown. `model` is an index into a list that the owner keeps.
 */

import { FLAGS, type Flag, isTooLow, mergedFlags } from "./usage-row.ts";

/** Numbers of 32 bits, then of 64, in the order in which they are stored. */
const WORDS = ["keyHigh", "keyLow", "request", "model", "flags"] as const;
const NUMBERS = [
  "at",
  "input",
  "output",
  "cacheWrite5m",
  "cacheWrite1h",
  "cacheRead",
  "reasoning",
  "recorded",
] as const;
/** Those of NUMBERS that are counts. */
export const COUNTS = [
  "input",
  "output",
  "cacheWrite5m",
  "cacheWrite1h",
  "cacheRead",
  "reasoning",
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

  static bytesFor(room: number): number {
    return room * ROW_BYTES;
  }

  /** Columns over memory that `withRoom` wrote, without a copy. */
  static over(memory: ArrayBuffer, from: number, room: number, length: number): Columns {
    const columns = new Columns(0);
    let at = from;
    for (const name of NUMBERS) {
      columns[name] = new Float64Array(memory, at, room);
      at += room * 8;
    }
    for (const name of WORDS) {
      columns[name] = new Uint32Array(memory, at, room);
      at += room * 4;
    }
    columns.length = length;
    columns.#room = room;
    return columns;
  }

  /** The rows as bytes, with room for more, in the same order as `toBytes`. */
  withRoom(room: number): Buffer {
    const bytes = Buffer.alloc(room * ROW_BYTES);
    let at = 0;
    for (const name of [...NUMBERS, ...WORDS]) {
      const column = this[name].subarray(0, this.length);
      bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
      at += room * column.BYTES_PER_ELEMENT;
    }
    return bytes;
  }

  /** A new row, all zeros. */
  add(): number {
    if (this.length === this.#room) this.#grow(Math.max(FIRST_ROWS, this.#room * 2));
    return this.length++;
  }

  has(row: number, flag: Flag): boolean {
    return ((this.flags[row] ?? 0) & flag) !== 0;
  }

  /** A count cannot be right: negative, too large, or too few output tokens for the text. */
  isImplausible(row: number): boolean {
    return (
      this.has(row, FLAGS.implausible) || isTooLow(this.flags[row] ?? 0, this.output[row] ?? 0)
    );
  }

  /** Field by field: this runs for every row. */
  copy(to: number, other: Columns, from: number): void {
    this.keyHigh[to] = other.keyHigh[from] ?? 0;
    this.keyLow[to] = other.keyLow[from] ?? 0;
    this.request[to] = other.request[from] ?? 0;
    this.model[to] = other.model[from] ?? 0;
    this.flags[to] = other.flags[from] ?? 0;
    this.at[to] = other.at[from] ?? 0;
    this.input[to] = other.input[from] ?? 0;
    this.output[to] = other.output[from] ?? 0;
    this.cacheWrite5m[to] = other.cacheWrite5m[from] ?? 0;
    this.cacheWrite1h[to] = other.cacheWrite1h[from] ?? 0;
    this.cacheRead[to] = other.cacheRead[from] ?? 0;
    this.reasoning[to] = other.reasoning[from] ?? 0;
    this.recorded[to] = other.recorded[from] ?? 0;
  }

  /** Keeps the larger of each count, and the facts of the row with more tokens. */
  merge(to: number, other: Columns, from: number): void {
    const isMore = isFuller(other, from, this, to);
    keepLarger(this.input, to, other.input, from);
    keepLarger(this.output, to, other.output, from);
    keepLarger(this.cacheWrite5m, to, other.cacheWrite5m, from);
    keepLarger(this.cacheWrite1h, to, other.cacheWrite1h, from);
    keepLarger(this.cacheRead, to, other.cacheRead, from);
    keepLarger(this.reasoning, to, other.reasoning, from);
    const recorded = other.recorded[from] ?? Number.NaN;
    if (!((this.recorded[to] ?? 0) >= recorded) && !Number.isNaN(recorded)) {
      this.recorded[to] = recorded;
    }
    if ((this.request[to] ?? 0) === 0) this.request[to] = other.request[from] ?? 0;
    const [mine, theirs] = [this.flags[to] ?? 0, other.flags[from] ?? 0];
    this.flags[to] = isMore ? mergedFlags(theirs, mine) : mergedFlags(mine, theirs);
    if (!isMore) return;
    this.at[to] = other.at[from] ?? 0;
    this.model[to] = other.model[from] ?? 0;
  }

  /** Forgets all rows and keeps the memory. */
  clear(): void {
    this.cut(0);
  }

  /** Forgets the rows from this one on. */
  cut(length: number): void {
    for (const name of [...WORDS, ...NUMBERS]) this[name].fill(0, length, this.length);
    this.length = length;
  }

  /** The rows as bytes: column after column, numbers of 64 bits first. */
  toBytes(): Buffer {
    return this.withRoom(this.length);
  }

  /** Appends `count` rows from what `toBytes` returned. */
  addBytes(bytes: Uint8Array, count: number): void {
    const first = this.length;
    if (this.#room < first + count) this.#grow(Math.max(first + count, this.#room * 2));
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

export function rowTokens(columns: Columns, row: number): number {
  const { input, output, cacheWrite5m, cacheWrite1h, cacheRead } = columns;
  const written = (cacheWrite5m[row] ?? 0) + (cacheWrite1h[row] ?? 0);
  return (input[row] ?? 0) + (output[row] ?? 0) + written + (cacheRead[row] ?? 0);
}

function keepLarger(mine: Float64Array, to: number, theirs: Float64Array, from: number): void {
  const value = theirs[from] ?? 0;
  if (value > (mine[to] ?? 0)) mine[to] = value;
}

/** More tokens; if as many, the earlier. */
function isFuller(one: Columns, row: number, other: Columns, otherRow: number): boolean {
  const difference = rowTokens(one, row) - rowTokens(other, otherRow);
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
