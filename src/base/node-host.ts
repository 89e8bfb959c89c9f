/** Node host: the real clock, process and disk. */

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "./host.ts";
import { createNodeFiles } from "./node-files.ts";

let known: string | null = null;

/**
 * The version and the files of the installed package.
 *
 * A file of the package: it is two levels up, whether compiled, bundled or run as sources.
 */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}

/** The version in package.json; "unknown" when a bundler left it out. */
export function packageVersion(): string {
  known ??= readVersion();
  return known;
}

function readVersion(): string {
  try {
    const text = readFileSync(packageFile("package.json"), "utf8");
    const { name, version } = JSON.parse(text) as { name?: unknown; version?: unknown };
    return name === "verbatim-log" && typeof version === "string" ? version : "unknown";
  } catch {
    return "unknown"; // The version is not worth failing for.
  }
}

export const nodeHost: Host = {
  files: createNodeFiles(),
  clock: {
    async sleep(ms, signal) {
      try {
        await sleep(ms, undefined, signal ? { signal } : {});
      } catch (cause) {
        signal?.throwIfAborted(); // The caller's reason, not the timer's AbortError.
        throw cause;
      }
    },
    monotonicMs: () => performance.now(),
  },
  process: { pid: process.pid, started: new Date(performance.timeOrigin).toISOString() },
};

/** Open descriptors, including the one used to count them; 0 where the system has no /proc. */
export function openDescriptorCount(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0; // Shown in metrics only.
  }
}
