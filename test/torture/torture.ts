/**
 * Torture: runs episodes of one kind and reports what they did and found.
 *
 * Each episode has its own machine and its own seed, so a violation is repeated by running that
 * one episode. The report's JSON is stable: fields are added, never renamed.
 */

import { loadDialects } from "../../src/dialects/all.ts";
import { type CommonCounts, Episode, type Kind, type Violation, type Writer } from "./episode.ts";

/** Long enough to open a subject many times, short enough to repeat in a moment. */
const EPISODE_STEPS = 250;

export type TortureKind = "log" | "signed" | "streams";

export interface TortureOptions {
  readonly seed: number;
  readonly steps: number;
  /** Called after each episode. */
  readonly onProgress?: (stepsDone: number) => void;
  /** Stop after the first episode with a violation. Default: run them all. */
  readonly stopAtFirst?: boolean;
}

export interface TortureReport {
  readonly seed: number;
  readonly steps: number;
  readonly episodes: number;
  readonly violations: readonly Violation[];
  readonly counts: Readonly<Record<string, number>>;
}

export async function torture(kind: TortureKind, options: TortureOptions): Promise<TortureReport> {
  await loadDialects();
  if (kind === "log") return run((await import("./log-subject.ts")).log, options);
  if (kind === "signed") return run((await import("./signed-subject.ts")).signed, options);
  return run((await import("./streams-subject.ts")).streams, options);
}

async function run<W extends Writer, C extends CommonCounts & Record<string, number>>(
  kind: Kind<W, C>,
  { seed, steps, onProgress, stopAtFirst = false }: TortureOptions,
): Promise<TortureReport> {
  const counts = { ...kind.noCounts };
  const violations: Violation[] = [];
  let episodes = 0;
  await kind.prepare?.();
  for (let done = 0; done < steps; done += EPISODE_STEPS) {
    const episode = new Episode(kind, episodeSeed(seed, episodes), counts);
    violations.push(...(await episode.run(Math.min(EPISODE_STEPS, steps - done))));
    episodes++;
    onProgress?.(Math.min(done + EPISODE_STEPS, steps));
    if (stopAtFirst && violations.length > 0) break;
  }
  return { seed, steps, episodes, violations, counts };
}

/** The first episode has the seed of the run, so the seed of a violation repeats its episode. */
function episodeSeed(seed: number, episode: number): number {
  return (seed + Math.imul(episode, 0x9e3779b1)) >>> 0;
}
