/**
 * Threads: the subagents that the calls of a session started, as the server knows them, and the
 * call that started the session.
 */

import { signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SessionThread, ThreadParent } from "../../../src/client/outline-shapes.ts";
import type { EntryItem } from "../../../src/client/session-shapes.ts";

/** While the server still reads the log. */
const AGAIN_MS = 500;

export class ThreadStore {
  readonly id: string;
  readonly client: VerbatimClient;
  readonly parent = signal<ThreadParent | null>(null);
  /** By the offset of the call's line and its id. */
  readonly #started = signal<ReadonlyMap<string, SessionThread>>(new Map());
  /** Those whose rows are in this session's own log. */
  readonly #own = signal<readonly SessionThread[]>([]);
  readonly #signal: AbortSignal;
  #isLoading = false;

  constructor(client: VerbatimClient, id: string, signal: AbortSignal) {
    this.client = client;
    this.id = id;
    this.#signal = signal;
  }

  of(start: number, callId: string): SessionThread | null {
    return this.#started.value.get(`${start} ${callId}`) ?? null;
  }

  /** Whether an entry is shown below the call whose subagent wrote it. */
  has({ aside, start }: EntryItem): boolean {
    if (aside !== "other_agent") return false;
    return this.#own.value.some(({ from, to }) => {
      return from !== null && to !== null && start >= from && start <= to;
    });
  }

  /** The session was opened, or has changed. */
  async refresh(): Promise<void> {
    if (this.#isLoading || this.#signal.aborted) return;
    this.#isLoading = true;
    try {
      const { started, parent, isComplete } = await this.client.sessions.threads(this.id);
      if (this.#signal.aborted) return;
      this.#started.value = new Map(started.map((each) => [`${each.start} ${each.callId}`, each]));
      this.#own.value = started.filter(({ rows }) => rows > 0);
      this.parent.value = parent;
      const isKnown = parent === null || parent.start !== null;
      if (!isComplete || !isKnown) setTimeout(() => void this.refresh(), AGAIN_MS);
    } catch {
      // The page shows faults of the server elsewhere.
    } finally {
      this.#isLoading = false;
    }
  }
}
