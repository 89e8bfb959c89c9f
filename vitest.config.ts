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
import { SlowFirst } from "./test/support/slow-first.ts";

const FOLDERS = ["src", "test", "viewer"];
const include = FOLDERS.map((folder) => `${folder}/**/*.test.ts`);

/**
 * Code that touches such state: memory, timers, globals, mocks. Not the environment, the working
 * directory, the umask and the user, which are as before after each file (process-state.ts).
 */
const OWN_PROCESS = [
  /\bprocess\.(memoryUsage|cpuUsage|resourceUsage|getActiveResourcesInfo)\(/,
  /\bglobalThis\.\w+ = |\bvi\.(mock|useFakeTimers|stubGlobal|resetModules)\(/,
];
/** A listener on the process that the file does not remove. */
const LISTENS = /\bprocess\.(on|once)\((?!.*\bprocess\.off\()/s;

const alone = FOLDERS.flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => join(folder, path)),
).filter((path) => {
  const text = readFileSync(join(import.meta.dirname, path), "utf8");
  return [...OWN_PROCESS, LISTENS].some((sign) => sign.test(text));
});

const each = {
  pool: "forks",
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Of some ten thousand commands that the tests run, one may never end: Node can deadlock as it
  // shuts down (nodejs/node#54918). Only a test that such a command fails is repeated.
  retry: { count: 1, condition: /^verbatim .* hangs\. / },
} as const;

const shared = {
  isolate: false,
  setupFiles: "test/support/process-state.ts",
  // Many short-lived objects: a larger young generation takes a seventh less processor time.
  execArgv: ["--max-semi-space-size=64"],
};

export default defineConfig({
  test: {
    globalSetup: "test/support/run.ts",
    // One more than the cores of CI: many tests wait, for other processes or until a time is up.
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
    projects: [
      { test: { ...each, name: "alone", include: alone } },
      { test: { ...each, ...shared, name: "shared", include, exclude: alone } },
    ],
  },
});
