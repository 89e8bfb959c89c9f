/**
 * Outline: the known turns of a session.
 *
 * - A session up to SCANNED_BYTES_MAX is read once, separately from what is shown. Of a longer one
 *   only loaded turns are known, and the panel says so.
 */

import { signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { factOf, type Turn, type TurnFact, turnsOf } from "./turns.ts";

export const SCANNED_BYTES_MAX = 8 * 1024 * 1024;
const SCAN_ENTRIES = 500;
const SHOW_MS = 100;

export class Outline {
  readonly turns = signal<readonly Turn[]>([]);
  /** Whether all turns are known. */
  readonly isWhole = signal(false);
  readonly #client: VerbatimClient;
  readonly #id: string;
  readonly #signal: AbortSignal;
  readonly #facts = new Map<number, TurnFact>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: VerbatimClient, id: string, signal: AbortSignal) {
    this.#client = client;
    this.#id = id;
    this.#signal = signal;
  }

  take(items: readonly EntryItem[]): void {
    for (const item of items) {
      const fact = factOf(item);
      if (fact !== null) this.#facts.set(item.start, fact);
    }
    this.#changed();
  }

  rewound(to: number): void {
    for (const [start, { end }] of this.#facts) if (end > to) this.#facts.delete(start);
    this.#changed();
  }

  async scan(end: number): Promise<void> {
    if (end > SCANNED_BYTES_MAX) return;
    try {
      for (let from = 0; from < end && !this.#signal.aborted; ) {
        const range = { from, limit: SCAN_ENTRIES, native: false };
        const page = await this.#client.sessions.entries(this.#id, range);
        this.take(page.entries);
        if (page.entries.length === 0) break;
        from = page.next;
      }
      this.isWhole.value = true;
    } catch {
      // Loaded turns remain; the page itself shows when the server is gone.
    }
  }

  /** Batched, not for each entry: a scan or a burst brings many. */
  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#signal.aborted) return;
      const facts = [...this.#facts.values()].sort((one, other) => one.start - other.start);
      this.turns.value = turnsOf(facts);
    }, SHOW_MS);
  }
}
