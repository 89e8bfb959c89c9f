/**
 * Servers: appends over HTTP against servers with one transaction per append, and how long an append
 * takes to reach readers of another server. Each kind of server has a schema of its own; they take
 * turns, a slice each.
 */

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "../measure/compare.ts";
import { say } from "../measure/frame.ts";
import { compared, type Result } from "../measure/result.ts";
import type { Amounts } from "../postgres.ts";
import { ServerProcess } from "../streams/server-process.ts";
import { newSchema } from "./built.ts";

const SERVE = fileURLToPath(new URL("./serve.mjs", import.meta.url));
const CONNECTIONS = 128;
const STREAMS = 1000;
const READERS = 10;
/** 100 appends a second. */
const EVERY_MS = 10;

const KINDS = ["single", "pooled", "grouped"] as const;
type Kind = (typeof KINDS)[number];

export async function measureServers(
  url: string,
  scratch: string,
  amounts: Amounts,
): Promise<Result[]> {
  const start = (kind: Kind, schema: string) =>
    ServerProcess.start(kind, mkdtempSync(join(scratch, `${kind}-`)), SERVE, url, schema);
  return [...(await appending(start, amounts)), ...(await delivery(start, amounts))];
}

type Start = (kind: Kind, schema: string) => Promise<ServerProcess>;

async function appending(start: Start, { rounds, slices, sliceMs }: Amounts): Promise<Result[]> {
  say(`${CONNECTIONS} connections, ${STREAMS} streams`);
  const servers = new Map<Kind, ServerProcess>();
  for (const kind of KINDS) servers.set(kind, await start(kind, newSchema()));
  const ask = <T>(kind: Kind, task: string, options: object) =>
    (servers.get(kind) as ServerProcess).ask<T>(task, options);
  for (const kind of KINDS) {
    await ask(kind, "create", { prefix: "s", from: 0, to: STREAMS, atOnce: CONNECTIONS });
  }
  const load = { path: "s", streams: STREAMS, atOnce: CONNECTIONS, ms: 10 * sliceMs };
  const rates = new Map<Kind, number[]>(KINDS.map((kind) => [kind, []]));
  for (let round = -1; round < rounds; round++) {
    // The first one is a warm-up for the JIT compiler.
    const of = new Map<Kind, number[]>(KINDS.map((kind) => [kind, []]));
    for (let slice = 0; slice < (round < 0 ? 1 : Math.ceil(slices / 3)); slice++) {
      for (const kind of slice % 2 === 0 ? KINDS : KINDS.toReversed()) {
        const { perSecond, errors } = await ask<Appended>(kind, "appendFor", load);
        if (errors > 0) throw new Error(`${errors} appends were refused (${kind})`);
        of.get(kind)?.push(perSecond);
      }
    }
    if (round >= 0) for (const kind of KINDS) rates.get(kind)?.push(median(of.get(kind) ?? []));
  }
  for (const server of servers.values()) await server.kill();
  const of = (kind: Kind) => rates.get(kind) ?? [];
  const name = `appends over HTTP, ${CONNECTIONS} connections, ${STREAMS} streams, against one transaction each`;
  return [
    compared(name, of("grouped"), of("single"), "/s", { atLeast: 3 }),
    compared("  the same, on 8 connections", of("grouped"), of("pooled"), "/s", null),
  ];
}

interface Appended {
  readonly perSecond: number;
  readonly errors: number;
}

interface Delivered {
  readonly p50: number;
  readonly p99: number;
  readonly missing: number;
}

async function delivery(start: Start, { rounds, messages }: Amounts): Promise<Result[]> {
  say("delivery across two servers");
  const schema = newSchema();
  const writer = await start("grouped", schema);
  const other = await start("grouped", schema);
  const measured: [Delivered[], Delivered[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    for (const [n, from] of [writer.url, other.url].entries()) {
      const task = { path: `e${round}-${n}`, readers: READERS, messages, everyMs: EVERY_MS, from };
      measured[n]?.push(await writer.ask<Delivered>("events", task));
    }
  }
  for (const server of [writer, other]) await server.kill();
  const [same, across] = measured;
  const missing = across.map((one) => one.missing);
  const name = "delivery to readers of another server, 100 appends/s";
  const p99 = across.map((one) => one.p99);
  const ms = { ours: null, reference: null, unit: "ms" } as const;
  const against = (figure: "p50" | "p99") =>
    compared(
      `  ${figure}, against readers of the same server`,
      across.map((one) => one[figure]),
      same.map((one) => one[figure]),
      "ms",
      null,
    );
  return [
    { measure: `${name}, p99`, ...ms, values: p99, bound: { atMost: 100 } },
    against("p50"),
    against("p99"),
    { measure: "  not delivered", ...ms, unit: "", values: missing, bound: { atMost: 0 } },
  ];
}
