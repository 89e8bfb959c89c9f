/**
 * Limits: what the smallest server (bare.mjs) achieves on this machine, alternating with ours, with the
 * same client. No floors: these figures show how much of a missed floor is reachable at all.
 */

import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { say } from "../measure/frame.ts";
import { compared, type Result } from "../measure/result.ts";
import type { Amounts } from "./round.ts";
import { ServerProcess } from "./server-process.ts";

const KINDS = ["bare", "ours"] as const;
type Server = (typeof KINDS)[number];
type Figures = Record<Server, number[]>;

export async function measureLimits(scratch: string, amounts: Amounts): Promise<Result[]> {
  say("the least server");
  const directory = (kind: Server) => join(scratch, `limits-${kind}`);
  const servers = {
    bare: await ServerProcess.start("bare", directory("bare")),
    ours: await ServerProcess.start("ours", directory("ours")),
  };
  const { ours } = servers;
  await ours.ask("create", { prefix: "s", from: 0, to: 1, atOnce: 1 });
  await ours.ask("fill", { path: "long", bytes: amounts.longBytes });
  const append = async (kind: Server, atOnce: number) => {
    const task = { path: "s0", atOnce, ms: amounts.sliceMs };
    return (await servers[kind].ask<{ perSecond: number }>("appendFor", task)).perSecond;
  };
  await turns(1, (kind) => append(kind, 32)); // Until the JIT compiler has finished.
  const one = await turns(amounts.slices, (kind) => append(kind, 1));
  const some = await turns(amounts.slices, (kind) => append(kind, 32));
  const read = await turns(amounts.slices, async (kind) => {
    const task = { path: "long" };
    return (await servers[kind].ask<{ perSecond: number }>("catchUp", task)).perSecond;
  });
  for (const kind of KINDS) await servers[kind].kill();
  const start = await turns(amounts.slices, (kind) => startMs(kind, join(scratch, "limits-empty")));
  for (const kind of KINDS) rmSync(directory(kind), { recursive: true });
  rmSync(join(scratch, "limits-empty"), { recursive: true, force: true });
  const least = "against the least server";
  return [
    compared(`durable appends, 1 connection, ${least}`, one.ours, one.bare, "/s", null),
    compared(`durable appends, 32 connections, ${least}`, some.ours, some.bare, "/s", null),
    compared(`catch-up, ${least}`, read.ours, read.bare, "MB/s", null),
    compared("start of an empty server, against node alone", start.ours, start.bare, "ms", null),
  ];
}

/** Start time of our server without any stream; or of a program that does nothing. */
async function startMs(kind: Server, directory: string): Promise<number> {
  if (kind === "ours") {
    const server = await ServerProcess.start("ours", directory);
    await server.kill();
    return server.startedMs;
  }
  const began = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  return performance.now() - began;
}

async function turns(times: number, work: (kind: Server) => Promise<number>): Promise<Figures> {
  const figures: Figures = { bare: [], ours: [] };
  for (let turn = 0; turn < times; turn++) {
    const order = turn % 2 === 0 ? KINDS : KINDS.toReversed();
    for (const kind of order) figures[kind].push(await work(kind));
  }
  return figures;
}
