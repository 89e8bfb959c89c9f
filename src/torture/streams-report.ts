/** Streams report: what a torture run on streams did, reached and found. Its JSON is stable. */

import type { Violation } from "./report.ts";

export const NO_STREAMS_COUNTS = {
  asked: 0,
  answered: 0,
  refused: 0,
  /** Asked, never answered, and found done after a crash; or not done. */
  foundDone: 0,
  foundUndone: 0,
  appended: 0,
  duplicates: 0,
  forks: 0,
  recreations: 0,
  closures: 0,
  readings: 0,
  sweeps: 0,
  bitsFlipped: 0,
  openings: 0,
  openingsRefused: 0,
  closings: 0,
  kills: 0,
  powerCuts: 0,
  faults: 0,
  failedStores: 0,
  indexesKept: 0,
  indexesDeleted: 0,
  indexesOlder: 0,
};

export type StreamsCounts = typeof NO_STREAMS_COUNTS;

export interface StreamsTortureReport {
  readonly seed: number;
  readonly steps: number;
  readonly episodes: number;
  readonly violations: readonly Violation[];
  readonly counts: StreamsCounts;
}
