/**
 * The server that is fuzzed, in its own process. Prints its URL; for each line on stdin it collects
 * garbage and prints a line with its resources.
 */

import { readdirSync, readlinkSync } from "node:fs";
import { createInterface } from "node:readline";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startServer } from "../../src/server/serve.ts";
import type { ServeOptions } from "../../src/server/settings/serve-options.ts";

export interface Holding {
  readonly heapBytes: number;
  /** Open descriptors other than files of the data directory, which keeps some open. */
  readonly descriptors: readonly string[];
  /** What keeps the process alive: connections, file watchers, timers. */
  readonly resources: readonly string[];
  /** Internal errors, which no request may cause. */
  readonly faults: readonly string[];
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const options = JSON.parse(process.argv[2] ?? "") as ServeOptions;
process.env.XDG_CACHE_HOME = `${options.dataDirectory}/cache`; // No file of the user is touched.
const faults: string[] = [];
const told = (cause: unknown) => (cause instanceof Error ? cause.stack : String(cause));
const server = await startServer({
  ...options,
  onFault: (what, cause) => faults.push(`${what}: ${told(cause)}`),
});
process.stdout.write(`${server.url}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "stop") break;
  collectGarbage();
  const holding: Holding = {
    heapBytes: process.memoryUsage().heapUsed,
    descriptors: readdirSync("/proc/self/fd").map(target).filter(isOutside).sort(),
    resources: process.getActiveResourcesInfo().sort(),
    faults,
  };
  process.stdout.write(`${JSON.stringify(holding)}\n`);
}
await server.close();
process.exit(0);

function target(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return options.dataDirectory; // Closed since it was listed, such as the descriptor of the listing itself.
  }
}

function isOutside(path: string): boolean {
  // The first watch of a file creates one for all watches, and it stays (libuv).
  return !path.startsWith(options.dataDirectory) && path !== "anon_inode:inotify";
}
