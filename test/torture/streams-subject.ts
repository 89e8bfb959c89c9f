/**
 * Streams subject: one data directory with a store of streams, whose index is kept, deleted or
 * put back from an earlier time whenever its process ends.
 *
 *   answers   are the oracle's, also to retries of producers
 *   crashes   what was answered is there once, in order, at its offset; what was not answered is
 *             there completely or not at all; what was refused because of a full disk, never
 *   reads     return the bytes that were appended, or an error when the disk failed
 *   opening   succeeds whatever a crash left
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { LocalStore } from "../../src/streams/files/local-store.ts";
import { StreamIndex } from "../../src/streams/files/lookup/stream-index.ts";
import type { Episode, Kind, Subject } from "./episode.ts";
import type { Process } from "./fault-files.ts";
import { flipBit, mismatchIn, readSome, wholeStore } from "./stream-checks.ts";
import { LIFETIME_MS } from "./stream-operations.ts";
import { NO_REQUEST_COUNTS, StreamRequests } from "./stream-requests.ts";
import { type IndexFate, StreamsMachine } from "./streams-machine.ts";

/** Turns of the event loop within which a few reads finish. */
const TURNS = 20;

const NO_COUNTS = {
  ...NO_REQUEST_COUNTS,
  readings: 0,
  sweeps: 0,
  bitsFlipped: 0,
  openings: 0,
  openingsRefused: 0,
  closings: 0,
  kills: 0,
  powerCuts: 0,
  faults: 0,
  failedStores: 0,
  indexesKept: 0,
  indexesDeleted: 0,
  indexesOlder: 0,
};

type Counts = typeof NO_COUNTS;

interface Running {
  readonly process: Process;
  readonly store: LocalStore;
  /** How many faults there were before it. */
  readonly faults: number;
}

export const streams: Kind<Running, Counts> = {
  noCounts: NO_COUNTS,
  pageBytes: [64, 512, 4096],
  newSubject: (episode) => new StreamsSubject(episode),

  /** Loads SQLite, which takes real time: the first episode would differ from its repetition. */
  async prepare() {
    const directory = newDirectory();
    (await StreamIndex.open(join(directory, "streams.db"))).close();
    remove(directory);
  },
};

class StreamsSubject implements Subject<Running> {
  readonly actions: Subject<Running>["actions"];
  readonly #episode: Episode<Running, Counts>;
  readonly #counts: Counts;
  readonly #directory = newDirectory();
  readonly #streams: StreamsMachine;
  readonly #requests: StreamRequests;
  /** Since the last opening that succeeded. */
  #hadFault = false;

  constructor(episode: Episode<Running, Counts>) {
    const { random, machine, counts } = episode;
    this.#episode = episode;
    this.#counts = counts;
    this.#streams = new StreamsMachine(machine, this.#directory);
    this.#requests = new StreamRequests(random, counts, (what) => episode.violated(what));
    this.actions = [
      [40, () => this.#ask()],
      [26, () => episode.ticks(8)],
      [5, () => episode.faults.planNext()],
      [6, () => this.#read()],
      [3, () => this.#sweep()],
      [2, () => this.#passTime()],
      [3, () => this.#close()],
      [4, () => episode.kill(this.#running)],
      [3, () => machine.writeBack()],
      [2, () => this.#streams.copyIndex()],
      [2, () => this.#flipBit()],
      [4, () => episode.powerCut()],
    ];
  }

  urgent(): (() => void | Promise<void>) | null {
    if (this.#running.store.health().isWritable || !this.#episode.random.chance(0.3)) return null;
    return () => this.#episode.kill(this.#running);
  }

  /** One process at a time has the store open. */
  get #running(): Running {
    return this.#episode.writers[0] as Running;
  }

  onFault(): void {
    this.#hadFault = true;
  }

  onTick(): void {
    this.#requests.settle();
  }

  onEnd({ store }: Running): void {
    this.#requests.settle();
    if (!store.health().isWritable) this.#counts.failedStores++;
    this.#streams.endProcess(this.#indexFate());
  }

  dispose(): void {
    for (const { process } of this.#episode.writers) process.kill();
    remove(this.#directory);
  }

  #ask(): void {
    const { store, process } = this.#running;
    if (!store.health().isWritable) return;
    for (let n = this.#episode.random.below(4); n >= 0; n--) {
      this.#requests.ask(store, process, this.#streams.nowMs);
    }
  }

  async #read(): Promise<void> {
    const running = this.#running;
    this.#counts.readings++;
    this.#requests.settle();
    const { nowMs } = this.#streams;
    const { store, process } = running;
    const mismatch = await this.#episode.whileAlive(
      process,
      readSome(store, this.#requests.oracle, nowMs, this.#episode.random),
    );
    // An error is right if a call to the disk has failed or the process has died.
    const isExcused = this.#counts.faults > running.faults || !process.isAlive;
    if (mismatch !== null && !(mismatch.isError && isExcused))
      this.#episode.violated(mismatch.what);
  }

  /** Reads while a bit of a file is flipped. */
  async #flipBit(): Promise<void> {
    const { store, process } = this.#running;
    if (!process.isAlive) return;
    this.#requests.settle();
    this.#episode.isSpared = true;
    const { machine, nowMs } = this.#streams;
    const back = flipBit(machine, this.#episode.random);
    if (back !== null) {
      this.#counts.bitsFlipped++;
      const path = this.#episode.random.pick(this.#requests.oracle.paths(nowMs).concat("/a"));
      const mismatch = await withoutDisk(mismatchIn(store, this.#requests.oracle, path, nowMs));
      if (mismatch !== null && mismatch.code !== "STREAM_DAMAGED")
        this.#episode.violated(mismatch.what);
      back();
    }
    this.#episode.isSpared = false;
  }

  #sweep(): void {
    this.#counts.sweeps++;
    this.#running.store.sweep().catch(() => {}); // The next sweep does what this one could not.
  }

  /** Not with unanswered requests: each could fall before or after the end of a lifetime. */
  #passTime(): void {
    if (this.#requests.pending === 0) this.#streams.nowMs += 2 * LIFETIME_MS;
  }

  async #close(): Promise<void> {
    const running = this.#running;
    const { store, process } = running;
    this.#counts.closings++;
    await this.#episode.whileAlive(
      process,
      store.close().catch(() => {}), // The next open shows whether it lost anything.
    );
    this.#episode.end(running);
  }

  #indexFate(): IndexFate {
    const fate = this.#episode.random.pick(["kept", "kept", "kept", "older", "deleted"] as const);
    if (fate === "kept") this.#counts.indexesKept++;
    if (fate === "older") this.#counts.indexesOlder++;
    if (fate === "deleted") this.#counts.indexesDeleted++;
    return fate;
  }

  async open(): Promise<void> {
    const { faults } = this.#counts;
    const running = await this.#episode.open(async (process) => {
      return { process, store: await this.#streams.open(process), faults };
    });
    if (running === null) return this.#streams.endProcess(this.#indexFate());
    this.#episode.writers.push(running);
    this.#episode.isSpared = true;
    await this.#episode.scheduler.finish(this.#findOut(running.store));
    this.#episode.isSpared = false;
  }

  /** Everything answered must be there, and nothing else. */
  async #findOut(store: LocalStore): Promise<void> {
    const { nowMs } = this.#streams;
    this.#requests.findOut(await wholeStore(store), nowMs, this.#hadFault);
    this.#hadFault = false;
    for (const path of this.#requests.oracle.paths(nowMs)) {
      const mismatch = await mismatchIn(store, this.#requests.oracle, path, nowMs);
      if (mismatch !== null) this.#episode.violated(mismatch.what);
    }
  }

  /** The store still takes and answers requests. */
  async finish(): Promise<void> {
    this.#ask();
    for (let ticks = 0; this.#requests.pending > 0 && ticks < 1000; ticks++)
      await this.#episode.tick();
    if (this.#requests.pending > 0) this.#episode.violated("requests are not answered in the end");
    await this.#read();
    await this.#close();
  }
}

/** The result of reads that need no slow call; null when one is waiting for it. */
async function withoutDisk<T>(work: Promise<T | null>): Promise<T | null> {
  let result: T | null = null;
  void work.then((value) => {
    result = value;
  });
  for (let turns = 0; turns < TURNS && result === null; turns++) await setImmediate();
  return result;
}

function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), "verbatim-torture-"));
}

function remove(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
