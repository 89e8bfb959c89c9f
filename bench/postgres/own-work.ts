/**
 * Own work: what servers with one database cost each other, in processor time, as the kernel counts it.
 *
 * one: a server by itself. unused: four servers, appends to the first only. four: appends to all,
 * each stream on one server. All with as many connections per server; they take turns, and wall time,
 * which says little on a shared machine, counts nowhere.
 */

import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PostgresServer } from "../../test/support/postgres-server.ts";
import { say } from "../measure/frame.ts";
import { compared, type Result } from "../measure/result.ts";
import type { Amounts } from "../postgres.ts";
import { ServerProcess } from "../streams/server-process.ts";
import { newSchema } from "./built.ts";

export const SERVE = fileURLToPath(new URL("./serve.mjs", import.meta.url));
const SERVERS = 4;
/** Of each server. */
const CONNECTIONS = 32;
const STREAMS = 250;
/** The rate for which the share of an unused server is stated. */
const PER_SECOND = 2_400;
const MS_PER_TICK = 10;

interface Appended {
  readonly appends: number;
  readonly perSecond: number;
  readonly errors: number;
}

/** Processor time in milliseconds. */
interface Costs {
  readonly appends: number;
  readonly perSecond: number;
  readonly database: number;
  /** Of each server. */
  readonly servers: readonly number[];
}

export async function measureOwnWork(
  database: PostgresServer,
  scratch: string,
  { rounds, sliceMs }: Amounts,
): Promise<Result[]> {
  say(`${SERVERS} servers, ${CONNECTIONS} connections and ${STREAMS} streams each`);
  const started = async (count: number) => {
    const schema = newSchema();
    const servers: ServerProcess[] = [];
    for (let n = 0; n < count; n++) {
      const directory = mkdtempSync(join(scratch, "own-"));
      servers.push(await ServerProcess.start("grouped", directory, SERVE, database.url, schema));
    }
    for (const [n, server] of servers.entries()) {
      const task = { prefix: `s${n}-`, from: 0, to: STREAMS, atOnce: CONNECTIONS };
      await server.ask("create", task);
    }
    return servers;
  };
  const one = await started(1);
  const four = await started(SERVERS);
  // The JIT compiler has seen as much of each of them.
  for (const server of [...one, ...four]) {
    const load = { path: `s${Math.max(0, four.indexOf(server))}-`, streams: STREAMS };
    await server.ask("appendFor", { ...load, atOnce: CONNECTIONS, ms: 20 * sliceMs });
  }
  const run = (servers: readonly ServerProcess[], written: number) =>
    costs(database, servers, written, 20 * sliceMs);
  const of = { one: [] as Costs[], unused: [] as Costs[], four: [] as Costs[] };
  for (let round = 0; round < rounds; round++) {
    const ones = await run(one, 1);
    const unused = await run(four, 1);
    const fours = await run(four, SERVERS);
    const rates = [ones, unused, fours].map(({ perSecond }) => Math.round(perSecond));
    say(`appends per second, of one, of one of four, of four: ${rates.join(", ")}`);
    of.one.push(ones);
    of.unused.push(unused);
    of.four.push(fours);
  }
  for (const server of [...one, ...four]) await server.kill();
  const perAppend = ({ appends, servers }: Costs) => (sum(servers) * 1000) / appends;
  const ofDatabase = ({ appends, database: ms }: Costs) => (ms * 1000) / appends;
  const against = (name: string, of4: readonly Costs[], cost: (costs: Costs) => number) =>
    compared(name, of4.map(cost), of.one.map(cost), "µs", { atMost: 1.3 });
  const shares = of.unused.map(({ servers, appends }) => {
    return (100 * PER_SECOND * sum(servers.slice(1))) / (SERVERS - 1) / 1000 / appends;
  });
  const none = { ours: null, reference: null, unit: "" } as const;
  const name = `${SERVERS} servers, one of them written to, against one server`;
  const all = `${SERVERS} servers, each written to, against one server`;
  return [
    {
      measure: `an unused server's share of a core, in %, at ${PER_SECOND} appends/s on another`,
      ...none,
      values: shares,
      bound: { atMost: 2 },
    },
    against(`${name}: time of all servers per append`, of.unused, perAppend),
    against("  time of PostgreSQL per append", of.unused, ofDatabase),
    against(`${all}: time of all servers per append`, of.four, perAppend),
    against("  time of PostgreSQL per append", of.four, ofDatabase),
  ];
}

/** Appends to the first `written` servers for some time. */
async function costs(
  database: PostgresServer,
  servers: readonly ServerProcess[],
  written: number,
  ms: number,
): Promise<Costs> {
  const now = () => [databaseMs(database), ...servers.map((server) => server.cpuMs())];
  const before = now();
  const tasks = servers.slice(0, written).map((server, n) => {
    const load = { path: `s${n}-`, streams: STREAMS, atOnce: CONNECTIONS, ms };
    return server.ask<Appended>("appendFor", load);
  });
  const answers = await Promise.all(tasks);
  const [ofDatabase = 0, ...ofServers] = now().map((value, n) => value - (before[n] ?? 0));
  const errors = sum(answers.map((each) => each.errors));
  if (errors > 0) throw new Error(`${errors} appends were refused`);
  return {
    appends: sum(answers.map(({ appends }) => appends)),
    perSecond: sum(answers.map(({ perSecond }) => perSecond)),
    database: ofDatabase,
    servers: ofServers,
  };
}

/** All processes of a database, also those that have ended. */
export function databaseMs({ data }: PostgresServer): number {
  const main = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0] ?? "";
  let ticks = 0;
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const fields = statOf(pid);
    if (pid === main) ticks += sum(fields.slice(11, 15).map(Number));
    else if (fields[1] === main) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * MS_PER_TICK;
}

/** The fields of a process after its name; none if it has ended. */
function statOf(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
