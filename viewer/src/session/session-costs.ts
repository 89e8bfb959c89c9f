/**
 * Session costs: what the session, its prompts and its tool calls cost, as the server counts it.
 * Loaded after the entries, and again when more come; without it the page shows no cost.
 */

import { computed, signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SessionCosts as Counted } from "../../../src/client/usage-shapes.ts";

/** Reload intervals: while the server counts, and while entries come. */
const AGAIN_MS = 1_000;
const PAUSE_MS = 5_000;

type Prompt = Counted["prompts"][number];
type Call = Counted["calls"][number];

export class SessionCosts {
  readonly counted = signal<Counted | null>(null);
  readonly prompts = computed(() => byStart<Prompt>(this.counted.value?.prompts ?? []));
  readonly calls = computed(() => byStart<Call>(this.counted.value?.calls ?? []));
  readonly #client: VerbatimClient;
  readonly #id: string;
  readonly #closing: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: VerbatimClient, id: string, closing: AbortSignal) {
    this.#client = client;
    this.#id = id;
    this.#closing = closing;
    closing.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** What comes before the first prompt has no place of its own. */
  ofPrompt({ start, text }: { readonly start: number; readonly text: string | null }) {
    return this.prompts.value.get(text === null ? null : start) ?? null;
  }

  async load(): Promise<void> {
    try {
      const counted = await this.#client.sessions.costs(this.#id);
      if (this.#closing.aborted) return;
      if (counted.counting === null) this.counted.value = counted;
      else this.#later(AGAIN_MS);
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

function byStart<T extends { readonly start: number | null }>(
  items: readonly T[],
): ReadonlyMap<number | null, T> {
  return new Map(items.map((item) => [item.start, item]));
}
