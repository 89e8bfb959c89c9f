/**
 * `npm run bench -- sessions`: what a store costs beyond its logs, and how listing ten thousand
 * sessions compares with doing nothing and with bare loops.
 */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Way } from "./measure/compare.ts";
import { measure, runBench, say } from "./measure/frame.ts";
import type { Result } from "./measure/result.ts";
import { CLI, ThreadTelemetry } from "./sessions/built.ts";
import { makeThreads } from "./sessions/many-threads.ts";
import { Recording } from "./sessions/recording.ts";

const THREADS = 10_000;
const LOOK = fileURLToPath(new URL("./sessions/look.mjs", import.meta.url));
const CPU = fileURLToPath(new URL("./sessions/cpu.mjs", import.meta.url));

const FULL = { runs: 7, cpuRuns: 9, threads: { os: 100, disk: 10 } };
const QUICK = { runs: 5, cpuRuns: 5, threads: { os: 50, disk: 5 } };

await runBench("sessions", async ({ directory, isQuick }) => {
  const { runs, cpuRuns, threads } = isQuick ? QUICK : FULL;
  return [
    await recording(directory, "os", runs, threads.os, 3),
    await leastRecording(directory, runs, threads.os),
    await recording(directory, "disk", runs, threads.disk, 1.3),
    ...(await manyThreads(join(directory, "many"), runs, cpuRuns)),
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

/** What no program can do without, to hold the figure before it against. */
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
  const stats = await measure(`stats of ${THREADS} threads, against readFile + JSON.parse`, {
    ways: [aggregating(root)],
    reference: bareReading(metas),
    plan: { runs, slicesPerRun: 2, sliceMs: 1 },
    bounds: [{ atLeast: 0.5 }],
  });
  return [...stats, listing(root, cpuRuns), looking(root, cpuRuns)];
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

/** Processor time of `verbatim ls` beyond that of an empty program, after a first listing. */
function listing(root: string, runs: number): Result {
  const name = `ls of ${THREADS} sessions, own processor ms beyond an empty program`;
  say(name);
  const list = [fileURLToPath(CLI), "ls", "--root", root, "--json"];
  cpuMs(root, list);
  const values = Array.from({ length: runs }, () => cpuMs(root, list) - cpuMs(root, []));
  return { measure: name, ours: null, reference: null, values, unit: "ms", bound: { atMost: 150 } };
}

/** The same of a program that only asks for the sizes of the logs, and prints nothing. */
function looking(root: string, runs: number): Result {
  const name = `a bare loop of readdir and lstat over ${THREADS} logs, the same way`;
  say(name);
  const look = [LOOK, join(root, ".ai", "threads")];
  const values = Array.from({ length: runs }, () => cpuMs(root, look) - cpuMs(root, []));
  return { measure: name, ours: null, reference: null, values, unit: "ms", bound: null };
}

function cpuMs(root: string, args: readonly string[]): number {
  const env = { ...process.env, XDG_CACHE_HOME: join(root, "cache") };
  const child = spawnSync(process.execPath, [CPU, ...args], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  if (child.status !== 0) throw new Error(`${args.join(" ")} exited with ${child.status}`);
  return Number(child.output[3]);
}
