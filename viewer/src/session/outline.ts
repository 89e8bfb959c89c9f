/**
 * Outline: all prompts, failures and edits of a session, as the server knows them.
 *
 * - The whole outline is loaded page by page, however long the session. While the server still reads
 *   the log, `share` says how far it is.
 * - When the session grows, only what follows the last known prompt is requested again.
 */

import { computed, signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { Exchange, OutlineMark, OutlinePage } from "../../../src/client/session-shapes.ts";

const GROWN_MS = 500;
const AGAIN_MS = 150;
const FAILED_MS = 5_000;

export class Outline {
  readonly exchanges = signal<readonly Exchange[]>([]);
  readonly marks = signal<readonly OutlineMark[]>([]);
  /** What the whole session used; null until all of it was read. */
  readonly totals = signal<Pick<OutlinePage, "tokens" | "spend"> | null>(null);
  /** From 0 to 1: how much of the log the outline is of. */
  readonly share = signal(0);
  /** The session has more marks than the server keeps. */
  readonly isCut = signal(false);
  /** Those with something in them: the lines before the first prompt often have nothing. */
  readonly shown = computed(() => this.exchanges.value.filter(hasSomething));
  /** The offsets of the prompts. */
  readonly prompts = computed(() => {
    return this.exchanges.value.filter(({ text }) => text !== null).map(({ start }) => start);
  });
  readonly #client: VerbatimClient;
  readonly #id: string;
  readonly #signal: AbortSignal;
  readonly #reads: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLoading = false;
  #isWanted = false;

  /** `reads`: with the files that were read. */
  constructor(
    client: VerbatimClient,
    id: string,
    { signal, reads = false }: { readonly signal: AbortSignal; readonly reads?: boolean },
  ) {
    this.#client = client;
    this.#id = id;
    this.#signal = signal;
    this.#reads = reads;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** The session has changed, or was opened: loads what is new. */
  refresh(inMs = GROWN_MS): void {
    this.#isWanted = true;
    if (this.#isLoading) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#load();
    }, inMs);
  }

  /** Lines from `to` on are no longer there. */
  rewound(to: number): void {
    this.exchanges.value = this.exchanges.value.filter(({ start }) => start < to);
    this.marks.value = this.marks.value.filter(({ start }) => start < to);
    this.refresh();
  }

  /** The exchange that an offset is in: its index in `shown`, or -1. */
  indexAt(offset: number): number {
    return lastAtOrBefore(this.shown.value, offset);
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    this.#isWanted = false;
    let waitMs: number | null = null;
    try {
      let from: number | null = this.exchanges.peek().at(-1)?.start ?? 0; // OL1
      while (from !== null && !this.#signal.aborted) {
        const range = this.#reads ? { from, reads: true } : { from };
        const page: OutlinePage = await this.#client.sessions.outline(this.#id, range);
        if (this.#signal.aborted) return;
        this.#take(page, from);
        if (page.next === null && !page.isComplete) waitMs = AGAIN_MS;
        from = page.next;
      }
    } catch {
      waitMs = FAILED_MS; // The page itself shows when the server is gone.
    } finally {
      this.#isLoading = false;
    }
    if (this.#signal.aborted) return;
    if (waitMs !== null) this.refresh(waitMs);
    else if (this.#isWanted) this.refresh();
  }

  #take(page: OutlinePage, from: number): void {
    const before = <Item extends { readonly start: number }>(items: readonly Item[]) => {
      return (items.at(-1)?.start ?? -1) < from ? items : items.filter(({ start }) => start < from);
    };
    this.exchanges.value = [...before(this.exchanges.peek()), ...page.exchanges];
    this.marks.value = [...before(this.marks.peek()), ...page.marks];
    this.isCut.value = page.isCut;
    const isAll = page.isComplete && page.next === null;
    this.share.value = isAll ? 1 : Math.min(0.99, page.end === 0 ? 0 : page.read / page.end);
    if (isAll) this.totals.value = { tokens: page.tokens, spend: page.spend };
  }
}

function hasSomething({ text, tokens, calls, failures }: Exchange): boolean {
  return text !== null || tokens !== null || calls > 0 || failures > 0;
}

/** The index of the last item that starts at or before an offset; -1: none. */
export function lastAtOrBefore(
  items: readonly { readonly start: number }[],
  offset: number,
): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle]?.start ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
