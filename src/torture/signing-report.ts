/** Signing report: what a torture run on signed sessions did, reached and found. Stable JSON. */

import type { Violation } from "./report.ts";

export const NO_SIGNING_COUNTS = {
  appends: 0,
  acknowledged: 0,
  refused: 0,
  openings: 0,
  kills: 0,
  powerCuts: 0,
  faults: 0,
  /** Verdicts in which a checkpoint held that stood before lines that were acknowledged. */
  signedFound: 0,
  verified: 0,
  incomplete: 0,
  unsigned: 0,
  unpinned: 0,
  untrusted: 0,
  rollback: 0,
  unreadable: 0,
  tampered: 0,
  warnings: 0,
};

export type SigningCounts = typeof NO_SIGNING_COUNTS;

export interface SigningTortureReport {
  readonly seed: number;
  readonly steps: number;
  readonly episodes: number;
  readonly violations: readonly Violation[];
  readonly counts: SigningCounts;
}
