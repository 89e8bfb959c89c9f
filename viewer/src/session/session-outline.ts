/**
 * Session outline: all prompts, failures and edits of the session being read, as the server knows
 * them.
 *
 * - Of every exchange, only numbers are loaded (`index`): where it is and how much it has. They say
 *   where each row of the outline is, and where to jump to. Texts and marks are loaded in blocks of
 *   exchanges, when they are shown.
 * - While the server still reads the log, `share` says how far it is, and nothing is loaded.
 * - When the session grows, only what follows the last known prompt is requested again.
 */

import { batch, signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { Exchange, ExchangesPage, OutlinePage } from "../../../src/client/outline-shapes.ts";
import { Blocks } from "./blocks.ts";
import {
  type Exchanges,
  hasSomething,
  type Marks,
  packedExchanges,
  packedMarks,
} from "./outline.ts";
import { PackedList } from "./packed-list.ts";
import { Pager } from "./pager.ts";

/** Exchanges per block. */
export const BLOCK = 32;
/** Prompts and marks per request, as the server allows. */
const LIMIT_MAX = 10_000;

const COLUMNS = ["atMs", "tookMs", "spend", "calls", "failures", "edits", "files"] as const;
export type OutlineColumn = (typeof COLUMNS)[number] | "isPrompt";
type Numbers = Readonly<Record<OutlineColumn | "start", number>>;
export type ExchangeIndex = PackedList<Numbers, OutlineColumn>;

export interface OutlineBlock {
  readonly exchanges: Exchanges;
  readonly marks: Marks;
}

/** A stretch of the log: `to` is the offset after it. */
export interface BlockRange {
  readonly from: number;
  readonly to: number;
  readonly calls: number;
}

export class SessionOutline {
  readonly index = signal(emptyIndex());
  readonly blocks: Blocks<OutlineBlock>;
  /** What the whole session used; null until all of it was read. */
  readonly totals = signal<Pick<OutlinePage, "tokens" | "spend"> | null>(null);
  /** From 0 to 1: how much of the log the outline is of. */
  readonly share = signal(0);
  /** The session has more marks than the server keeps. */
  readonly isCut = signal(false);
  readonly #client: VerbatimClient;
  readonly #id: string;
  readonly #pager: Pager;
  /** The stamps of blocks, and the index that they are of. */
  readonly #stamps = new Map<number, string>();
  #stamped: ExchangeIndex | null = null;

  constructor(client: VerbatimClient, id: string, signal: AbortSignal) {
    this.#client = client;
    this.#id = id;
    this.#pager = new Pager(
      signal,
      () => this.lastStart,
      async (from) => {
        if (this.share.peek() < 1) {
          const { isComplete, read, end } = await client.sessions.exchanges(id, { limit: 1 });
          if (!isComplete) this.share.value = Math.min(0.99, end === 0 ? 0 : read / end);
          if (!isComplete) return { next: null, isComplete };
        }
        const page = await client.sessions.exchanges(id, { from });
        if (!signal.aborted) this.#take(page, from);
        return page;
      },
    );
    this.blocks = new Blocks(
      signal,
      (block) => this.#load(block),
      (block) => this.stampOf(block),
    );
  }

  refresh(inMs?: number): void {
    this.#pager.refresh(inMs);
  }

  /** Lines from `to` on are no longer there. */
  rewound(to: number): void {
    this.index.value = this.index.peek().before(to);
    this.refresh();
  }

  /** The offset of the last exchange; 0 if there is none. */
  get lastStart(): number {
    const { length } = this.index.value;
    return length === 0 ? 0 : this.index.value.startOf(length - 1);
  }

  /** The next prompt after an offset, or the last one before it; null: there is none. */
  promptNear(offset: number, by: 1 | -1): number | null {
    const index = this.index.value;
    const n = by === 1 ? index.firstFrom(offset + 1) : index.lastUntil(offset - 1);
    return index.number("isPrompt", n) === 1 ? index.startOf(n) : null;
  }

  /** An exchange by its number; null until it is loaded. */
  exchangeAt(n: number): Exchange | null {
    const index = this.index.value;
    if (n < 0 || n >= index.length) return null;
    const start = index.startOf(n);
    return this.blocks.get(Math.floor(n / BLOCK))?.exchanges.startingAt(start)[0] ?? null;
  }

  /** What is known of the places of edits in an entry. */
  marksAt(start: number) {
    return this.blocks.get(this.blockOf(start))?.marks.startingAt(start) ?? [];
  }

  blockOf(start: number): number {
    return Math.max(0, Math.floor(this.index.value.lastUntil(start) / BLOCK));
  }

  rangeOf(block: number): BlockRange {
    const index = this.index.peek();
    const [first, last] = [block * BLOCK, Math.min(index.length, (block + 1) * BLOCK)];
    let calls = 0;
    for (let n = first; n < last; n++) calls += index.number("calls", n);
    return { from: block === 0 ? 0 : index.startOf(first), to: index.startOf(last), calls };
  }

  /** Another text when the block has changed; null while the server still reads what is in it. */
  stampOf(block: number): string | null {
    const index = this.index.peek();
    if (this.share.peek() < 1 && (block + 1) * BLOCK >= index.length) return null;
    if (this.#stamped !== index) this.#stamps.clear();
    this.#stamped = index;
    const known = this.#stamps.get(block);
    if (known !== undefined) return known;
    const last = Math.min(index.length, (block + 1) * BLOCK) - 1;
    const { from, to, calls } = this.rangeOf(block);
    const ends = (["tookMs", "failures", "edits"] as const).map((name) => index.number(name, last));
    const stamp = [from, to, index.startOf(last), calls, ...ends].join();
    this.#stamps.set(block, stamp);
    return stamp;
  }

  async #load(block: number): Promise<OutlineBlock> {
    const index = this.index.peek();
    const { from, to } = this.rangeOf(block);
    let limit = 0;
    for (let n = block * BLOCK; n < Math.min(index.length, (block + 1) * BLOCK); n++) {
      limit += 1 + index.number("failures", n) + index.number("edits", n);
    }
    let [exchanges, marks] = [packedExchanges(), packedMarks()];
    // One more: an exchange before the first prompt that is not shown.
    limit = Math.min(LIMIT_MAX, limit + 1);
    for (let next: number | null = from; next !== null && next < to; ) {
      const page: OutlinePage = await this.#client.sessions.outline(this.#id, {
        from: next,
        limit,
      });
      exchanges = exchanges.with(page.exchanges.filter(hasSomething));
      marks = marks.with(page.marks);
      next = page.next;
    }
    return { exchanges: exchanges.before(to), marks: marks.before(to) };
  }

  #take(page: ExchangesPage, from: number): void {
    const { columns, isBefore } = page;
    const known = this.index.peek().before(from);
    const items = columns.start.map((start, n): Numbers => {
      const isPrompt = n === 0 && isBefore ? 0 : 1;
      const numbers = COLUMNS.map((name) => [name, columns[name][n] ?? 0]);
      return { start, isPrompt, ...Object.fromEntries(numbers) };
    });
    const isAll = page.isComplete && page.next === null;
    batch(() => {
      this.index.value = known.with(items);
      this.isCut.value = page.isCut;
      if (isAll) this.share.value = 1;
      if (isAll) this.totals.value = { tokens: page.tokens, spend: page.spend };
    });
  }
}

function emptyIndex(): ExchangeIndex {
  const names = [...COLUMNS, "isPrompt"] as const;
  const columns = names.map((name) => [name, (item: Numbers) => item[name]]);
  return PackedList.of<Numbers, OutlineColumn>(Object.fromEntries(columns), true);
}
