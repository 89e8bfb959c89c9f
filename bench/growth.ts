/**
 * `npm run bench -- growth`: what streams, readers, sessions and servers cost in processor time as they
 * become many, and with which exponent the cost grows: 1 is linear. PostgreSQL and the servers are
 * started here. `--sizes 100,1000` says how many; readers are at most READERS_MAX, servers 1, 2 and 4.
 */

import { chmodSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { PostgresServer } from "../test/support/postgres-server.ts";
import { runBench, say } from "./measure/frame.ts";
import type { Result } from "./measure/result.ts";
import { newSchema } from "./postgres/built.ts";
import { databaseMs, SERVE, sum } from "./postgres/own-work.ts";
import { ServerProcess } from "./streams/server-process.ts";

const SETTINGS = ["shared_buffers=256MB", "max_wal_size=2GB", "max_connections=100"];
const SIZES = [100, 1_000, 10_000];
const READERS_MAX = 1_000;
const SERVERS = [1, 2, 4];
const AT_ONCE = 32;
const WARM_MS = 3000;
/** Events of one stream, to each of its readers. */
const EVENTS = 50;
/** Nothing that should be linear may grow faster. */
const EXPONENT = { atMost: 1.1 } as const;

interface Cost {
  readonly count: number;
  /** Milliseconds of processor time, for all of them. */
  readonly server: number;
  readonly database: number;
}

class Growth {
  readonly #database: PostgresServer;
  readonly #scratch: string;

  constructor(database: PostgresServer, scratch: string) {
    this.#database = database;
    this.#scratch = scratch;
  }

  async start(schema: string): Promise<ServerProcess> {
    const directory = mkdtempSync(join(this.#scratch, "growth-"));
    return ServerProcess.start("grouped", directory, SERVE, this.#database.url, schema);
  }

  async cost(
    servers: readonly ServerProcess[],
    count: number,
    work: () => Promise<unknown>,
  ): Promise<Cost> {
    const now = () => [databaseMs(this.#database), sum(servers.map((server) => server.cpuMs()))];
    const before = now();
    await work();
    const [database = 0, server = 0] = now().map((ms, n) => ms - (before[n] ?? 0));
    return { count, server, database };
  }

  /** Creating streams, and one append to each; the code has been warm before. */
  async streams(sizes: readonly number[]): Promise<Result[]> {
    const made: Cost[] = [];
    const appended: Cost[] = [];
    for (const count of sizes) {
      const server = await this.start(newSchema());
      await warm(server);
      const each = { prefix: "s", from: 0, to: count, atOnce: AT_ONCE };
      made.push(await this.cost([server], count, () => server.ask("create", each)));
      appended.push(await this.cost([server], count, () => server.ask("appendEach", each)));
      await server.kill();
    }
    return [...grown("creating streams", made), ...grown("an append to each stream", appended)];
  }

  /** Live readers of one stream: EVENTS events for each. */
  async readers(sizes: readonly number[]): Promise<Result[]> {
    const server = await this.start(newSchema());
    await warm(server);
    const costs: Cost[] = [];
    for (const readers of [...new Set(sizes.map((size) => Math.min(size, READERS_MAX)))]) {
      const task = { path: `e${readers}`, readers, messages: EVENTS, everyMs: 20 };
      const listen = () => server.ask("events", task);
      costs.push(await this.cost([server], readers * EVENTS, listen));
    }
    await server.kill();
    return grown("events to live readers", costs);
  }

  /** Received sessions: the first list on a server that did not receive them, and the second. */
  async sessions(sizes: readonly number[]): Promise<Result[]> {
    const first: Cost[] = [];
    const again: Cost[] = [];
    for (const count of sizes) {
      const schema = newSchema();
      const [receives, lists] = [await this.start(schema), await this.start(schema)];
      const prefix = "sessions/bench/homeagent/agents/cook/sessions/s";
      const sent = { prefix, suffix: ".jsonl", from: 0, to: count, atOnce: AT_ONCE };
      await receives.ask("create", sent);
      await receives.ask("appendEach", sent);
      first.push(await this.cost([lists], count, () => listed(lists, count)));
      again.push(await this.cost([lists], count, () => listed(lists, count)));
      await Promise.all([receives.kill(), lists.kill()]);
    }
    return [...grown("first list of sessions", first), ...grown("second list of them", again)];
  }

  /** As many appends to each of more servers. */
  async servers(appends: number): Promise<Result[]> {
    const costs: Cost[] = [];
    for (const count of SERVERS) {
      const schema = newSchema();
      const servers: ServerProcess[] = [];
      for (let n = 0; n < count; n++) servers.push(await this.start(schema));
      for (const [n, server] of servers.entries()) await warm(server, `warm${n}-`);
      const tasks = servers.map((_, n) => ({
        prefix: `v${n}-`,
        from: 0,
        to: appends,
        atOnce: AT_ONCE,
      }));
      const each = (name: string) =>
        Promise.all(servers.map((server, n) => server.ask(name, tasks[n] ?? {})));
      await each("create");
      costs.push(await this.cost(servers, count * appends, () => each("appendEach")));
      for (const server of servers) await server.kill();
    }
    return grown(`appends to ${SERVERS.join(", ")} servers`, costs);
  }
}

/** So that the JIT compiler has seen its code. */
async function warm(server: ServerProcess, prefix = "warm"): Promise<void> {
  const streams = 250;
  await server.ask("create", { prefix, from: 0, to: streams, atOnce: AT_ONCE });
  await server.ask("appendFor", { path: prefix, streams, atOnce: AT_ONCE, ms: WARM_MS });
}

/** Lists until all sessions are known. */
async function listed({ url }: ServerProcess, count: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/v1/sessions?limit=1&facets=true`);
    const { isComplete, facets } = (await answer.json()) as {
      isComplete: boolean;
      facets: { agents: { sessions: number }[] };
    };
    const sessions = sum(facets.agents.map((agent) => agent.sessions));
    if (isComplete && sessions === count) return;
  }
}

/** The exponents of two parts of the cost; and each one's cost at the largest size. */
function grown(name: string, costs: readonly Cost[]): Result[] {
  for (const { count, server, database } of costs) {
    const [node, postgres] = [server, database].map((ms) => ((1000 * ms) / count).toFixed(0));
    say(`${name}: ${count}: ${node} µs in servers and ${postgres} in PostgreSQL for each`);
  }
  return (["server", "database"] as const).map((part) => {
    const last = costs.at(-1);
    return {
      measure: part === "server" ? `${name}, in servers: exponent` : "  in PostgreSQL: exponent",
      ours: last === undefined ? null : (1000 * last[part]) / last.count,
      reference: null,
      per: "µs",
      values: [slope(costs.map((cost) => [cost.count, cost[part]]))],
      unit: "x",
      bound: EXPONENT,
    };
  });
}

/** Of the line through the logarithms, by least squares. */
function slope(points: readonly (readonly [number, number])[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(Math.max(y, 1))] as const);
  const mean = (at: 0 | 1) => sum(logs.map((point) => point[at])) / logs.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const above = sum(logs.map(([x, y]) => (x - meanX) * (y - meanY)));
  return above / sum(logs.map(([x]) => (x - meanX) ** 2));
}

await runBench("growth", async ({ directory, isQuick, sizes: chosenSizes }) => {
  chmodSync(directory, 0o755); // PostgreSQL runs as another user.
  const database = PostgresServer.start(SETTINGS, directory);
  process.prependListener("exit", () => database.remove());
  const sizes = chosenSizes ?? (isQuick ? SIZES.slice(0, 2) : SIZES);
  const growth = new Growth(database, directory);
  return [
    ...(await growth.streams(sizes)),
    ...(await growth.readers(sizes)),
    ...(await growth.sessions(sizes)),
    ...(await growth.servers(Math.max(...sizes))),
  ];
});
