/**
 * A server in its own process, on a disk that the test drives: each sync stores at most
 * `batchRequestsMax` appends, and waits until it is allowed. Prints its URL. A line on stdin is the
 * number of syncs that are allowed from then on: "5", or "Infinity" as at the start.
 */

import { createInterface } from "node:readline";
import { openFront, serveStore } from "../../src/server/serve.ts";
import type { ServeOptions } from "../../src/server/settings/serve-options.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { WatchedFiles } from "../support/watched-files.ts";

export interface SlowServer {
  readonly batchRequestsMax: number;
  readonly options: ServeOptions;
}

const { batchRequestsMax, options } = JSON.parse(process.argv[2] ?? "") as SlowServer;
let allowed = Number.POSITIVE_INFINITY;
let onAllowed = () => {};
const files = new WatchedFiles();
files.before = ({ call, name }) => {
  files.calls.length = 0; // They are not needed here, and would grow.
  return call === "sync" && name.endsWith(".j") ? turn() : undefined;
};
const front = await openFront(options);
const { dataDirectory, queuedAppendsMax } = options;
const store = await openLocalStore({
  dataDirectory,
  host: files.host,
  limits: {
    batchRequestsMax,
    ...(queuedAppendsMax === undefined ? {} : { queueRequestsMax: queuedAppendsMax }),
  },
  onBatch: (report) => front.metrics.batch(report),
});
const { url } = await serveStore(store, options, front);
process.stdout.write(`${url}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  allowed = Number(line);
  onAllowed();
}

/** One sync at a time: a store has one journal. */
async function turn(): Promise<void> {
  while (allowed <= 0) {
    await new Promise<void>((resolve) => {
      onAllowed = resolve;
    });
  }
  allowed--;
}
