/**
 * `npm run bench -- postgres`: streams in PostgreSQL against bare loops on the same database, and
 * servers against one another. The database is started here, with syncs; nothing is replicated.
 */

import { chmodSync } from "node:fs";
import { PostgresServer } from "../test/support/postgres-server.ts";
import { runBench } from "./measure/frame.ts";
import { measureAppending } from "./postgres/appending.ts";
import { measureCatchUp } from "./postgres/catch-up.ts";
import { measureOwnWork } from "./postgres/own-work.ts";
import { measureServers } from "./postgres/servers.ts";

/** As a small machine would have it. */
const SETTINGS = ["shared_buffers=256MB", "max_wal_size=2GB", "max_connections=100"];

export interface Amounts {
  readonly rounds: number;
  readonly slices: number;
  readonly sliceMs: number;
  readonly longBytes: number;
  /** Appends whose delivery is measured, in each round. */
  readonly messages: number;
}

const FULL: Amounts = { rounds: 5, slices: 9, sliceMs: 200, longBytes: 100e6, messages: 500 };
const QUICK: Amounts = { rounds: 3, slices: 3, sliceMs: 50, longBytes: 25e6, messages: 100 };

await runBench("postgres", async ({ directory, isQuick }) => {
  chmodSync(directory, 0o755); // PostgreSQL runs as another user.
  const server = PostgresServer.start(SETTINGS, directory);
  process.prependListener("exit", () => server.remove());
  const amounts = isQuick ? QUICK : FULL;
  return [
    ...(await measureAppending(server.url, amounts)),
    ...(await measureCatchUp(server.url, amounts)),
    ...(await measureServers(server.url, directory, amounts)),
    ...(await measureOwnWork(server, directory, amounts)),
  ];
});
