/**
 * Outline rows: what the outline panel lists, without the panel: each prompt, and below it its
 * failures and its edited files.
 */

import type { Exchange, OutlineMark } from "../../../src/client/outline-shapes.ts";
import type { Exchanges, Marks } from "./outline.ts";

export type OutlineRow =
  | { readonly kind: "prompt"; readonly start: number; readonly exchange: Exchange }
  | { readonly kind: "failure"; readonly start: number; readonly mark: OutlineMark }
  | {
      readonly kind: "edit";
      /** The first edit of this file in the exchange. */
      readonly start: number;
      readonly file: string;
      readonly edits: number;
      readonly added: number;
      readonly removed: number;
      readonly isFailed: boolean;
    };

export interface OutlineRowChoice {
  readonly failures: boolean;
  readonly edits: boolean;
}

export interface RowHeights {
  readonly promptPx: number;
  readonly markPx: number;
}

/** A row is a number until it is shown: an exchange may have a hundred thousand. */
export class OutlineRows {
  readonly length: number;
  readonly #exchanges: Exchanges;
  readonly #marks: Marks;
  /** The exchange of each row, and its mark; the row of a prompt has NO_MARK. */
  readonly #ofExchange: Uint32Array;
  readonly #ofMark: Uint32Array;

  constructor(exchanges: Exchanges, marks: Marks, choice: OutlineRowChoice) {
    const most = exchanges.length + marks.length;
    const [ofExchange, ofMark] = [new Uint32Array(most), new Uint32Array(most)];
    /** The last exchange in which a file was edited, by the number of the file. */
    const editedIn = new Map<number, number>();
    let [length, mark] = [0, 0];
    for (let exchange = 0; exchange < exchanges.length; exchange++) {
      ofExchange[length] = exchange;
      ofMark[length++] = NO_MARK;
      for (const until = exchanges.startOf(exchange + 1); marks.startOf(mark) < until; mark++) {
        if (marks.number("isFailure", mark) === 1) {
          if (!choice.failures) continue;
        } else {
          const file = marks.number("file", mark);
          if (!choice.edits || editedIn.get(file) === exchange) continue;
          editedIn.set(file, exchange);
        }
        ofExchange[length] = exchange;
        ofMark[length++] = mark;
      }
    }
    this.#exchanges = exchanges;
    this.#marks = marks;
    this.#ofExchange = ofExchange.slice(0, length);
    this.#ofMark = ofMark.slice(0, length);
    this.length = length;
  }

  startOf(row: number): number {
    const mark = this.#ofMark[row] ?? NO_MARK;
    if (mark !== NO_MARK) return this.#marks.startOf(mark);
    return this.#exchanges.startOf(this.#ofExchange[row] ?? 0);
  }

  /** The last row that starts at or before an offset; the first if there is none. */
  lastUntil(offset: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.startOf(middle) <= offset) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  slice(from: number, to: number): OutlineRow[] {
    return Array.from({ length: Math.max(0, to - from) }, (_, n) => this.#row(from + n));
  }

  /** Where each row begins, in pixels, and where the last one ends. */
  tops({ promptPx, markPx }: RowHeights): Float64Array {
    const tops = new Float64Array(this.length + 1);
    for (let row = 0; row < this.length; row++) {
      tops[row + 1] = (tops[row] ?? 0) + (this.#ofMark[row] === NO_MARK ? promptPx : markPx);
    }
    return tops;
  }

  #row(row: number): OutlineRow {
    const index = this.#ofExchange[row] ?? 0;
    const first = this.#ofMark[row] ?? NO_MARK;
    const start = this.startOf(row);
    if (first === NO_MARK) {
      return { kind: "prompt", start, exchange: this.#exchanges.at(index) as Exchange };
    }
    const mark = this.#marks.at(first) as OutlineMark;
    return mark.kind === "failure"
      ? { kind: "failure", start, mark }
      : this.#edits(first, this.#exchanges.startOf(index + 1));
  }

  /** All edits of a file in an exchange. */
  #edits(first: number, until: number): OutlineRow {
    const marks = this.#marks;
    const file = marks.number("file", first);
    const own: OutlineMark[] = [];
    for (let mark = first; marks.startOf(mark) < until; mark++) {
      const isOwn = marks.number("isFailure", mark) === 0 && marks.number("file", mark) === file;
      if (isOwn) own.push(marks.at(mark) as OutlineMark);
    }
    const sum = (field: "added" | "removed") =>
      own.reduce((all, edit) => all + (edit[field] ?? 0), 0);
    return {
      kind: "edit",
      start: marks.startOf(first),
      file: own[0]?.file ?? own[0]?.tool ?? "",
      edits: own.length,
      added: sum("added"),
      removed: sum("removed"),
      isFailed: own.every(({ isFailed }) => isFailed),
    };
  }
}

const NO_MARK = 0xffff_ffff;

/** The rows on the screen: from the first to one past the last. */
export function rowsWithin(tops: Float64Array, from: number, to: number): [number, number] {
  return [Math.max(0, indexOf(tops, from) - 1), Math.min(tops.length - 1, indexOf(tops, to) + 1)];
}

/** The number of tops at or above a pixel. */
function indexOf(tops: Float64Array, px: number): number {
  let low = 0;
  let high = tops.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tops[middle] ?? 0) <= px) low = middle + 1;
    else high = middle;
  }
  return low;
}
