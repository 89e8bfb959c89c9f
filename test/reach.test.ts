/**
 * Reach: how much code hangs on each door, and how many modules a process loads to do one thing. A
 * number is raised only with a line in docs/decisions/0024-districts-and-reach.md that says what it
 * buys.
 */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reachOf } from "./architecture/reach.ts";
import { answerRow, promptRow, writeClaude } from "./support/agent-home.ts";
import { lacksPostgres, newDatabase } from "./support/postgres.ts";
import { compiledCounting } from "./support/program.ts";
import { tempDirectory } from "./support/temp-directory.ts";

/** Lines that were reached, and a tenth. */
const LINES_MAX: Readonly<Record<string, number>> = {
  "ai-sdk": 15_800,
  capture: 3_100,
  "claude-agent": 20_000,
  client: 1_900,
  entire: 18_500,
  fetch: 10_000,
  history: 7_200,
  homeagent: 15_800,
  index: 14_800,
  langgraph: 15_400,
  log: 4_500,
  "openai-agents": 15_200,
  otel: 13_000,
  postgres: 18_100,
  resume: 39_100,
  rye: 20_600,
  server: 24_400,
  signing: 34_300,
  streams: 21_300,
};

test.each(Object.entries(LINES_MAX))("%s reaches at most %i lines", (door, linesMax) => {
  expect(reachOf(`src/doors/${door}.ts`).lines).toBeLessThanOrEqual(linesMax);
});

test("the table of reach has every door", () => {
  const doors = readdirSync(new URL("../src/doors", import.meta.url))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => name.slice(0, -3));

  expect(Object.keys(LINES_MAX).sort()).toEqual(doors.sort());
});

type Run = readonly [program: string, ...args: string[]];
const WALK = "test/architecture/walk.ts";
const COMMAND = "src/cli/main.ts";
const LS: Run = [COMMAND, "ls"];
const USAGE: Run = [COMMAND, "usage"];
const SIGNED: Run = [WALK, "append-signed"];
const REDACT: Run = [
  COMMAND,
  "redact",
  "signed",
  "--match",
  "Mill",
  "--reason",
  "-",
  "-o",
  "c.vbd",
];

/**
 * Modules that were loaded, and a tenth. `before` runs first: commands have caches, and what is
 * redacted must exist.
 */
const WALKS: readonly { name: string; max: number; run: Run; before?: Run }[] = [
  { name: "two appends", max: 110, run: [WALK, "append"] },
  { name: "two signed appends", max: 160, run: SIGNED },
  { name: "ls", max: 143, run: LS, before: LS },
  { name: "usage", max: 214, run: USAGE, before: USAGE },
  { name: "redact", max: 325, run: [...REDACT, "--yes"], before: SIGNED },
  { name: "an append to files of a server", max: 163, run: [WALK, "post"] },
];

test.each(WALKS)("$name: at most $max modules are loaded", async ({ max, run, before }) => {
  const home = newHome();
  if (before) await modulesOf(home, before);
  expectAtMost(max, await modulesOf(home, run));
});

test.skipIf(lacksPostgres)("an append to PostgreSQL: at most 187 modules are loaded", async () => {
  expectAtMost(187, await modulesOf(newHome(), [WALK, "post", await newDatabase()]));
});

function expectAtMost(max: number, modules: number): void {
  expect(modules).toBeLessThanOrEqual(max);
  expect(modules).toBeGreaterThan(max / 2); // Or they are no longer counted.
}

/** A home with a session of Claude Code. */
function newHome(): string {
  const home = tempDirectory();
  const at = Date.parse("2026-02-07T22:04:00Z");
  writeClaude(home, "-home-me-app/s1.jsonl", [promptRow("Hello", { at }), answerRow("a", { at })]);
  return home;
}

const compiled = new Map<string, Promise<string>>();

/** How many modules of ours a program loads, in a process of its own. */
async function modulesOf(home: string, [program, ...args]: Run): Promise<number> {
  const list = join(home, "loaded");
  rmSync(list, { force: true });
  const path = compiled.get(program) ?? compiledCounting(program);
  compiled.set(program, path);
  const env = { PATH: process.env.PATH, HOME: home, LOADED_TO: list };
  execFileSync(process.execPath, [await path, ...args], { cwd: home, env, stdio: "pipe" });
  return new Set(readFileSync(list, "utf8").split("\n")).size;
}
