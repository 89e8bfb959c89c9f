/**
 * Session costs: what the session, its prompts and its tool calls cost, as the server counts it.
 * Loaded after the entries, and again when more come; without it the page shows no cost. There may
 * be a hundred thousand calls: they are loaded in blocks, when they are shown (blocks.ts).
 *
 * Some programs write what a run used only at its end, and not to which answers it belongs. Then
 * tokens are those that the log has in all, as in the list.
 */

import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { Exchange, OutlinePage } from "../../../src/client/outline-shapes.ts";
import type { CostColumns, SessionCosts as Counted } from "../../../src/client/usage-shapes.ts";
import { Blocks } from "./blocks.ts";
import { PackedList } from "./packed-list.ts";
import { BLOCK, type BlockRange } from "./session-outline.ts";

/** Reload intervals: while the server counts, and while entries come. */
const AGAIN_MS = 1_000;
const PAUSE_MS = 5_000;

type Prompt = Counted["prompts"][number];
type Call = Counted["calls"][number];

interface CostBlock {
  readonly prompts: PackedList<Prompt, never>;
  readonly calls: PackedList<Call, "calls" | "total" | "cost">;
}

/** Which blocks there are, and the tokens that the log has. */
interface Places {
  readonly totals: Pick<ReadonlySignal<Pick<OutlinePage, "tokens"> | null>, "value">;
  blockOf(start: number): number;
  rangeOf(block: number): BlockRange;
  stampOf(block: number): string | null;
}

/** All in one block, for pages that show all prompts. */
export const WHOLE: Omit<Places, "totals"> = {
  blockOf: () => 0,
  rangeOf: () => ({ from: 0, to: Number.POSITIVE_INFINITY, calls: Number.POSITIVE_INFINITY }),
  stampOf: () => "",
};

export class SessionCosts {
  readonly counted = signal<Pick<Counted, "total"> | null>(null);
  /** What each prompt cost, for the time axis. */
  readonly columns = signal<CostColumns | null>(null);
  /** The tokens of the session, and whether the log has more than its answers. */
  readonly tokens = computed(() => {
    const { total, responses } = this.counted.value?.total ?? { total: 0, responses: 0 };
    const recorded = this.#places.totals.value?.tokens ?? 0;
    return { total: Math.max(total, recorded), isMore: responses > 0 && recorded > total };
  });
  readonly #client: VerbatimClient;
  readonly #id: string;
  readonly #places: Places;
  readonly #blocks: Blocks<CostBlock>;
  /** How often costs were loaded: a block of an earlier time is loaded again. */
  #loads = 0;
  readonly #closing: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: VerbatimClient, id: string, places: Places, closing: AbortSignal) {
    this.#client = client;
    this.#id = id;
    this.#places = places;
    this.#blocks = new Blocks(
      closing,
      (block) => this.#load(block),
      (block) => {
        const stamp = places.stampOf(block);
        return stamp === null ? null : `${this.#loads} ${stamp}`;
      },
    );
    this.#closing = closing;
    closing.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** What comes before the first prompt has no place of its own. */
  ofPrompt({ start, text, tokens }: Pick<Exchange, "start" | "text" | "tokens">): Prompt | null {
    const prompt = this.promptAt(text === null ? null : start);
    if (prompt === null || !this.tokens.value.isMore) return prompt;
    return { ...prompt, total: tokens ?? prompt.total };
  }

  promptAt(start: number | null): Prompt | null {
    return this.#blockAt(start ?? -1)?.prompts.startingAt(start ?? -1)[0] ?? null;
  }

  callAt(start: number): Call | null {
    return this.#blockAt(start)?.calls.startingAt(start)[0] ?? null;
  }

  async load(): Promise<void> {
    try {
      const counted = await this.#client.sessions.costs(this.#id, { limit: 1, columns: true });
      if (this.#closing.aborted) return;
      if (counted.counting !== null) return this.#later(AGAIN_MS);
      const { total, columns } = counted;
      this.#loads++;
      batch(() => {
        this.counted.value = { total };
        this.columns.value = columns;
      });
    } catch {
      // Faults of the server are shown where its entries are.
    }
  }

  /** Entries came. */
  changed(): void {
    this.#later(PAUSE_MS);
  }

  #blockAt(start: number): CostBlock | null {
    return this.counted.value === null ? null : this.#blocks.get(this.#places.blockOf(start));
  }

  /** Another number when a block was loaded. */
  get loaded(): ReadonlySignal<number> {
    return this.#blocks.version;
  }

  async #load(block: number): Promise<CostBlock> {
    const { from, to, calls: most } = this.#places.rangeOf(block);
    const limit = Number.isFinite(most) ? { limit: most + BLOCK } : {};
    const { prompts, calls } = await this.#client.sessions.costs(this.#id, { from, ...limit });
    return { prompts: packedPrompts().with(prompts).before(to), calls: packedCalls().with(calls) };
  }

  #later(ms: number): void {
    if (this.#closing.aborted) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.load();
    }, ms);
  }
}

const packedPrompts = () => PackedList.of<Prompt, never>({});
const packedCalls = () =>
  PackedList.of<Call, "calls" | "total" | "cost">(
    {
      calls: (call) => call.calls,
      total: ({ total }) => total,
      cost: ({ cost }) => cost ?? Number.NaN,
    },
    true,
  );
