/**
 * Packed list: many items of one kind, as bytes outside the JavaScript heap; an item is an object
 * only while it is used. Numbers that are asked for often have arrays of their own. Items of nothing
 * but numbers have no bytes.
 *
 * A list does not change: `with` and `before` return another one over the same bytes. Only the
 * newest list of these can be used.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** A code unit of a string is at most so many bytes. */
const BYTES_PER_UNIT = 3;

type Columns<Item, Name extends string> = Readonly<Record<Name, (item: Item) => number>>;

interface Store<Item, Name extends string> {
  readonly columns: Columns<Item, Name>;
  /** All fields but `start` are columns; NaN is null. */
  readonly isNumeric: boolean;
  /** The names of the fields; values alone are packed. */
  keys: readonly (keyof Item)[];
  bytes: Uint8Array;
  /** Where each item ends. */
  ends: Uint32Array;
  starts: Float64Array;
  readonly numbers: Map<Name, Float64Array>;
}

export class PackedList<Item extends { readonly start: number | null }, Name extends string> {
  readonly length: number;
  readonly #store: Store<Item, Name>;

  private constructor(store: Store<Item, Name>, length: number) {
    this.#store = store;
    this.length = length;
  }

  static of<Item extends { readonly start: number | null }, Name extends string>(
    columns: Columns<Item, Name>,
    isNumeric = false,
  ): PackedList<Item, Name> {
    const empty = {
      bytes: new Uint8Array(0),
      ends: new Uint32Array(0),
      starts: new Float64Array(),
    };
    return new PackedList({ columns, isNumeric, keys: [], ...empty, numbers: new Map() }, 0);
  }

  /** Items are in the order of the log; "before all" (null) counts as -1. */
  startOf(index: number): number {
    return index < this.length ? (this.#store.starts[index] ?? 0) : Number.POSITIVE_INFINITY;
  }

  number(name: Name, index: number): number {
    return index < this.length ? (this.#store.numbers.get(name)?.[index] ?? 0) : 0;
  }

  sum(name: Name): number {
    let all = 0;
    for (let index = 0; index < this.length; index++) all += this.number(name, index);
    return all;
  }

  at(index: number): Item | null {
    if (index < 0 || index >= this.length) return null;
    const { bytes, ends, keys, columns, isNumeric } = this.#store;
    if (isNumeric) {
      const numbers = (Object.keys(columns) as Name[]).map((name) => {
        const number = this.number(name, index);
        return [name, Number.isNaN(number) ? null : number];
      });
      return { start: this.startOf(index), ...Object.fromEntries(numbers) } as unknown as Item;
    }
    const part = bytes.subarray(ends[index - 1] ?? 0, ends[index]);
    const values = JSON.parse(decoder.decode(part)) as unknown[];
    return Object.fromEntries(keys.map((key, n) => [key, values[n]])) as unknown as Item;
  }

  slice(from = 0, to = this.length): Item[] {
    const items: Item[] = [];
    for (let index = Math.max(0, from); index < Math.min(to, this.length); index++) {
      items.push(this.at(index) as Item);
    }
    return items;
  }

  /** The index of the first item at or after an offset. */
  firstFrom(offset: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.startOf(middle) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The index of the last item that starts at or before an offset; -1: none. */
  lastUntil(offset: number): number {
    return this.firstFrom(offset + 1) - 1;
  }

  /** All items at an offset. */
  startingAt(offset: number): Item[] {
    return this.slice(this.firstFrom(offset), this.firstFrom(offset + 1));
  }

  /** Without those from an offset on. */
  before(offset: number): PackedList<Item, Name> {
    return new PackedList(this.#store, this.firstFrom(offset));
  }

  with(items: readonly Item[]): PackedList<Item, Name> {
    const store = this.#store;
    const length = this.length + items.length;
    const [first] = items;
    if (store.keys.length === 0 && first) store.keys = Object.keys(first) as (keyof Item)[];
    store.starts = grown(store.starts, length, Float64Array);
    store.ends = grown(store.ends, length, Uint32Array);
    const names = Object.keys(store.columns) as Name[];
    for (const name of names) {
      const old = store.numbers.get(name) ?? new Float64Array();
      store.numbers.set(name, grown(old, length, Float64Array));
    }
    let end = this.length === 0 ? 0 : (store.ends[this.length - 1] ?? 0);
    for (const [n, item] of items.entries()) {
      const index = this.length + n;
      const text = store.isNumeric
        ? ""
        : JSON.stringify(store.keys.map((key) => item[key] ?? null));
      store.bytes = grown(store.bytes, end + text.length * BYTES_PER_UNIT, Uint8Array);
      end += encoder.encodeInto(text, store.bytes.subarray(end)).written;
      store.ends[index] = end;
      store.starts[index] = item.start ?? -1;
      for (const name of names) {
        const numbers = store.numbers.get(name);
        if (numbers) numbers[index] = store.columns[name](item);
      }
    }
    return new PackedList(store, length);
  }
}

interface Numbers<Self> {
  readonly length: number;
  set(other: Self): void;
}

function grown<Self extends Numbers<Self>>(
  old: Self,
  length: number,
  Kind: new (length: number) => Self,
): Self {
  if (old.length >= length) return old;
  const larger = new Kind(Math.ceil(length * 1.25));
  larger.set(old);
  return larger;
}
