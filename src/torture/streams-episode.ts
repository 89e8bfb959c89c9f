/**
 * Streams episode: one data directory on one machine, from its first stream to its last crash.
 *
 *   answers   are the oracle's, retries of producers included
 *   crashes   what was answered is there once, in order, at its offset; what was not, wholly or
 *             not at all; what was refused for want of room, never
 *   reads     give the bytes that were appended, or an error where the disk failed
 *   opening   succeeds whatever a crash left
 */

import { setImmediate } from "node:timers/promises";
import type { LocalStore } from "../streams/local-store.ts";
import { Ambush } from "./ambush.ts";
import type { Process } from "./fault-files.ts";
import { Random } from "./random.ts";
import type { Violation } from "./report.ts";
import { Scheduler } from "./scheduler.ts";
import { LIFETIME_MS } from "./stream-deeds.ts";
import { flipBit, readSome, wholeStore, wrongIn } from "./stream-look.ts";
import { StreamRequests } from "./stream-requests.ts";
import { type IndexFate, StreamsMachine } from "./streams-machine.ts";
import type { StreamsCounts } from "./streams-report.ts";

/** In which a few reads come to an end. */
const TURNS = 20;

interface Running {
  readonly process: Process;
  readonly store: LocalStore;
  /** How many faults there were before it. */
  readonly faults: number;
}

export class StreamsEpisode {
  readonly #seed: number;
  readonly #counts: StreamsCounts;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  readonly #ambush: Ambush;
  readonly #streams: StreamsMachine;
  readonly #requests: StreamRequests;
  readonly #violations: Violation[] = [];
  #running: Running | null = null;
  /** While somebody looks whether all is well, nothing fails. */
  #isSpared = false;
  #step = 0;

  constructor(seed: number, counts: StreamsCounts, directory: string) {
    this.#seed = seed;
    this.#counts = counts;
    const random = new Random(seed);
    this.#random = random;
    this.#scheduler = new Scheduler(random);
    this.#requests = new StreamRequests(random, counts, (what) => this.#violated(what));
    this.#ambush = new Ambush(random, () => {
      counts.faults++;
    });
    const pageBytes = random.pick([64, 512, 4096]);
    const plan = (call: Parameters<Ambush["plan"]>[0]) =>
      this.#isSpared ? null : this.#ambush.plan(call);
    const machine = { random, scheduler: this.#scheduler, pageBytes, plan };
    this.#streams = new StreamsMachine(machine, directory);
  }

  async run(steps: number): Promise<Violation[]> {
    for (this.#step = 1; this.#step <= steps && this.#violations.length === 0; this.#step++) {
      await this.#act();
    }
    if (this.#violations.length === 0) await this.#crashAndGoOn();
    if (this.#running !== null) this.#end(this.#running, "deleted");
    return this.#violations;
  }

  async #act(): Promise<void> {
    const random = this.#random;
    const running = this.#running;
    if (running === null) return this.#open();
    if (!running.process.isAlive) return this.#end(running); // Some die writing.
    const { isWritable } = running.store.health();
    if (!isWritable && random.chance(0.3)) return this.#kill(running);
    const die = random.below(100);
    if (die < 40) this.#ask(running);
    else if (die < 66) for (let n = random.below(8); n >= 0; n--) await this.#tick();
    else if (die < 71) this.#ambush.lay();
    else if (die < 77) await this.#read(running);
    else if (die < 80) this.#sweep(running);
    else if (die < 82) this.#passTime();
    else if (die < 85) await this.#close(running);
    else if (die < 89) this.#kill(running);
    else if (die < 92) this.#streams.machine.writeBack();
    else if (die < 94) this.#streams.copyIndex();
    else if (die < 96) await this.#flipBit(running);
    else this.#powerCut(running);
  }

  #ask({ store, process }: Running): void {
    if (!store.health().isWritable) return;
    for (let n = this.#random.below(4); n >= 0; n--) {
      this.#requests.ask(store, process, this.#streams.nowMs);
    }
  }

  /** Lets one slow thing happen; what was answered by it is compared with the oracle. */
  async #tick(): Promise<void> {
    await this.#scheduler.tick();
    this.#requests.settle();
  }

  async #read(running: Running): Promise<void> {
    this.#counts.readings++;
    this.#requests.settle();
    const { nowMs } = this.#streams;
    const { store, process } = running;
    const wrong = await this.#whileAlive(
      process,
      readSome(store, this.#requests.oracle, nowMs, this.#random),
    );
    // Whether the disk failed it or its process was ambushed just now: it said so.
    const isExcused = this.#counts.faults > running.faults || !process.isAlive;
    if (wrong !== null && !(wrong.isError && isExcused)) this.#violated(wrong.what);
  }

  /** A bit of a file is another than it was, and then itself again. */
  async #flipBit({ store, process }: Running): Promise<void> {
    if (!process.isAlive) return;
    this.#requests.settle();
    this.#isSpared = true;
    const { machine, nowMs } = this.#streams;
    const back = await flipBit(machine, this.#random);
    if (back !== null) {
      this.#counts.bitsFlipped++;
      const path = this.#random.pick(this.#requests.oracle.paths(nowMs).concat("/a"));
      const wrong = await withoutDisk(wrongIn(store, this.#requests.oracle, path, nowMs));
      if (wrong !== null && wrong.code !== "STREAM_DAMAGED") this.#violated(wrong.what);
      back();
    }
    this.#isSpared = false;
  }

  #sweep({ store }: Running): void {
    this.#counts.sweeps++;
    store.sweep().catch(() => {}); // What it could not do is done another time.
  }

  /** Not while anybody waits: nobody could say which side of an end of life it fell on. */
  #passTime(): void {
    if (this.#requests.pending === 0) this.#streams.nowMs += 2 * LIFETIME_MS;
  }

  async #close(running: Running): Promise<void> {
    const { store, process } = running;
    this.#counts.closings++;
    await this.#whileAlive(
      process,
      store.close().catch(() => {}), // Opening it again will show.
    );
    this.#end(running);
  }

  #kill(running: Running): void {
    this.#counts.kills++;
    this.#end(running);
  }

  #powerCut(running: Running): void {
    this.#counts.powerCuts++;
    running.process.kill();
    this.#streams.machine.powerCut();
    this.#end(running);
  }

  #end({ store, process }: Running, fate = this.#indexFate()): void {
    this.#requests.settle();
    if (!store.health().isWritable) this.#counts.failedStores++;
    this.#streams.endProcess(process, fate);
    this.#running = null;
  }

  #indexFate(): IndexFate {
    const fate = this.#random.pick(["kept", "kept", "kept", "older", "deleted"] as const);
    if (fate === "kept") this.#counts.indexesKept++;
    if (fate === "older") this.#counts.indexesOlder++;
    if (fate === "deleted") this.#counts.indexesDeleted++;
    return fate;
  }

  /** Opens the store again; with no ambush laid, that must succeed. */
  async #open(): Promise<void> {
    if (this.#random.chance(0.7)) this.#ambush.lift();
    const mustSucceed = !this.#ambush.isLaid;
    const { faults } = this.#counts;
    const process = this.#streams.machine.startProcess();
    this.#counts.openings++;
    const opened = this.#streams.open(process).then(
      (store) => ({ store }),
      (failure: unknown) => ({ failure }),
    );
    const outcome = await this.#whileAlive(process, opened);
    if (outcome === null || "failure" in outcome) {
      this.#counts.openingsRefused++;
      if (mustSucceed) this.#violated(`opening failed: ${String(outcome?.failure)}`);
      this.#streams.endProcess(process, this.#indexFate());
      return;
    }
    this.#running = { process, store: outcome.store, faults };
    this.#isSpared = true;
    await this.#scheduler.finish(this.#findOut(outcome.store));
    this.#isSpared = false;
  }

  /** Until the work is done, or its process dead: then null. */
  async #whileAlive<T>(process: Process, work: Promise<T>): Promise<T | null> {
    let done: { readonly value: T } | null = null;
    void work.then((value) => {
      done = { value };
    });
    while (done === null && process.isAlive) await this.#tick();
    return (done as { readonly value: T } | null)?.value ?? null;
  }

  /** Is everything there that was answered, and all else as it was? */
  async #findOut(store: LocalStore): Promise<void> {
    const { nowMs } = this.#streams;
    this.#requests.findOut(await wholeStore(store), nowMs);
    for (const path of this.#requests.oracle.paths(nowMs)) {
      const wrong = await wrongIn(store, this.#requests.oracle, path, nowMs);
      if (wrong !== null) this.#violated(wrong.what);
    }
  }

  /** Power goes; the store is opened once more, and takes and gives as ever. */
  async #crashAndGoOn(): Promise<void> {
    if (this.#running !== null) this.#powerCut(this.#running);
    this.#ambush.lift();
    await this.#open();
    const running = this.#running as Running | null;
    if (running === null || this.#violations.length > 0) return;
    this.#ask(running);
    for (let ticks = 0; this.#requests.pending > 0 && ticks < 1000; ticks++) await this.#tick();
    if (this.#requests.pending > 0) this.#violated("in the end it does not answer");
    await this.#read(running);
    await this.#close(running);
  }

  #violated(what: string): void {
    this.#violations.push({ seed: this.#seed, step: this.#step, what });
  }
}

/** What comes of it while no slow thing happens; null when it waits for one. */
async function withoutDisk<T>(work: Promise<T | null>): Promise<T | null> {
  let result: T | null = null;
  void work.then((value) => {
    result = value;
  });
  for (let turns = 0; turns < TURNS && result === null; turns++) await setImmediate();
  return result;
}
