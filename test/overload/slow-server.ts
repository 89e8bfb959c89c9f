/**
 * A server in its own process, on a slow disk, so that its capacity is known: `batchRequestsMax`
 * appends every `syncMs`. Prints its URL.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { openFront, type ServeOptions, serveStore } from "../../src/server/serve.ts";
import { openLocalStore } from "../../src/streams/local-store.ts";
import { WatchedFiles } from "../support/watched-files.ts";

export interface SlowServer {
  readonly syncMs: number;
  readonly batchRequestsMax: number;
  readonly options: ServeOptions;
}

const { syncMs, batchRequestsMax, options } = JSON.parse(process.argv[2] ?? "") as SlowServer;
const files = new WatchedFiles();
files.before = ({ call, name }) => {
  files.calls.length = 0; // They are not needed here, and would grow.
  return call === "sync" && name.endsWith(".j") ? sleep(syncMs) : undefined;
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
});
const { url } = await serveStore(store, options, front);
process.stdout.write(`${url}\n`);
