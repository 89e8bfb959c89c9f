/**
 * `npm run bench -- agents`: listing, searching and guarding the histories of other agents: 2,000
 * sessions of Claude Code and Codex, about 1 GB, against bare loops over the same bytes.
 */

import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { COMMON_WORD, type Corpus, makeCorpus, oneMoreTurn, RARE_PHRASE } from "./agents/corpus.ts";
import { guarding } from "./agents/guard.ts";
import { runBench, say } from "./measure/frame.ts";
import { compared, memory, type Result } from "./measure/result.ts";

const FULL = { sessions: 2_000, bytesEach: 500_000, runs: 3, looks: 15, guards: 5 };
const QUICK = { sessions: 1_000, bytesEach: 100_000, runs: 2, looks: 7, guards: 3 };

const CLI = pathOf("../dist/cli/main.js");
const BARE = pathOf("./agents/bare.mjs");
const LEAST_LISTING = pathOf("./agents/least-listing.mjs");
const BARE_LOOK = pathOf("./agents/bare-look.mjs");
const CHILD = pathOf("./agents/child.mjs");

interface Took {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly mb: number;
}

await runBench("agents", async ({ directory, isQuick }) => {
  const { sessions, bytesEach, runs, looks, guards } = isQuick ? QUICK : FULL;
  const home = join(directory, "home");
  say(`making ${sessions} sessions`);
  const corpus = makeCorpus(home, sessions, bytesEach);
  const what = `${sessions} sessions, ${Math.round(corpus.bytes / 1e6)} MB`;
  const peaks: number[] = [];
  const run = (...args: string[]) => {
    const took = program(home, args);
    if (args[0] === CLI) peaks.push(took.mb);
    return took;
  };
  run(BARE, home); // Warms up the file cache.
  return [
    ...firstListing(what, home, directory, runs, run),
    ...secondListing(home, corpus, looks, run),
    ...indexing(what, home, directory, runs, run),
    ...searching(home, looks, run),
    ...guarding(what, home, directory, guards, (data) =>
      program(home, [CLI, "guard", "--once"], { XDG_DATA_HOME: data }),
    ),
    memory("peak memory of all of these", [Math.max(...peaks)], { atMost: 200 }),
  ];
});

type Run = (...args: string[]) => Took;

function firstListing(
  what: string,
  home: string,
  directory: string,
  runs: number,
  run: Run,
): Result[] {
  const name = `first listing of ${what}, processor time against a bare parse`;
  say(name);
  const [ours, bare, least]: [number[], number[], number[]] = [[], [], []];
  const database = join(directory, "least.db");
  for (let n = 0; n < runs; n++) {
    rmSync(join(home, "cache"), { recursive: true, force: true });
    for (const ending of ["", "-wal", "-shm"]) rmSync(database + ending, { force: true });
    const empty = run().cpuMs;
    ours.push(run(CLI, "ls", "--json").cpuMs - empty);
    bare.push(run(BARE, home).cpuMs - empty);
    least.push(run(LEAST_LISTING, home, database).cpuMs - empty);
  }
  return [
    compared(name, ours, bare, "ms", { atMost: 1.3 }),
    compared("the least listing of the same, against a bare parse", least, bare, "ms", null),
  ];
}

/** A short command on histories that hardly changed. */
interface Look {
  readonly what: string;
  readonly args: readonly string[];
  /** Wall time beyond start-up, in milliseconds. */
  readonly atMost: number;
  /** Runs before each. */
  readonly before?: (n: number) => void;
  /** Arguments of the bare loop (`agents/bare-look.mjs`). */
  readonly bare: readonly string[];
}

/** Start-up is `verbatim --version`: the command line without a command. */
function looking({ what, args, atMost, before, bare }: Look, looks: number, run: Run): Result[] {
  say(what);
  const [wall, cpu, whole, least]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let n = 0; n < looks; n++) {
    const empty = run();
    const started = run(CLI, "--version");
    before?.(n);
    const took = run(CLI, ...args);
    wall.push(took.wallMs - started.wallMs);
    cpu.push(took.cpuMs - started.cpuMs);
    whole.push(took.wallMs - empty.wallMs);
    least.push(run(BARE_LOOK, ...bare).wallMs - empty.wallMs);
  }
  const row = (
    measure: string,
    values: readonly number[],
    bound: Result["bound"] = null,
  ): Result => ({ measure, ours: null, reference: null, values, unit: "ms", bound });
  return [
    row(`${what}, wall ms beyond start-up`, wall, { atMost }),
    row("the same, processor ms beyond start-up", cpu),
    row("the same, wall ms beyond an empty Node program", whole),
    row("a bare loop that looks at the same files, wall ms beyond an empty Node program", least),
  ];
}

function secondListing(home: string, { files }: Corpus, looks: number, run: Run): Result[] {
  const before = (n: number) => appendFileSync(files[0] ?? "", oneMoreTurn(1_000 + n));
  const what = "next listing, one session grown";
  const look = { what, args: ["ls", "--json"], atMost: 50, before, bare: [home] };
  return looking(look, looks, run);
}

function indexing(what: string, home: string, directory: string, runs: number, run: Run): Result[] {
  const name = `first search of ${what}, with indexing, processor time against`;
  say(name);
  const [ours, bare, parse]: [number[], number[], number[]] = [[], [], []];
  const database = join(directory, "bare.db");
  for (let n = 0; n < runs; n++) {
    rmSync(join(home, "cache"), { recursive: true, force: true });
    for (const ending of ["", "-wal", "-shm"]) rmSync(database + ending, { force: true });
    const empty = run().cpuMs;
    ours.push(run(CLI, "search", COMMON_WORD).cpuMs - empty);
    bare.push(run(BARE, home, database).cpuMs - empty);
    parse.push(run(BARE, home).cpuMs - empty);
  }
  return [
    compared(`${name} a bare FTS5 table`, ours, bare, "ms", { atMost: 1.4 }),
    compared(`${name} a bare parse`, ours, parse, "ms", null),
  ];
}

function searching(home: string, looks: number, run: Run): Result[] {
  run(CLI, "ls", "--json");
  return [
    { query: COMMON_WORD, what: "search for a common word", atMost: 50 },
    { query: RARE_PHRASE, what: "search for a rare phrase", atMost: 20 },
  ].flatMap(({ query, what, atMost }) => {
    return looking({ what, args: ["search", query], atMost, bare: [home, query] }, looks, run);
  });
}

/** Runs a program with a home of its own; without arguments, one that does nothing. */
function program(home: string, args: readonly string[], more: Record<string, string> = {}): Took {
  const cwd = join(home, "empty");
  mkdirSync(cwd, { recursive: true });
  const places = { HOME: home, XDG_CACHE_HOME: join(home, "cache") };
  const env = { PATH: process.env.PATH ?? "", ...places, ...more };
  const started = performance.now();
  const child = spawnSync(process.execPath, [CHILD, ...args], {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const wallMs = performance.now() - started;
  if (child.status !== 0) throw new Error(`${args.join(" ")} failed: ${child.stderr}`);
  return { ...(JSON.parse(child.output[3] ?? "") as { cpuMs: number; mb: number }), wallMs };
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
