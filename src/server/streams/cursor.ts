/**
 * Cursors: numbers that grow with time. They change the URL of waiting requests, so that no cache
 * answers an old "nothing new" for ever. (Protocol, 10.1.) The cursor of an answer is greater than
 * that of its request.
 */

const INTERVAL_MS = 20_000;
/** 2024-10-09T00:00:00Z, the epoch of the protocol. */
const EPOCH_MS = Date.UTC(2024, 9, 9);
const JITTER_SECONDS_MAX = 3600;

/** The interval of `nowMs`. */
export function currentCursor(nowMs: number): number {
  return Math.floor((nowMs - EPOCH_MS) / INTERVAL_MS);
}

/** The cursor to answer with; an invalid `given` counts as none. */
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
