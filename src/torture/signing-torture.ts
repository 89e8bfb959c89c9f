/**
 * Signing torture: signed sessions of every dialect on a machine whose disk lies, killed and cut
 * off from power; nobody tampers, and so no verdict may ever say so. As log-torture.ts otherwise.
 */

import { EPISODE_STEPS, episodeSeed, type TortureOptions } from "./log-torture.ts";
import type { Violation } from "./report.ts";
import { SigningEpisode } from "./signing-episode.ts";
import { NO_SIGNING_COUNTS, type SigningTortureReport } from "./signing-report.ts";

export async function tortureSigning(options: TortureOptions): Promise<SigningTortureReport> {
  const { seed, steps, onProgress, stopAtFirst = false } = options;
  const counts = { ...NO_SIGNING_COUNTS };
  const violations: Violation[] = [];
  let episodes = 0;
  for (let done = 0; done < steps; done += EPISODE_STEPS) {
    const episode = new SigningEpisode(episodeSeed(seed, episodes), counts);
    violations.push(...(await episode.run(Math.min(EPISODE_STEPS, steps - done))));
    episodes++;
    onProgress?.(Math.min(done + EPISODE_STEPS, steps));
    if (stopAtFirst && violations.length > 0) break;
  }
  return { seed, steps, episodes, violations, counts };
}
