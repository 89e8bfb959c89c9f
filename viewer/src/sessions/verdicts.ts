/**
 * Verdicts: the server's verdicts for sessions on the screen, a few at a time.
 *
 * - At most ASKED_MAX requests at once: judging a session reads all of it. A row that is scrolled
 *   away before its turn is not requested.
 * - A verdict belongs to a session as it was listed: one whose log has changed since is judged
 *   again, and so is every one after KEPT_MS: pins and files next to the log change without it.
 * - A session over JUDGED_BYTES_MAX is judged when it is opened, not because it was listed.
 */

import { type Signal, signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SessionItem } from "../../../src/client/session-shapes.ts";

const ASKED_MAX = 2;
export const JUDGED_BYTES_MAX = 16 * 1024 * 1024;
const KEPT_MAX = 2000;
const KEPT_MS = 60_000;

interface Asked {
  readonly client: VerbatimClient;
  readonly id: string;
  readonly verdict: Signal<string | null>;
  readonly untilMs: number;
  wanted: number;
}

const kept = new Map<string, Asked>();
const queue: Asked[] = [];
let asking = 0;

/** The verdict, null until it is known. Call `release` when the row is gone. */
export function verdictFor(client: VerbatimClient, { id, bytes, modifiedAt }: SessionItem) {
  const key = `${id} ${bytes} ${modifiedAt}`;
  let asked = kept.get(key);
  if (asked === undefined || asked.untilMs < Date.now()) {
    asked = { client, id, verdict: signal(null), untilMs: Date.now() + KEPT_MS, wanted: 0 };
    kept.delete(key);
    kept.set(key, asked);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
  }
  const row = asked;
  row.wanted++;
  if (row.verdict.peek() === null && !queue.includes(row)) queue.push(row);
  void askNext();
  return {
    verdict: row.verdict,
    release: () => {
      row.wanted--;
    },
  };
}

async function askNext(): Promise<void> {
  if (asking >= ASKED_MAX) return;
  const next = queue.shift();
  if (next === undefined) return;
  if (next.wanted > 0 && next.verdict.peek() === null) {
    asking++;
    try {
      next.verdict.value = (await next.client.sessions.verify(next.id)).verdict;
    } catch {
      // A row without a badge; opening the session shows why.
    } finally {
      asking--;
    }
  }
  void askNext();
}
