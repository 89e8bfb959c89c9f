/**
 * Round: all measures of both servers, which run side by side on the same disk.
 *
 * They take turns, a short slice each, and which one begins changes: a disturbance that is longer than a
 * slice affects both (measure/compare.ts, C1). The other one is idle.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../measure/compare.ts";
import { say } from "../measure/frame.ts";
import { type Kind, ServerProcess } from "./server-process.ts";

export interface Amounts {
  readonly rounds: number;
  /** The slices of each measure of appends, and their length. */
  readonly slices: number;
  readonly sliceMs: number;
  readonly streams: number;
  readonly longBytes: number;
  readonly catchUps: number;
  readonly tails: number;
  readonly readers: number;
  readonly messages: number;
}

export interface Figures {
  /** Appends per second to one stream, by connections. */
  readonly perSecond: Readonly<Record<1 | 32 | 128, number>>;
  readonly p99At32: number;
  readonly cpuMsAt32: number;
  readonly manyPerSecond: number;
  readonly manyAnswersPerSecond: number;
  readonly manyErrors: number;
  readonly restartMs: number;
  readonly catchUpPerSecond: number;
  readonly firstByteMs: number;
  readonly peakMegabytes: number;
  readonly tailMs: number;
  readonly eventP50: number;
  readonly eventP99: number;
  readonly eventsMissing: number;
}

export type Both<T> = Readonly<Record<Kind, T>>;

type Servers = Both<ServerProcess>;
/** The client's output: figures by name. */
type Answers<N extends string> = Readonly<Record<N, number>>;

const KINDS: readonly Kind[] = ["reference", "ours"];

export async function measureRound(scratch: string, amounts: Amounts): Promise<Both<Figures>> {
  const parts: Both<Partial<Figures>>[] = [];
  for (const part of [appending, manyStreams, longStream, events]) {
    say(`  ${part.name}`);
    const directory = join(scratch, part.name);
    parts.push(await part(directory, amounts));
    for (const kind of KINDS) rmSync(`${directory}-${kind}`, { recursive: true, force: true });
  }
  return both((kind) => Object.assign({}, ...parts.map((part) => part[kind])) as Figures);
}

async function appending(
  directory: string,
  { slices, sliceMs }: Amounts,
): Promise<Both<Partial<Figures>>> {
  const servers = await startBoth(directory);
  await turns(1, (kind) => servers[kind].ask("create", { prefix: "s", from: 0, to: 1, atOnce: 1 }));
  const append = (kind: Kind, atOnce: number) =>
    servers[kind].ask<Answers<"perSecond" | "appends" | "p99">>("appendFor", {
      path: "s0",
      atOnce,
      ms: sliceMs,
    });
  await turns(2, (kind) => append(kind, 32)); // Until the JIT compiler has finished.
  const one = await turns(slices, (kind) => append(kind, 1));
  const some = await turns(slices, async (kind) => {
    const before = servers[kind].cpuMs();
    const answers = await append(kind, 32);
    return { ...answers, cpuMs: servers[kind].cpuMs() - before };
  });
  const many = await turns(slices, (kind) => append(kind, 128));
  await killBoth(servers);
  return both((kind) => ({
    perSecond: {
      1: medianOf(one[kind], "perSecond"),
      32: medianOf(some[kind], "perSecond"),
      128: medianOf(many[kind], "perSecond"),
    },
    p99At32: medianOf(some[kind], "p99"),
    cpuMsAt32: sumOf(some[kind], "cpuMs") / sumOf(some[kind], "appends"),
  }));
}

async function manyStreams(
  directory: string,
  { streams, slices }: Amounts,
): Promise<Both<Partial<Figures>>> {
  const servers = await startBoth(directory);
  const perSlice = Math.ceil(streams / slices);
  const inSlices = (name: string) =>
    turns(slices, (kind, slice) => {
      const from = slice * perSlice;
      const to = Math.min(streams, from + perSlice);
      return servers[kind].ask<Answers<"perSecond" | "answersPerSecond" | "errors">>(name, {
        prefix: "s",
        from,
        to,
        atOnce: 32,
      });
    });
  await inSlices("create");
  const appended = await inSlices("appendEach");
  await killBoth(servers);
  const restarted = await turns(1, async (kind) => {
    const server = await ServerProcess.start(kind, `${directory}-${kind}`);
    await server.kill();
    return { ms: server.startedMs };
  });
  return both((kind) => ({
    manyPerSecond: medianOf(appended[kind], "perSecond"),
    manyAnswersPerSecond: medianOf(appended[kind], "answersPerSecond"),
    manyErrors: sumOf(appended[kind], "errors"),
    restartMs: medianOf(restarted[kind], "ms"),
  }));
}

async function longStream(
  directory: string,
  { longBytes, catchUps, tails }: Amounts,
): Promise<Both<Partial<Figures>>> {
  const filled = await startBoth(directory);
  await turns(1, (kind) => filled[kind].ask("fill", { path: "long", bytes: longBytes }));
  await killBoth(filled);
  // Other processes: the memory used for filling is not part of the peak.
  const servers = await startBoth(directory);
  const read = await turns(catchUps, async (kind) => {
    servers[kind].forgetPeak();
    const answers = await servers[kind].ask<Answers<"perSecond" | "firstMs">>("catchUp", {
      path: "long",
    });
    return { ...answers, megabytes: servers[kind].peakMegabytes() };
  });
  const tail = await turns(2, (kind) =>
    servers[kind].ask<Answers<"p50">>("tail", { path: "long", times: tails }),
  );
  await killBoth(servers);
  return both((kind) => ({
    catchUpPerSecond: medianOf(read[kind], "perSecond"),
    firstByteMs: medianOf(read[kind], "firstMs"),
    peakMegabytes: Math.max(...read[kind].map(({ megabytes }) => megabytes)),
    tailMs: medianOf(tail[kind], "p50"),
  }));
}

async function events(
  directory: string,
  { readers, messages }: Amounts,
): Promise<Both<Partial<Figures>>> {
  const servers = await startBoth(directory);
  const heard = await turns(2, (kind, turn) =>
    servers[kind].ask<Answers<"p50" | "p99" | "missing">>("events", {
      path: `e${turn}`,
      readers,
      messages,
      everyMs: 50,
    }),
  );
  await killBoth(servers);
  return both((kind) => ({
    eventP50: medianOf(heard[kind], "p50"),
    eventP99: medianOf(heard[kind], "p99"),
    eventsMissing: sumOf(heard[kind], "missing"),
  }));
}

async function startBoth(directory: string): Promise<Servers> {
  return {
    ours: await ServerProcess.start("ours", `${directory}-ours`),
    reference: await ServerProcess.start("reference", `${directory}-reference`),
  };
}

async function killBoth(servers: Servers): Promise<void> {
  for (const kind of KINDS) await servers[kind].kill();
}

/** Runs a piece of work on each server, that many times, alternately. */
async function turns<T>(
  times: number,
  work: (kind: Kind, turn: number) => Promise<T>,
): Promise<Both<T[]>> {
  const results: Both<T[]> = { ours: [], reference: [] };
  for (let turn = 0; turn < times; turn++) {
    const order = turn % 2 === 0 ? KINDS : KINDS.toReversed();
    for (const kind of order) results[kind].push(await work(kind, turn));
  }
  return results;
}

function both<T>(of: (kind: Kind) => T): Both<T> {
  return { ours: of("ours"), reference: of("reference") };
}

function medianOf<N extends string>(answers: readonly Answers<N>[], name: N): number {
  return median(answers.map((answer) => answer[name]));
}

function sumOf<N extends string>(answers: readonly Answers<N>[], name: N): number {
  return answers.reduce((sum, answer) => sum + answer[name], 0);
}
