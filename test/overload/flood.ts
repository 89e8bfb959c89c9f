/**
 * Floods: a server gets five times the load that its disk can take. Broken promises are returned.
 *
 * They are returned and not asserted, so that `mutants.test.ts` can show that each is detected.
 * The disk waits for the test before each sync, so that waits are counted in syncs: no result
 * depends on the speed of the machine.
 */

import assert from "node:assert/strict";
import type { ServeOptions } from "../../src/server/settings/serve-options.ts";
import { startCompiled } from "../support/child.ts";
import { compiledText, type Mutation } from "../support/program.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { Bursts, type Outcome } from "./burst.ts";
import type { SlowServer } from "./slow-server.ts";

/** Appends per sync. */
const BATCH = 5;
/** In each round, the disk makes so many syncs, and five times as much is sent as they store. */
const SYNCS = 5;
const TIMES = 5;
const SENT = TIMES * SYNCS * BATCH;
/** Appends that may wait, of all streams and of one. */
const QUEUED_MAX = 50;
const STREAM_MAX = 2 * BATCH;

const BODY_BYTES = 64 * 1024;
const MIB = 1024 * 1024;
const TYPE = { "Content-Type": "text/plain" };
/** After so many answers of the server without a change, it has done what it can. */
const STILL = 10;

const HOUR_MS = 3_600_000;
/** Limits that a slow machine would exceed: an append waits as long as the test needs. */
const PATIENT: Partial<ServeOptions> = {
  headersTimeoutMs: HOUR_MS,
  requestTimeoutMs: HOUR_MS,
  keepAliveTimeoutMs: HOUR_MS,
  stalledMs: HOUR_MS,
};

/** What a server promises under any load. */
export type Promised =
  | ("answers" | "works" | "refuses" | "says when" | "memory" | "recovers")
  | ("keeps" | "undoes" | "fair");

/** Broken promises, and the evidence. */
export type Broken = Partial<Record<Promised, string>>;

/** Overloads all of eight streams. */
export async function floodAll(rounds: number, mutation?: Mutation): Promise<Broken> {
  const server = await Flooded.start({ queuedAppendsMax: QUEUED_MAX }, mutation);
  const streams = Array.from({ length: 8 }, (_, n) => `/v1/stream/s${n}`);
  for (const path of streams) await server.create(path);
  const target = (n: number) => streams[n % streams.length] ?? "";
  // The process allocates its own memory now.
  const warming = new Bursts(server.url);
  warming.send(SENT, target, () => numbered(-1));
  await until(() => warming.unanswered === 0, "answers");
  warming.close();
  const { memory: before } = await server.values();

  const bursts = new Bursts(server.url);
  server.allow(0);
  let waiting = 0;
  for (let round = 0; round < rounds; round++) {
    bursts.send(SENT, target, numbered);
    await server.settled(bursts);
    waiting = Math.max(waiting, bursts.unanswered);
    await server.sync(SYNCS, () => false);
    await server.settled(bursts);
  }
  const { memoryPeak } = server;
  // Only the queue and the batch in progress are left to wait for.
  await server.sync(QUEUED_MAX / BATCH + 2, () => bursts.unanswered === 0);
  await server.settled(bursts);
  const left = bursts.unanswered;
  server.allow(Number.POSITIVE_INFINITY);
  await until(() => bursts.unanswered === 0, "answers");
  bursts.close();
  const after = await server.syncsPerAppend("/v1/stream/after", 10);
  const stored = new Map<number, number>();
  for (const path of streams) await countRecords(`${server.url}${path}`, stored);
  return {
    ...answersBroken(bursts.outcomes, rounds),
    ...(waiting <= QUEUED_MAX + BATCH ? {} : { refuses: `${waiting} waited together` }),
    ...memoryBroken(before, memoryPeak, bursts.sent),
    ...(left === 0 ? {} : { recovers: `${left} waited longer than the queue may be` }),
    ...(after <= 2 ? {} : { recovers: `an append took ${after} syncs` }),
    ...storedBroken(bursts.outcomes, stored),
  };
}

/** Overloads one stream, and sends a little to another. */
export async function floodOne(rounds: number, mutation?: Mutation): Promise<Broken> {
  const server = await Flooded.start({ streamAppendsMax: STREAM_MAX }, mutation);
  for (const path of ["/v1/stream/flooded", "/v1/stream/other"]) await server.create(path);
  const [bursts, other] = [new Bursts(server.url), new Bursts(server.url)];
  let unfair = 0;
  server.allow(0);
  for (let round = 0; round < rounds; round++) {
    bursts.send(
      SENT,
      () => "/v1/stream/flooded",
      () => Buffer.from("x"),
    );
    await server.settled(bursts);
    other.send(
      1,
      () => "/v1/stream/other",
      () => Buffer.from("x"),
    );
    await server.settled(bursts, other);
    // Before it: the appends of the other stream, and the batch in progress.
    await server.sync(SYNCS, () => bursts.unanswered + other.unanswered === 0);
    await server.settled(bursts, other);
    unfair += other.unanswered;
  }
  server.allow(Number.POSITIVE_INFINITY);
  await until(() => bursts.unanswered + other.unanswered === 0, "answers");
  const refused = other.outcomes.filter(({ status }) => status !== 204).length;
  for (const each of [bursts, other]) each.close();
  return {
    ...answersBroken(bursts.outcomes, rounds),
    ...(unfair + refused === 0 ? {} : { fair: `${unfair} waited, ${refused} were refused` }),
  };
}

/** A server on a disk that the test drives, optionally with a planted bug. */
class Flooded {
  readonly url: string;
  memoryPeak = 0;
  readonly #say: (line: string) => void;

  private constructor(url: string, say: (line: string) => void) {
    this.url = url;
    this.#say = say;
  }

  static async start(
    options: Omit<ServeOptions, "dataDirectory">,
    mutation: Mutation | undefined,
  ): Promise<Flooded> {
    const slow: SlowServer = {
      batchRequestsMax: BATCH,
      options: { port: 0, dataDirectory: tempDirectory(), ...PATIENT, ...options },
    };
    const program = await compiledText('import "./test/overload/slow-server.ts";', mutation);
    const child = startCompiled(program, JSON.stringify(slow));
    const url = (await child.line()) ?? assert.fail("it did not start");
    return new Flooded(url, (line) => child.say(line));
  }

  /** How many syncs the disk may make from now on. */
  allow(syncs: number): void {
    this.#say(String(syncs));
  }

  /** Lets the disk make so many syncs; fewer are enough if `isEnough`. */
  async sync(count: number, isEnough: () => boolean): Promise<void> {
    const { syncs } = await this.values();
    this.allow(count);
    await until(async () => isEnough() || (await this.values()).syncs >= syncs + count, "syncs");
    this.allow(0);
  }

  /** Resolves when the server has received every append, and answered those that it can. */
  async settled(...bursts: readonly Bursts[]): Promise<void> {
    let [last, still] = ["", 0];
    await until(async () => {
      const { inFlight } = await this.values();
      const unanswered = bursts.reduce((sum, each) => sum + each.unanswered, 0);
      const now = `${inFlight} ${unanswered}`;
      still = now === last && inFlight - 1 === unanswered ? still + 1 : 0;
      last = now;
      return still === STILL;
    }, "an end of changes");
  }

  async values() {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    const value = (name: string) => Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1]);
    const memory = value("process_resident_memory_bytes");
    this.memoryPeak = Math.max(this.memoryPeak, memory);
    const [inFlight, syncs] = [value("verbatim_requests_in_flight"), value("verbatim_syncs_total")];
    return { memory, inFlight, syncs };
  }

  async create(path: string): Promise<void> {
    await (await fetch(`${this.url}${path}`, { method: "PUT", headers: TYPE })).text();
  }

  /** Of appends to a new stream, one after the other; infinite if one is refused. */
  async syncsPerAppend(path: string, count: number): Promise<number> {
    await this.create(path);
    const { syncs } = await this.values();
    for (let n = 0; n < count; n++) {
      const init = { method: "POST", headers: TYPE, body: "x" };
      if ((await fetch(`${this.url}${path}`, init)).status !== 204) return Number.POSITIVE_INFINITY;
    }
    return ((await this.values()).syncs - syncs) / count;
  }
}

function answersBroken(outcomes: readonly Outcome[], rounds: number): Broken {
  const taken = withStatus(outcomes, 204).length;
  const refused = withStatus(outcomes, 429, 503);
  const silent = refused.filter(({ hasRetryAfter }) => !hasRetryAfter).length;
  const other = outcomes.length - taken - refused.length;
  const broken: Broken = {};
  if (other > 0) broken.answers = `${other} had another answer than yes, or later`;
  // Refusals must not cost appends. Of a stream with a limit, fewer wait than the disk can store.
  if (taken < rounds * STREAM_MAX) broken.works = `only ${taken} were taken`;
  if (refused.length < outcomes.length / 2) broken.refuses = `only ${refused.length} were refused`;
  if (silent > 0) broken["says when"] = `${silent} were refused without Retry-After`;
  return broken;
}

/**
 * Four fifths of all bodies are refused; a server that kept them would need at least that much memory.
 * A correct server's growth is its connections, however long the flood is.
 */
function memoryBroken(before: number, peak: number, sent: number): Broken {
  const grown = (peak - before) / MIB;
  const max = ((sent * BODY_BYTES) / MIB) * (2 / 3);
  return grown < max ? {} : { memory: `it took ${Math.round(grown)} MiB more than before` };
}

/** Acknowledged appends are stored once; refused ones are not stored. */
function storedBroken(outcomes: readonly Outcome[], stored: ReadonlyMap<number, number>): Broken {
  const times = ({ n }: Outcome) => stored.get(n) ?? 0;
  const lost = withStatus(outcomes, 204).filter((each) => times(each) !== 1).length;
  const undone = withStatus(outcomes, 429, 503).filter((each) => times(each) !== 0).length;
  return {
    ...(lost === 0 ? {} : { keeps: `${lost} were acknowledged, and are not there once` }),
    ...(undone === 0 ? {} : { undoes: `${undone} were refused, and are there` }),
  };
}

/** A record that begins with its number; all have the same length. */
function numbered(n: number): Buffer {
  return Buffer.from(`${n}`.padEnd(BODY_BYTES - 1, ".").concat("\n"));
}

function withStatus(outcomes: readonly Outcome[], ...statuses: number[]): Outcome[] {
  return outcomes.filter(({ status }) => statuses.includes(status));
}

/** Counts how often each number is in a stream. */
async function countRecords(url: string, stored: Map<number, number>): Promise<void> {
  for (let offset = "-1"; ; ) {
    const response = await fetch(`${url}?offset=${offset}`);
    const text = await response.text();
    // A partial append would misalign all that follow it.
    for (let at = 0; at < text.length; at += BODY_BYTES) {
      const n = Number.parseInt(text.slice(at, at + 10), 10);
      stored.set(n, (stored.get(n) ?? 0) + 1);
    }
    offset = response.headers.get("stream-next-offset") ?? "";
    if (response.headers.has("stream-up-to-date")) return;
  }
}
