/**
 * `npm run bench -- log`: the speed of the log against the limits of disk and processor.
 *
 * Prints ratios to bare loops that do the same work without any guarantee, and to peers. Exits with 1
 * if a median misses its bound. Floors are for `exclusive`; `shared` takes a lock for every append, and
 * is shown next to it.
 */

import { join } from "node:path";
import { Appending, BATCH_LINES, LINE_BYTES, WAVE_LINES } from "./log/appending.ts";
import * as reading from "./log/reading.ts";
import type { Plan, Way } from "./measure/compare.ts";
import { measure, runBench, say } from "./measure/frame.ts";
import { memory, type Result, slowness } from "./measure/result.ts";

const MB = 1024 * 1024;

interface Effort {
  readonly writing: Plan;
  /** Gigabytes per second: short, so that the kernel does not start writing back. */
  readonly batching: Plan;
  /** A disk's latency varies more than a processor's. */
  readonly syncing: Plan;
  /** A slice is at least one pass over the log. */
  readonly passes: Plan;
  readonly readMb: number;
  readonly largeMb: number;
  readonly memoryRuns: number;
}

const FULL: Effort = {
  writing: { runs: 9, slicesPerRun: 40, sliceMs: 5 },
  batching: { runs: 9, slicesPerRun: 24, sliceMs: 2 },
  syncing: { runs: 9, slicesPerRun: 40, sliceMs: 25 },
  passes: { runs: 9, slicesPerRun: 5, sliceMs: 1 },
  readMb: 64,
  largeMb: 1024,
  memoryRuns: 3,
};

const QUICK: Effort = {
  writing: { runs: 5, slicesPerRun: 20, sliceMs: 5 },
  batching: { runs: 5, slicesPerRun: 12, sliceMs: 2 },
  syncing: { runs: 5, slicesPerRun: 10, sliceMs: 20 },
  passes: { runs: 5, slicesPerRun: 1, sliceMs: 1 },
  readMb: 16,
  largeMb: 256,
  memoryRuns: 1,
};

await runBench("log", async ({ directory, isQuick }) => {
  const effort = isQuick ? QUICK : FULL;
  return [
    ...(await measureAppending(new Appending(directory), effort)),
    ...(await measureReading(directory, effort)),
  ];
});

async function measureAppending(to: Appending, effort: Effort): Promise<Result[]> {
  const { writing, batching, syncing } = effort;
  const small = `${LINE_BYTES}-byte lines`;
  const both = (ours: (mode: "exclusive" | "shared") => Way) => [ours("exclusive"), ours("shared")];
  return [
    ...(await measure(`os, ${small}, against writeSync`, {
      ways: both((mode) => to.ours("os", mode)),
      reference: to.bare(),
      plan: writing,
      bounds: [{ atLeast: 0.6 }, { atLeast: 0.25 }],
    })),
    ...(await measure(`os, batches of ${BATCH_LINES}, against writeSync`, {
      ways: both((mode) => to.oursInBatches("os", mode)),
      reference: to.bareInBatches(),
      plan: batching,
      bounds: [{ atLeast: 0.9 }, null],
    })),
    ...(await measure(`os, ${small}, against sonic-boom`, {
      ways: [to.ours("os", "exclusive")],
      reference: to.sonicBoom("utf8"),
      plan: writing,
      bounds: [{ atLeast: 1 }],
    })),
    ...(await measure(`os, ${small}, against sonic-boom given bytes`, {
      ways: [to.ours("os", "exclusive")],
      reference: to.sonicBoom("buffer"),
      plan: writing,
      bounds: [null],
    })),
    ...(await measure(`os, ${small}, against hypercore`, {
      ways: [to.ours("os", "exclusive")],
      reference: to.hypercore(),
      plan: writing,
      bounds: [null],
    })),
    ...(await measure(`disk, ${small}, against write + fdatasync`, {
      ways: both((mode) => to.ours("disk", mode)),
      reference: to.bareDurable(),
      plan: syncing,
      bounds: [{ atLeast: 0.9 }, null],
    })),
    ...(await measure(`disk, ${small}, against SQLite, synchronous=FULL`, {
      ways: [to.ours("disk", "exclusive")],
      reference: to.sqlite("FULL"),
      plan: syncing,
      bounds: [null],
    })),
    ...(await measure(`os, ${small}, against SQLite, synchronous=OFF`, {
      ways: [to.ours("os", "exclusive")],
      reference: to.sqlite("OFF"),
      plan: writing,
      bounds: [null],
    })),
    ...(await measure(`disk, ${WAVE_LINES} at once, against group commit`, {
      ways: both((mode) => to.oursInWaves("disk", mode)),
      reference: to.bareInWaves(),
      plan: syncing,
      bounds: [{ atLeast: 0.8 }, null],
    })),
  ];
}

async function measureReading(directory: string, effort: Effort): Promise<Result[]> {
  const { readMb, largeMb, passes, writing, memoryRuns } = effort;
  const middle = reading.makeLog(join(directory, "middle"), readMb * MB);
  const whole = await measure(`read and parse ${reading.LINE_BYTES}-byte lines`, {
    ways: [reading.oursWhole(middle)],
    reference: reading.bareWhole(middle),
    plan: passes,
    bounds: [{ atLeast: 0.8 }],
  });

  const large = reading.makeLog(join(directory, "large"), largeMb * MB);
  const small = reading.makeLog(join(directory, "small"), 1 * MB);
  const last = await measure(`last(${reading.LAST_LINES}) of ${largeMb} MB, time against 1 MB`, {
    ways: [reading.last(large)],
    reference: reading.last(small),
    plan: writing,
    bounds: [{ atMost: 2 }],
    show: slowness,
  });

  const name = `peak memory reading ${largeMb} MB, in MB`;
  say(name);
  const megabytes: number[] = [];
  for (let run = 0; run < memoryRuns; run++) megabytes.push(await reading.peakMegabytes(large));
  return [...whole, ...last, memory(name, megabytes, { atMost: 120 })];
}
