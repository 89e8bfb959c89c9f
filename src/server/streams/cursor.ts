/**
 * Cursors: numbers that grow with time, and so make the URLs of waiting requests change, lest a
 * cache answer the same nothing for ever. (Protocol, 10.1.)
 *
 * CU1  A cursor that is answered is greater than the one that came with the request.
 */

const INTERVAL_MS = 20_000;
/** 2024-10-09T00:00:00Z, from which the protocol counts. */
const EPOCH_MS = Date.UTC(2024, 9, 9);
const JITTER_SECONDS_MAX = 3600;

/** The interval that `nowMs` falls into. */
export function currentCursor(nowMs: number): number {
  return Math.floor((nowMs - EPOCH_MS) / INTERVAL_MS);
}

/** What to answer to a request that came with `given`, as it came; not understood, it is none. */
export function cursorAfter(
  given: string | undefined,
  nowMs: number,
  random: () => number,
): number {
  const current = currentCursor(nowMs);
  if (given === undefined || !/^\d{1,15}$/.test(given)) return current;
  const before = Number(given);
  if (before < current) return current;
  const seconds = 1 + Math.floor(random() * JITTER_SECONDS_MAX);
  return before + Math.max(1, Math.floor((seconds * 1000) / INTERVAL_MS));
}
