/**
 * Log torture: writers, readers and a follower on a machine whose disk lies as much as disks
 * do; kills, power cuts, full disks and failing calls in between; and after each of them the
 * ledger is asked whether every promise was kept.
 *
 * A run is made of episodes, each on a machine of its own with a seed of its own, so that
 * whatever is found is had again in a moment.
 */

import { Episode } from "./episode.ts";
import { NO_COUNTS, type TortureReport, type Violation } from "./report.ts";

/** Long enough for a log to be reopened many times, short enough to replay at once. */
export const EPISODE_STEPS = 250;

export interface TortureOptions {
  readonly seed: number;
  readonly steps: number;
  /** Told after each episode. */
  readonly onProgress?: (stepsDone: number) => void;
  /** Stops after the first violation. Default: goes on. */
  readonly stopAtFirst?: boolean;
}

export async function tortureLog(options: TortureOptions): Promise<TortureReport> {
  const { seed, steps, onProgress, stopAtFirst = false } = options;
  const counts = { ...NO_COUNTS };
  const violations: Violation[] = [];
  let episodes = 0;
  for (let done = 0; done < steps; done += EPISODE_STEPS) {
    const episode = new Episode(episodeSeed(seed, episodes), counts);
    violations.push(...(await episode.run(Math.min(EPISODE_STEPS, steps - done))));
    episodes++;
    onProgress?.(Math.min(done + EPISODE_STEPS, steps));
    if (stopAtFirst && violations.length > 0) break;
  }
  return { seed, steps, episodes, violations, counts };
}

/** The first episode has the run's own seed, so a violation's seed alone replays it. */
export function episodeSeed(seed: number, episode: number): number {
  return (seed + Math.imul(episode, 0x9e3779b1)) >>> 0;
}
