/**
 * `npm run bench -- usage`: counting what agents used, against ccusage, which is native code. About
 * 1 GB of Claude Code and Codex in 5,750 files, on which all totals are known by construction.
 */

import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./measure/compare.ts";
import { runBench, say } from "./measure/frame.ts";
import { compared, memory, type Result } from "./measure/result.ts";
import { type Corpus, FULL, makeCorpus, moreRows, QUICK, type Tokens } from "./usage/corpus.ts";

const [RUNS, LOOKS] = [5, 9];
const GROWN_BYTES = 1_000_000;

const CLI = pathOf("../dist/cli/main.js");
const MEASURED = pathOf("./usage/measured.mjs");
const OURS = [process.execPath, CLI, "usage", "daily", "--json", "--tz", "UTC"];
const THEIRS = [ccusage(), "daily", "--json", "--offline", "--timezone", "UTC"];

interface Took {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly mb: number;
  readonly output: string;
}

await runBench("usage", async ({ directory, isQuick }) => {
  const home = join(directory, "home");
  say("making the corpus");
  const corpus = makeCorpus(home, isQuick ? QUICK : FULL);
  const size = `${Math.round(corpus.bytes / 1e6)} MB in ${corpus.files.length} files`;
  say(`${size}, ${corpus.usageRows} rows with a usage`);
  checkTotals(corpus, run(home, OURS).output, run(home, THEIRS).output);
  return [...cold(size, home), ...warm(home, corpus)];
});

function cold(size: string, home: string): Result[] {
  say(`counting ${size} without a ledger`);
  const ours: Took[] = [];
  const theirs: Took[] = [];
  for (let n = 0; n < RUNS; n++) {
    rmSync(join(home, "data"), { recursive: true, force: true });
    ours.push(run(home, OURS));
    theirs.push(run(home, THEIRS));
  }
  const each = (all: readonly Took[], name: "cpuMs" | "wallMs" | "mb") =>
    all.map((took) => took[name]);
  const against = (name: "cpuMs" | "wallMs" | "mb", what: string, unit: string) =>
    compared(`${what}, against ccusage`, each(ours, name), each(theirs, name), unit, { atMost: 1 });
  return [
    against("cpuMs", `first count of ${size}, processor time`, "ms"),
    against("wallMs", "first count, wall", "ms"),
    against("mb", "first count, peak memory", "MB"),
    memory("first count, peak memory", each(ours, "mb"), { atMost: 200 }),
  ];
}

function warm(home: string, { files }: Corpus): Result[] {
  const what = "next count, one session grown by 1 MB, wall beyond `node -e 0`, against ccusage";
  say(what);
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let n = 0; n < LOOKS; n++) {
    appendFileSync(files[0] ?? "", moreRows(GROWN_BYTES, n));
    const started = median([0, 1, 2].map(() => run(home, [process.execPath, "-e", "0"]).wallMs));
    ours.push(run(home, OURS).wallMs - started);
    if (n % 3 === 0) theirs.push(run(home, THEIRS).wallMs);
  }
  const reference = ours.map(() => median(theirs));
  return [compared(what, ours, reference, "ms", { atMost: 1 / 20 })];
}

/** What we count is what was written, and what ccusage counts: this corpus has nothing it loses. */
function checkTotals({ totals }: Corpus, ours: string, theirs: string): void {
  const counted = (JSON.parse(ours) as { totals: { models: OurModel[] } }).totals.models;
  for (const [model, expected] of totals) {
    const found = counted.find((each) => each.model === model);
    const cacheWrite = (found?.cacheWrite5m ?? 0) + (found?.cacheWrite1h ?? 0);
    const tokens = { ...pick(found), cacheWrite };
    if (JSON.stringify(tokens) === JSON.stringify(expected)) continue;
    throw new Error(`${model}: ${JSON.stringify(tokens)} instead of ${JSON.stringify(expected)}`);
  }
  const sum = (name: keyof Tokens) =>
    [...totals.values()].reduce((all, each) => all + each[name], 0);
  const { outputTokens, inputTokens } = (JSON.parse(theirs) as { totals: TheirTotals }).totals;
  if (outputTokens !== sum("output") || inputTokens !== sum("input")) {
    say(`ccusage counts ${inputTokens} in, ${outputTokens} out: not what was written`);
  }
}

interface OurModel extends Tokens {
  readonly model: string;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
}

interface TheirTotals {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

function pick(model: OurModel | undefined) {
  const { input = 0, output = 0, cacheRead = 0 } = model ?? {};
  return { input, output, cacheWrite: 0, cacheRead };
}

function run(home: string, command: readonly string[]): Took {
  const cwd = join(home, "empty");
  mkdirSync(cwd, { recursive: true });
  const places = { XDG_DATA_HOME: join(home, "data"), XDG_CACHE_HOME: join(home, "cache") };
  const env = { PATH: process.env.PATH ?? "", HOME: home, ...places };
  const child = spawnSync(process.execPath, [MEASURED, ...command], {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  if (child.status !== 0) throw new Error(`${command.join(" ")} failed: ${child.stderr}`);
  const took = JSON.parse(child.output[3] ?? "") as Omit<Took, "output">;
  return { ...took, output: child.stdout };
}

/** The native program itself: its launcher adds the start of a Node. */
function ccusage(): string {
  const require = createRequire(import.meta.url);
  const { arch, platform } = process;
  const name = `@ccusage/ccusage-${platform}-${arch}/package.json`;
  const found = require.resolve(name, {
    paths: [dirname(require.resolve("ccusage/package.json"))],
  });
  const program = join(dirname(found), "bin", "ccusage");
  chmodSync(program, 0o755); // As its launcher does: npm installs it without.
  return program;
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
