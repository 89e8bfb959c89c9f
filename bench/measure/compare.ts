/**
 * Compare: how fast are several ways to do a thing, as ratios to a reference way?
 *
 * The machine is never idle, and its speed drifts by more than the differences that we measure. So a
 * rate alone says little, and only ratios of ways that ran side by side are judged.
 *
 * C1  A run is made of short slices. All ways take turns, slice by slice, and the order changes from
 *     turn to turn: a disturbance that is longer than a slice affects all equally.
 * C2  Slices last about equally long for every way, so that each sees the same disturbances; the number
 *     of operations per slice is measured while warming up.
 * C3  A run's rate is that of its median slice. A slice in which another process used the processor, or
 *     the disk, is one slow slice, however long. Our own occasional work, such as garbage collection,
 *     is hidden too if it falls in fewer than half of them.
 * C4  Only `run` is timed. Opening and closing are not: a run has its own files.
 */

import { setImmediate as turn } from "node:timers/promises";

export interface Way {
  readonly name: string;
  open(): Promise<Trial> | Trial;
}

/** A way, set up for one run. */
export interface Trial {
  run(operations: number): Promise<void> | void;
  close(): Promise<void> | void;
}

export interface Plan {
  readonly runs: number;
  readonly slicesPerRun: number;
  readonly sliceMs: number;
}

/** The results of one way over all runs: operations per second, and the ratio, run by run. */
export interface Outcome {
  readonly name: string;
  readonly rates: readonly number[];
  /** This way's rate over the reference's in the same run. */
  readonly ratios: readonly number[];
}

export interface Comparison {
  /** In the order given. */
  readonly ways: readonly Outcome[];
  readonly reference: Outcome;
}

/** Measures all ways and the reference side by side. */
export async function compare(
  ways: readonly Way[],
  reference: Way,
  plan: Plan,
): Promise<Comparison> {
  const all = [...ways, reference];
  const counts = await inTrials(all, (trials) => warmUp(trials, plan.sliceMs));
  const runs: number[][] = [];
  for (let run = 0; run < plan.runs; run++) {
    runs.push(await inTrials(all, (trials) => ratesOfRun(trials, counts, plan, run)));
  }
  const outcomes = all.map(({ name }, way) => ({
    name,
    rates: runs.map((rates) => at(rates, way)),
    ratios: runs.map((rates) => at(rates, way) / at(rates, ways.length)),
  }));
  return { ways: outcomes.slice(0, -1), reference: at(outcomes, ways.length) };
}

/**
 * How many operations each way does in about a slice, found by doing more and more (C2). The best
 * rate counts: one disturbed moment here would make every slice too short to be fair.
 */
async function warmUp(trials: readonly Trial[], sliceMs: number): Promise<number[]> {
  const counts: number[] = [];
  for (const trial of trials) {
    let count = 1;
    let perMs = 0;
    for (let spentMs = 0; spentMs < 10 * sliceMs; ) {
      const ms = await timeMs(trial, count);
      spentMs += ms;
      perMs = Math.max(perMs, count / ms);
      count = Math.max(1, Math.min(2 * count, Math.round(perMs * sliceMs)));
    }
    counts.push(Math.max(1, Math.round(perMs * sliceMs)));
  }
  return counts;
}

/** One run: operations per second of each way (C1, C3). */
async function ratesOfRun(
  trials: readonly Trial[],
  counts: readonly number[],
  { slicesPerRun }: Plan,
  run: number,
): Promise<number[]> {
  const slicesMs: number[][] = trials.map(() => []);
  for (let slice = 0; slice < slicesPerRun; slice++) {
    const order = trials.map((_, turn) => (turn + slice + run) % trials.length);
    if ((slice + run) % 2 === 1) order.reverse();
    for (const way of order) {
      at(slicesMs, way).push(await timeMs(at(trials, way), at(counts, way)));
    }
  }
  return slicesMs.map((ms, way) => (1000 * at(counts, way)) / median(ms));
}

async function timeMs(trial: Trial, operations: number): Promise<number> {
  await turn(); // Lets a ctrl-C and pending work of earlier slices through.
  const start = performance.now();
  await trial.run(operations);
  return performance.now() - start;
}

async function inTrials<T>(ways: readonly Way[], use: (trials: Trial[]) => Promise<T>): Promise<T> {
  const trials: Trial[] = [];
  try {
    for (const way of ways) trials.push(await way.open());
    return await use(trials);
  } finally {
    for (const trial of trials) await trial.close();
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? at(sorted, middle)
    : (at(sorted, middle - 1) + at(sorted, middle)) / 2;
}

function at<T>(values: readonly T[], index: number): T {
  return values[index] as T;
}
