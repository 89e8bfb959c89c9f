/**
 * `npm run bench -- sessions`: what a store costs in addition to its logs, and how listing ten thousand
 * sessions compares with doing nothing and with bare loops.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Way } from "./measure/compare.ts";
import { measure, runBench, say } from "./measure/frame.ts";
import type { Result } from "./measure/result.ts";
import { ThreadTelemetry } from "./sessions/built.ts";
import { measureListing } from "./sessions/listing.ts";
import { makeThreads } from "./sessions/many-threads.ts";
import { Recording } from "./sessions/recording.ts";
import { measureResumable } from "./sessions/resumable.ts";

const THREADS = 10_000;

const FULL = { runs: 7, cpuRuns: 15, threads: { os: 100, disk: 10 } };
const QUICK = { runs: 5, cpuRuns: 5, threads: { os: 50, disk: 5 } };

await runBench("sessions", async ({ directory, isQuick }) => {
  const { runs, cpuRuns, threads } = isQuick ? QUICK : FULL;
  return [
    await recording(directory, "os", runs, threads.os, 3),
    await leastRecording(directory, runs, threads.os),
    await recording(directory, "disk", runs, threads.disk, 1.3),
    ...(await manyThreads(join(directory, "many"), runs, cpuRuns)),
    ...(await measureResumable(join(directory, "resumable"), runs)),
  ];
});

async function recording(
  directory: string,
  durability: "os" | "disk",
  runs: number,
  threads: number,
  atMost: number,
): Promise<Result> {
  const name = `record a 20-turn thread, ${durability}, time against bare appends`;
  say(name);
  const to = new Recording(directory, durability);
  await to.slowness(threads); // Warms up.
  const values: number[] = [];
  for (let run = 0; run < runs; run++) values.push(await to.slowness(threads));
  return { measure: name, ours: null, reference: null, values, unit: "x", bound: { atMost } };
}

/** The minimum for any program, to compare the figure above with. */
async function leastRecording(directory: string, runs: number, threads: number): Promise<Result> {
  const name = "the least that such a recording takes, os, against bare appends";
  say(name);
  const to = new Recording(join(directory, "least"), "os");
  await to.leastSlowness(threads); // Warms up.
  const values: number[] = [];
  for (let run = 0; run < runs; run++) values.push(await to.leastSlowness(threads));
  return { measure: name, ours: null, reference: null, values, unit: "x", bound: null };
}

async function manyThreads(root: string, runs: number, cpuRuns: number): Promise<Result[]> {
  say(`making ${THREADS} threads`);
  const metas = makeThreads(root, THREADS);
  const stats = await measure(
    `ThreadTelemetry over ${THREADS} threads, against readFile + JSON.parse`,
    {
      ways: [aggregating(root)],
      reference: bareReading(metas),
      plan: { runs, slicesPerRun: 2, sliceMs: 1 },
      bounds: [{ atLeast: 0.5 }],
    },
  );
  say(`ls of ${THREADS} sessions`);
  return [...stats, ...measureListing(root, THREADS, cpuRuns)];
}

function aggregating(root: string): Way {
  const run = async (operations: number) => {
    for (let n = 0; n < operations; n++) {
      const { total } = await new ThreadTelemetry().aggregate(root);
      if (total !== THREADS) throw new Error(`${total} threads were added up`);
    }
  };
  return { name: "ours", open: () => ({ run, close: () => {} }) };
}

function bareReading(metas: readonly string[]): Way {
  const run = (operations: number) => {
    let spend = 0;
    for (let n = 0; n < operations; n++) {
      for (const path of metas) {
        const meta = JSON.parse(readFileSync(path, "utf8")) as { cost: { spend: number } };
        spend += meta.cost.spend;
      }
    }
    if (spend === 0) throw new Error("nothing was read");
  };
  return { name: "bare", open: () => ({ run, close: () => {} }) };
}
