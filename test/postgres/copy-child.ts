/**
 * A copy in its own process, which kills itself before or while the KILL_AT-th step: a statement,
 * or a call that changes the disk. Without KILL_AT it prints how many there were.
 */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import pg from "pg";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { copyStreams } from "../../src/streams/copy/copy-streams.ts";
import { openDirectorySource } from "../../src/streams/copy/directory-source.ts";
import { openDirectoryTarget } from "../../src/streams/copy/directory-target.ts";
import { openPostgresSource } from "../../src/streams/postgres/postgres-source.ts";
import { openPostgresTarget } from "../../src/streams/postgres/postgres-target.ts";

const [direction, directory = "", url = "", schema = ""] = process.argv.slice(2);
const killAt = Number(process.env.KILL_AT ?? 0);
let steps = 0;

function count(): void {
  if (++steps !== killAt) return;
  // An odd one is not begun, an even one is under way.
  const kill = () => process.kill(process.pid, "SIGKILL");
  if (killAt % 2 === 1) kill();
  else setImmediate(kill);
}

const names = [
  "mkdirSync",
  "writeSync",
  "fsync",
  "fdatasync",
  "ftruncateSync",
  "renameSync",
] as const;
for (const name of [...names, "rmSync"] as const) {
  const real = fs[name] as (...args: unknown[]) => unknown;
  const counted = (...args: unknown[]) => {
    count();
    return real(...args);
  };
  Object.assign(fs, { [name]: counted });
}
syncBuiltinESMExports();
const { query } = pg.Client.prototype;
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...args: unknown[]) {
    count();
    return Reflect.apply(query, this, args);
  },
});

const source =
  direction === "in"
    ? await openDirectorySource(nodeHost, directory)
    : await openPostgresSource(url, { schema, isAlone: true });
const target =
  direction === "in"
    ? await openPostgresTarget(url, source, { schema })
    : await openDirectoryTarget(nodeHost, directory, source, () => "00000000000000aa");
const { isResumed } = await copyStreams(source, target, () => {});
await target.close();
await source.close();
process.stdout.write(`${isResumed} ${steps}\n`);
