/** Node host: the real clock, process and disk. */

import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "./host.ts";
import { createNodeFiles } from "./node-files.ts";

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
