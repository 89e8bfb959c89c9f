/** Node host: the real clock, process and disk. Reads `performance` late: it is slow to load. */

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
  process: {
    pid: process.pid,
    get started() {
      return new Date(performance.timeOrigin).toISOString();
    },
  },
};
