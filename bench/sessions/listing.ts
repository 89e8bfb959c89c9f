/**
 * Listing: the processor time of `verbatim ls` beyond an empty program once its catalog exists,
 * compared with programs that do only the minimum. All run alternately, so that other load on the
 * machine affects all of them.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Result } from "../measure/result.ts";
import { CLI } from "./built.ts";

interface Program {
  readonly measure: string;
  /** A module, and its arguments. */
  readonly args: readonly string[];
  readonly bound: Result["bound"];
  /** Milliseconds beyond an empty program. */
  readonly values: number[];
}

const CPU = pathOf("./cpu.mjs");

/** Listing the threads of a project, `runs` times. */
export function measureListing(root: string, threads: number, runs: number): Result[] {
  const directory = join(root, ".ai", "threads");
  const catalog = join(root, "cache", "verbatim", "catalog.db");
  const programs: readonly Program[] = [
    {
      measure: `ls of ${threads} sessions, own processor ms beyond an empty program`,
      args: [fileURLToPath(CLI), "ls", "--root", root, "--json"],
      bound: { atMost: 150 },
      values: [],
    },
    {
      measure: "loading the command line, and nothing else",
      args: [fileURLToPath(CLI), "--version"],
      bound: null,
      values: [],
    },
    {
      measure: "the least that takes with Node and SQLite: look at all, read the rows, write them",
      args: [pathOf("./least.mjs"), directory, catalog],
      bound: null,
      values: [],
    },
    {
      measure: `a bare loop of readdir and two lstat over ${threads} threads`,
      args: [pathOf("./look.mjs"), directory],
      bound: null,
      values: [],
    },
  ];
  for (const { args } of programs) cpuMs(root, args); // The first creates the catalog.
  cpuMs(root, programs[0]?.args ?? []); // The second caches its output.
  for (let run = 0; run < runs; run++) {
    const empty = cpuMs(root, []);
    for (const { args, values } of programs) values.push(cpuMs(root, args) - empty);
  }
  return programs.map(({ measure, bound, values }) => {
    return { measure, ours: null, reference: null, values, unit: "ms", bound };
  });
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

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
