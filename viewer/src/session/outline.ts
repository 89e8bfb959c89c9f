/**
 * Outline: all prompts, failures and edits of a session with their texts, as the server knows them:
 * for pages that show all of them. The page of a session has a smaller one (session-outline.ts).
 *
 * - The whole outline is loaded page by page, however long the session. While the server still reads
 *   the log, `share` says how far it is.
 * - When the session grows, only what follows the last known prompt is requested again.
 * - There may be a hundred thousand of them: they are packed (packed-list.ts).
 */

import { signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { Exchange, OutlineMark, OutlinePage } from "../../../src/client/outline-shapes.ts";
import { PackedList } from "./packed-list.ts";
import { Pager } from "./pager.ts";

export type Exchanges = PackedList<Exchange, "failures" | "isPrompt">;
/** `file` is a number for each name. */
export type Marks = PackedList<OutlineMark, "isFailure" | "file">;

export function packedExchanges(): Exchanges {
  return PackedList.of({
    failures: ({ failures }) => failures,
    isPrompt: ({ text }) => (text === null ? 0 : 1),
  });
}

export function packedMarks(): Marks {
  const names = new Map<string, number>();
  return PackedList.of({
    isFailure: ({ kind }) => (kind === "failure" ? 1 : 0),
    file: ({ file, tool }) => {
      const name = file ?? tool ?? "";
      const number = names.get(name) ?? names.size;
      names.set(name, number);
      return number;
    },
  });
}

export class Outline {
  /** Those with something in them: the lines before the first prompt often have nothing. */
  readonly exchanges = signal(packedExchanges());
  readonly marks = signal(packedMarks());
  /** What the whole session used; null until all of it was read. */
  readonly totals = signal<Pick<OutlinePage, "tokens" | "spend"> | null>(null);
  /** From 0 to 1: how much of the log the outline is of. */
  readonly share = signal(0);
  readonly #pager: Pager;

  /** `reads`: with the files that were read. */
  constructor(
    client: VerbatimClient,
    id: string,
    { signal, reads = false }: { readonly signal: AbortSignal; readonly reads?: boolean },
  ) {
    this.#pager = new Pager(
      signal,
      () => this.lastStart,
      async (from) => {
        const page = await client.sessions.outline(id, reads ? { from, reads } : { from });
        if (!signal.aborted) this.#take(page, from);
        return page;
      },
    );
  }

  /** The session has changed, or was opened: loads what is new. */
  refresh(inMs?: number): void {
    this.#pager.refresh(inMs);
  }

  /** Lines from `to` on are no longer there. */
  rewound(to: number): void {
    this.exchanges.value = this.exchanges.peek().before(to);
    this.marks.value = this.marks.peek().before(to);
    this.refresh();
  }

  /** The offset of the last exchange; 0 if there is none. */
  get lastStart(): number {
    const { length } = this.exchanges.value;
    return length === 0 ? 0 : this.exchanges.value.startOf(length - 1);
  }

  #take(page: OutlinePage, from: number): void {
    const exchanges = page.exchanges.filter(hasSomething);
    this.exchanges.value = this.exchanges.peek().before(from).with(exchanges);
    this.marks.value = this.marks.peek().before(from).with(page.marks);
    const isAll = page.isComplete && page.next === null;
    this.share.value = isAll ? 1 : Math.min(0.99, page.end === 0 ? 0 : page.read / page.end);
    if (isAll) this.totals.value = { tokens: page.tokens, spend: page.spend };
  }
}

/** What comes before the first prompt often has nothing. */
export function hasSomething({ text, tokens, calls, failures }: Exchange): boolean {
  return text !== null || tokens !== null || calls > 0 || failures > 0;
}
