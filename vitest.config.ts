/**
 * The test runner: finds tests by name, so that no list of tests can go stale.
 *
 * Forks, not threads: the tests take kernel locks, change directories and kill
 * processes, and one of them must not be able to harm another.
 */

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    pool: "forks",
    // One fewer than there are cores, the default, leaves one of two idle.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
