/**
 * Outline: all prompts, failures and edits of a session, as the server knows them.
 *
 * - The whole outline is loaded page by page, however long the session. While the server still reads
 *   the log, `share` says how far it is.
 * - When the session grows, only what follows the last known prompt is requested again.
 * - There may be a hundred thousand of them: they are packed (packed-list.ts).
 */

import { signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { Exchange, OutlineMark, OutlinePage } from "../../../src/client/outline-shapes.ts";
import { tookMs } from "./axis-bars.ts";
import { PackedList } from "./packed-list.ts";

const GROWN_MS = 500;
const AGAIN_MS = 150;
const FAILED_MS = 5_000;

export type Exchanges = PackedList<
  Exchange,
  "calls" | "failures" | "edits" | "isPrompt" | "tookMs" | "spend"
>;
/** `file` is a number for each name. */
export type Marks = PackedList<OutlineMark, "isFailure" | "file">;

export function packedExchanges(): Exchanges {
  return PackedList.of({
    calls: ({ calls }) => calls,
    failures: ({ failures }) => failures,
    edits: ({ edits }) => edits,
    isPrompt: ({ text }) => (text === null ? 0 : 1),
    tookMs: (exchange) => tookMs(exchange) ?? 0,
    spend: ({ spend }) => spend ?? 0,
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
  /** The session has more marks than the server keeps. */
  readonly isCut = signal(false);
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
    this.exchanges.value = this.exchanges.peek().before(to);
    this.marks.value = this.marks.peek().before(to);
    this.refresh();
  }

  /** The offset of the last exchange; 0 if there is none. */
  get lastStart(): number {
    const { length } = this.exchanges.value;
    return length === 0 ? 0 : this.exchanges.value.startOf(length - 1);
  }

  isPrompt(start: number): boolean {
    const exchanges = this.exchanges.value;
    const index = exchanges.lastUntil(start);
    return exchanges.startOf(index) === start && exchanges.number("isPrompt", index) === 1;
  }

  /** The next prompt after an offset, or the last one before it; null: there is none. */
  promptNear(offset: number, by: 1 | -1): number | null {
    const exchanges = this.exchanges.value;
    const index = by === 1 ? exchanges.firstFrom(offset + 1) : exchanges.lastUntil(offset - 1);
    return exchanges.number("isPrompt", index) === 1 ? exchanges.startOf(index) : null;
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    this.#isWanted = false;
    let waitMs: number | null = null;
    try {
      let from: number | null = this.lastStart; // OL1
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
    const exchanges = page.exchanges.filter(hasSomething);
    this.exchanges.value = this.exchanges.peek().before(from).with(exchanges);
    this.marks.value = this.marks.peek().before(from).with(page.marks);
    this.isCut.value = page.isCut;
    const isAll = page.isComplete && page.next === null;
    this.share.value = isAll ? 1 : Math.min(0.99, page.end === 0 ? 0 : page.read / page.end);
    if (isAll) this.totals.value = { tokens: page.tokens, spend: page.spend };
  }
}

function hasSomething({ text, tokens, calls, failures }: Exchange): boolean {
  return text !== null || tokens !== null || calls > 0 || failures > 0;
}
