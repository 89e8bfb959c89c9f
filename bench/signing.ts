/**
 * `npm run bench -- signing`: the cost of verifying and signing, against hashing alone, against not
 * signing, and against the seed's own algorithm, which hashes everything again at each checkpoint.
 */

import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./measure/compare.ts";
import { runBench, say } from "./measure/frame.ts";
import { type Bound, memory, type Result } from "./measure/result.ts";
import { type Slowness, slownessOfSigning } from "./signing/recording.ts";
import {
  ID,
  newLogSigner,
  signer,
  signTurn,
  turnLines,
  verifyOurs,
  verifySeeds,
  writeOurs,
  writeSeeds,
} from "./signing/thread.ts";
import { signedTranscript } from "./signing/transcript.ts";

const ONCE = fileURLToPath(new URL("./signing/once.mjs", import.meta.url));
/** `warmThreads`: until the JIT compiler has finished, which is not measured. */
const FULL = {
  runs: 5,
  checkpoints: 10_000,
  turns: 10_000,
  threads: 10,
  warmThreads: 60,
  longTurns: 1000,
  longRuns: 3,
};
const QUICK = {
  runs: 3,
  checkpoints: 2000,
  turns: 2000,
  threads: 4,
  warmThreads: 20,
  longTurns: 300,
  longRuns: 1,
};

await runBench("signing", async ({ directory, isQuick }) => {
  const plan = isQuick ? QUICK : FULL;
  // Its own key and pins, not the user's.
  for (const name of ["CONFIG", "STATE", "CACHE"]) {
    process.env[`XDG_${name}_HOME`] = join(directory, name.toLowerCase());
  }
  return [
    ...(await largeTranscript(directory, plan)),
    await checkpointCost(plan),
    ...(await signingOverhead(directory, plan)),
    ...(await againstPython(directory, plan.runs, 20)),
    ...(await againstPython(directory, plan.runs, 200)),
    ...(await againstSeed(directory, plan.runs, 20, 2500, 1)),
    ...(await againstSeed(directory, plan.longRuns, plan.longTurns, 50_000, isQuick ? 5 : 20)),
  ];
});

async function largeTranscript(directory: string, plan: typeof FULL): Promise<Result[]> {
  const { checkpoints, runs } = plan;
  const path = join(directory, "large.jsonl");
  say(`making a transcript of ${checkpoints} checkpoints`);
  const lines = turnLines(100_000, 2000);
  const log = newLogSigner();
  const file = openSync(path, "w");
  for (let turn = 1; turn <= checkpoints; turn++) {
    const { checkpoint } = await signTurn(log, lines, turn);
    writeSync(file, lines);
    writeSync(file, checkpoint);
  }
  closeSync(file);
  const size = `${Math.round((checkpoints * lines.length) / 1e6)} MB`;
  say(`verifying ${size}`);
  once("hash", path); // Reads it into the page cache, if it fits.
  const [plain, deep, megabytes]: [number[], number[], number[]] = [[], [], []];
  for (let run = 0; run < runs; run++) {
    const reference = once("hash", path);
    const verified = once("verify", path);
    plain.push(reference.ms / verified.ms);
    megabytes.push(verified.mb);
    if (run > 0) continue;
    deep.push(reference.ms / once("deep", path).ms);
  }
  return [
    ratio(`verify ${size}, rate against hashing it once`, plain, { atLeast: 0.5 }),
    ratio(`verify --deep ${size}, rate against hashing it once`, deep, { atLeast: 0.05 }),
    memory(`verify ${size}, resident memory`, megabytes, { atMost: 120 }),
  ];
}

function once(way: "hash" | "verify" | "deep", path: string): { ms: number; mb: number } {
  const { publicKey, kid, fp } = signer;
  const key = Buffer.from(publicKey).toString("hex");
  const args = [ONCE, way, path, ID, key, kid, fp];
  const child = spawnSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.status !== 0) throw new Error(`${way} exited with ${child.status}`);
  return JSON.parse(child.stdout) as { ms: number; mb: number };
}

/** Each run's early and late checkpoints, in one process that keeps the session open. */
async function checkpointCost({ turns, runs }: typeof FULL): Promise<Result> {
  const name = `checkpoint at turn ${turns}, time against one at turn 10 (50 KB turns)`;
  say(name);
  const lines = turnLines(50_000, 2500);
  const values: number[] = [];
  const warm = newLogSigner();
  for (let turn = 1; turn <= 300; turn++) await signTurn(warm, lines, turn);
  const late = newLogSigner();
  for (let turn = 1; turn < turns; turn++) await signTurn(late, lines, turn);
  for (let run = 0; run < runs; run++) {
    const [early, atEnd]: [number[], number[]] = [[], []];
    // Alternately, so that a disturbance of the machine affects both.
    for (let n = 0; n < 20; n++) {
      const young = newLogSigner();
      for (let turn = 1; turn < 10; turn++) await signTurn(young, lines, turn);
      early.push((await signTurn(young, lines, 10)).ms);
      atEnd.push((await signTurn(late, lines, turns + run * 20 + n)).ms);
    }
    values.push(median(atEnd) / median(early));
  }
  return ratio(name, values, { atMost: 1.2 });
}

async function signingOverhead(directory: string, plan: typeof FULL): Promise<Result[]> {
  const { runs, threads, warmThreads } = plan;
  const what = "a 20-turn, 50 KB thread";
  const name = `record ${what} signed, disk, time against unsigned`;
  say(name);
  await slownessOfSigning(join(directory, "warm"), warmThreads);
  const slowness: Slowness[] = [];
  for (let run = 0; run < runs; run++) {
    slowness.push(await slownessOfSigning(join(directory, `recording-${run}`), threads));
  }
  const values = (way: keyof Slowness) => slowness.map((each) => each[way]);
  return [
    ratio(name, values("signed"), { atMost: 1.3 }),
    ratio(`${what} unsigned, with its signatures and one more sync`, values("signatures"), null),
    ratio(`${what} unsigned, with a signer whose checkpoints go nowhere`, values("signer"), null),
  ];
}

async function againstSeed(
  directory: string,
  runs: number,
  turns: number,
  bytes: number,
  atLeast: number,
): Promise<Result[]> {
  const what = `${turns} turns of ${bytes / 1000} KB, speed against the seed's algorithm`;
  say(what);
  const lines = turnLines(bytes, Math.min(bytes, 2500));
  const at = join(directory, `seed-${turns}`);
  mkdirSync(at, { recursive: true });
  const [ours, seeds] = [join(at, "ours.jsonl"), join(at, "seeds.jsonl")];
  const [signing, verifying]: [number[], number[]] = [[], []];
  const isLong = turns > 100;
  for (let run = isLong ? 0 : -20; run < runs * (isLong ? 1 : 10); run++) {
    const oursMs = await timeMs(() => writeOurs(ours, turns, lines));
    const seedsMs = await timeMs(() => writeSeeds(seeds, turns, lines));
    const oursVerifyMs = await timeMs(() => verifyOurs(ours));
    const seedsVerifyMs = await timeMs(() => verifySeeds(seeds));
    if (run < 0) continue; // Warms up.
    signing.push(seedsMs / oursMs);
    verifying.push(seedsVerifyMs / oursVerifyMs);
  }
  return [
    ratio(`sign ${what}`, signing, { atLeast }),
    ratio(`verify ${what}`, verifying, { atLeast }),
  ];
}

/** No bound: the Python neither locks nor syncs nor checks anything; two syncs alone take longer. */
async function againstPython(directory: string, runs: number, turns: number): Promise<Result[]> {
  const name = `TranscriptSigner, ${turns} turns`;
  say(name);
  const ours: number[] = [];
  const toPython: number[] = [];
  const toBare: number[] = [];
  const verifying: number[] = [];
  for (let run = -1; run < runs; run++) {
    const at = join(directory, `transcript-${turns}-${run}`);
    const { oursMs, pythonMs, bareMs, verifyMs } = await signedTranscript(at, turns);
    if (run < 0) continue; // Warms up.
    ours.push(oursMs);
    verifying.push(verifyMs);
    toBare.push(oursMs / bareMs);
    if (pythonMs !== null) toPython.push(oursMs / pythonMs);
  }
  const python = "processor time against the document's Python";
  return [
    { ...ratio(`${name}, processor time`, ours, null), unit: "ms" },
    ...(toPython.length > 0 ? [ratio(`${name}, ${python}`, toPython, null)] : []),
    ratio(`${name}, processor time against a bare loop that syncs`, toBare, null),
    { ...ratio(`${name}, verify again, processor time`, verifying, null), unit: "ms" },
  ];
}

async function timeMs(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function ratio(measure: string, values: readonly number[], bound: Bound): Result {
  return { measure, ours: null, reference: null, values, unit: "x", bound };
}
