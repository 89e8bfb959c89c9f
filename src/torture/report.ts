/** Report: what a torture run did, reached and found. Its JSON is stable. */

export const NO_COUNTS = {
  appends: 0,
  acknowledged: 0,
  refused: 0,
  flushes: 0,
  openings: 0,
  openingsRefused: 0,
  kills: 0,
  powerCuts: 0,
  faults: 0,
  failedSyncs: 0,
  powerCutsAfterFailedSync: 0,
  tornTailsCut: 0,
  linesCompleted: 0,
  holes: 0,
  rollBacks: 0,
  followersRewound: 0,
  readings: 0,
};

export type Counts = typeof NO_COUNTS;

export interface Violation {
  /** This seed, and one episode's steps, show it again. */
  readonly seed: number;
  readonly step: number;
  readonly what: string;
}

export interface TortureReport {
  readonly seed: number;
  readonly steps: number;
  readonly episodes: number;
  readonly violations: readonly Violation[];
  readonly counts: Counts;
}
