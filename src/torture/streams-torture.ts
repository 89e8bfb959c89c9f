/**
 * Streams torture: a store of streams on a machine whose disk lies, killed and cut off from power,
 * its index lost or put back from before. As log-torture.ts otherwise.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StreamIndex } from "../streams/lookup/stream-index.ts";
import { EPISODE_STEPS, episodeSeed, type TortureOptions } from "./log-torture.ts";
import type { Violation } from "./report.ts";
import { StreamsEpisode } from "./streams-episode.ts";
import { NO_STREAMS_COUNTS, type StreamsTortureReport } from "./streams-report.ts";

export async function tortureStreams(options: TortureOptions): Promise<StreamsTortureReport> {
  const { seed, steps, onProgress, stopAtFirst = false } = options;
  const counts = { ...NO_STREAMS_COUNTS };
  const violations: Violation[] = [];
  await loadDatabase();
  let episodes = 0;
  for (let done = 0; done < steps; done += EPISODE_STEPS) {
    await inDirectory(async (directory) => {
      const episode = new StreamsEpisode(episodeSeed(seed, episodes), counts, directory);
      violations.push(...(await episode.run(Math.min(EPISODE_STEPS, steps - done))));
    });
    episodes++;
    onProgress?.(Math.min(done + EPISODE_STEPS, steps));
    if (stopAtFirst && violations.length > 0) break;
  }
  return { seed, steps, episodes, violations, counts };
}

/** It takes as long as it takes, the first time; in an episode that would be a difference. */
async function loadDatabase(): Promise<void> {
  await inDirectory(async (directory) => {
    const index = await StreamIndex.open(join(directory, "streams.db"));
    index.close();
  });
}

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "verbatim-torture-"));
  try {
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
