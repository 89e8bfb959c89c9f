/**
 * Session costs: what the session, its prompts and its tool calls cost, as the server counts it.
 * Loaded after the entries, and again when more come; without it the page shows no cost. There may
 * be a hundred thousand calls: they are packed (packed-list.ts).
 *
 * Some programs write what a run used only at its end, and not to which answers it belongs. Then
 * tokens are those that the log has in all, as in the list.
 */

import { batch, computed, signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { Exchange } from "../../../src/client/outline-shapes.ts";
import type { SessionCosts as Counted } from "../../../src/client/usage-shapes.ts";
import type { Outline } from "./outline.ts";
import { PackedList } from "./packed-list.ts";

/** Reload intervals: while the server counts, and while entries come. */
const AGAIN_MS = 1_000;
const PAUSE_MS = 5_000;

type Prompt = Counted["prompts"][number];
type Call = Counted["calls"][number];

const packedPrompts = () => PackedList.of<Prompt, "cost">({ cost: ({ cost }) => cost ?? -1 });
const packedCalls = () =>
  PackedList.of<Call, "calls" | "total" | "cost">(
    {
      calls: (call) => call.calls,
      total: ({ total }) => total,
      cost: ({ cost }) => cost ?? Number.NaN,
    },
    true,
  );

export class SessionCosts {
  readonly counted = signal<Pick<Counted, "total"> | null>(null);
  readonly prompts = signal(packedPrompts());
  readonly calls = signal(packedCalls());
  /** The tokens of the session, and whether the log has more than its answers. */
  readonly tokens = computed(() => {
    const { total, responses } = this.counted.value?.total ?? { total: 0, responses: 0 };
    const recorded = this.#outline.totals.value?.tokens ?? 0;
    return { total: Math.max(total, recorded), isMore: responses > 0 && recorded > total };
  });
  readonly #client: VerbatimClient;
  readonly #id: string;
  readonly #outline: Outline;
  readonly #closing: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: VerbatimClient, id: string, outline: Outline, closing: AbortSignal) {
    this.#client = client;
    this.#id = id;
    this.#outline = outline;
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
    return this.prompts.value.startingAt(start ?? -1)[0] ?? null;
  }

  callAt(start: number): Call | null {
    return this.calls.value.startingAt(start)[0] ?? null;
  }

  /** Of a prompt, without the rest; null: unknown. */
  costAt(start: number | null): number | null {
    const prompts = this.prompts.value;
    const index = prompts.lastUntil(start ?? -1);
    if (index < 0 || prompts.startOf(index) !== (start ?? -1)) return null;
    const cost = prompts.number("cost", index);
    return cost < 0 ? null : cost;
  }

  async load(): Promise<void> {
    try {
      const counted = await this.#client.sessions.costs(this.#id);
      if (this.#closing.aborted) return;
      if (counted.counting !== null) return this.#later(AGAIN_MS);
      const { total, prompts, calls } = counted;
      batch(() => {
        this.counted.value = { total };
        this.prompts.value = packedPrompts().with(prompts);
        this.calls.value = packedCalls().with(calls);
      });
    } catch {
      // Faults of the server are shown where its entries are.
    }
  }

  /** Entries came. */
  changed(): void {
    this.#later(PAUSE_MS);
  }

  #later(ms: number): void {
    if (this.#closing.aborted) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.load();
    }, ms);
  }
}
