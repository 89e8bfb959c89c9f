/**
 * The test runner: finds tests by name, so that no list of tests can go stale.
 *
 * Forks, not threads: the tests take kernel locks and kill processes. Most files share a process
 * with the ones before them, which saves loading all modules again some three hundred times. A file
 * that reads or changes state of its whole process has a process of its own.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { RunReport } from "./test/support/run-report.ts";
import { isDeep, times } from "./test/support/seed.ts";
import { SlowFirst } from "./test/support/slow-first.ts";

const FOLDERS = ["src", "test", "viewer"];
const include = FOLDERS.map((folder) => `${folder}/**/*.test.ts`);

/**
 * Code that touches such state: memory, timers, globals, mocks. Not the environment, the working
 * directory, the umask and the user, which are as before after each file (process-state.ts).
 */
const OWN_PROCESS = [
  /\bprocess\.(memoryUsage|cpuUsage|resourceUsage|getActiveResourcesInfo)\(/,
  /\bglobalThis\.\w+ = |\bvi\.(mock|useFakeTimers|stubGlobal|resetModules)\(|\bpatientTime\(/,
];
/** A listener on the process that the file does not remove. */
const LISTENS = /\bprocess\.(on|once)\((?!.*\bprocess\.off\()/s;

/** In a browser: what a page does next depends on more than we control. */
const IN_BROWSER = join("test", "e2e", "/");
const BROWSER = "test/e2e/**/*.test.ts";

const alone = FOLDERS.flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => join(folder, path)),
).filter((path) => {
  if (path.startsWith(IN_BROWSER)) return false; // There it is the page's globals.
  const text = readFileSync(join(import.meta.dirname, path), "utf8");
  return [...OWN_PROCESS, LISTENS].some((sign) => sign.test(text));
});

/** What does not depend on Node's version: documentation, package, sources. */
const FILES = [
  "test/{architecture,bench-paths,containers,docs-*,formats,guides}.test.ts",
  "test/{invariant-names,package,public-api,recording,release-files,sdk-types,site}.test.ts",
];

// The one limit of all tests is for what hangs. A slow machine may take minutes; all cases of a deep
// run, or many times as many, longer.
const LIMIT_MS: number = isDeep || times > 1 ? 3_600_000 : 600_000;

const SETUP = ["test/support/property-seed.ts", "test/support/all-dialects.ts"];

const each = {
  pool: "forks" as const,
  setupFiles: SETUP,
  testTimeout: LIMIT_MS,
  hookTimeout: LIMIT_MS,
  // Of some ten thousand commands that the tests run, one may never end: Node can deadlock as it
  // shuts down (nodejs/node#54918). Only a test that such a command fails is repeated.
  retry: { count: 1, condition: /^verbatim .* hangs\. / },
  // Each project would transform the sources again. In node_modules, by content and lock file.
  experimental: { fsModuleCache: true },
};

const shared = {
  isolate: false,
  setupFiles: [...SETUP, "test/support/process-state.ts"],
  // Many short-lived objects: a larger young generation takes a seventh less processor time.
  execArgv: ["--max-semi-space-size=64"],
};

export default defineConfig({
  test: {
    globalSetup: "test/support/run.ts",
    reporters: ["default", new RunReport()],
    // Twice the cores of CI: many tests wait for other processes, and with three a fifth is idle.
    maxWorkers: 4,
    sequence: { sequencer: SlowFirst },
    projects: [
      { test: { ...each, name: "alone", include: alone } },
      { test: { ...each, ...shared, name: "browser", include: [BROWSER], retry: 1 } },
      { test: { ...each, ...shared, name: "files", include: FILES, exclude: alone } },
      {
        test: {
          ...each,
          ...shared,
          name: "shared",
          include,
          exclude: [...alone, BROWSER, ...FILES],
        },
      },
    ],
  },
});
