/**
 * A short life of a local store on a simulated machine, with every kind of disk access. The model
 * determines which states are allowed afterwards.
 *
 * `streams.db` is not on the simulated disk: it is a real file, which the test keeps, deletes or
 * replaces by an older copy between one process and the next.
 */

import { copyFileSync, existsSync, rmSync } from "node:fs";
import { type LocalStore, openLocalStore } from "../../src/streams/files/local-store.ts";
import { type ModelAppend, StreamModel } from "../conformance/stream-store/stream-model.ts";
import type { Call, Process } from "../torture/fault-files.ts";
import { type Failing, FailingMachine } from "./failing-machine.ts";

export type IndexFate = "kept" | "deleted" | "older";

type Deed = (model: StreamModel) => void;

const JSON_TYPE = "application/json";
const OLDER = ".older";

export class StreamsLife {
  readonly #failing: FailingMachine;
  readonly #seed: number;
  readonly #indexPath: string;
  readonly #fate: IndexFate;
  /** Every history that is consistent with the answers so far. */
  #worlds: Deed[][] = [[]];
  #now = 1_763_200_000_000;
  #ids = 0;

  /**
   * The seed also determines which of the two processes are killed, and where the power is cut too.
   */
  constructor(seed: number, failing: Failing, indexPath: string, fate: IndexFate) {
    this.#failing = new FailingMachine(seed, 64, failing);
    this.#seed = seed;
    this.#indexPath = indexPath;
    this.#fate = fate;
    this.#forgetIndex();
    rmSync(indexPath + OLDER, { force: true });
  }

  get calls(): readonly Call[] {
    return this.#failing.calls;
  }

  /** Runs the life; returns what is wrong at the end, with no failing call in the last process. */
  async live(): Promise<string[]> {
    await this.#process((store) => this.#youth(store), (this.#seed & 1) === 1);
    if ((this.#seed & 4) === 4) this.#failing.machine.powerCut();
    this.#decideIndexFate(true);
    await this.#process((store) => this.#age(store), (this.#seed & 2) === 2);
    this.#failing.machine.powerCut();
    this.#decideIndexFate(false);
    this.#failing.isSpared = true;
    const store = await this.#finish(this.#open(this.#failing.machine.startProcess()));
    const faults = await this.#finish(this.#judge(store));
    await this.#finish(store.close());
    return faults;
  }

  async #youth(store: LocalStore): Promise<void> {
    await this.#all([
      () => this.#create(store, "/a", ["1"]),
      () => this.#create(store, "/b", []),
      () => this.#append(store, "/a", { values: ["2", "[3]"], close: false }),
    ]);
    await this.#all(
      [0, 1, 2].map((seq) => () => {
        const producer = { id: "p", epoch: 0, seq };
        return this.#append(store, "/a", { values: [`{"p":${seq}}`], producer, close: false });
      }),
    );
    await this.#all([
      () => this.#append(store, "/b", { values: ['"b"'], streamSeq: "1", close: false }),
      () => this.#remove(store, "/b"),
      () => this.#create(store, "/b", ['"again"']),
    ]);
  }

  async #age(store: LocalStore): Promise<void> {
    const producer = { id: "p", epoch: 0, seq: 3 };
    await this.#all([
      () => this.#append(store, "/a", { values: ['{"p":3}'], producer, close: false }),
      () => this.#append(store, "/b", { values: ['"more"'], close: false }),
    ]);
    await this.#all([() => this.#remove(store, "/b"), () => this.#create(store, "/c", ["{}"])]);
    const last = { id: "p", epoch: 1, seq: 0 };
    await this.#all([
      () => this.#append(store, "/a", { values: ['"end"'], producer: last, close: true }),
      () => this.#create(store, "/b", ['"third"']),
    ]);
  }

  /** One process: it may be refused, it may die, and it may be killed instead of closing. */
  async #process(work: (store: LocalStore) => Promise<void>, isKilled: boolean): Promise<void> {
    const process = this.#failing.machine.startProcess();
    const opening = this.#open(process).then(
      (store) => store,
      () => null,
    );
    const store = await this.#failing.untilOver(opening, process);
    if (store === null) return;
    await this.#failing.untilOver(work(store), process);
    if (isKilled) process.kill();
    await this.#failing.untilOver(
      store.close().catch(() => {}),
      process,
    );
  }

  #finish<T>(work: Promise<T>): Promise<T> {
    return this.#failing.scheduler.finish(work);
  }

  #open(process: Process): Promise<LocalStore> {
    return openLocalStore({
      dataDirectory: "/data",
      indexPath: this.#indexPath,
      host: {
        files: process,
        clock: this.#failing.scheduler,
        process: { pid: 1, started: "2026-01-01T00:00:00.000Z" },
      },
      writeBackBytes: 1500,
      openFilesMax: 1,
      now: () => this.#now++,
      newId: () => String(this.#ids++).padStart(16, "0"),
    });
  }

  #decideIndexFate(isFirst: boolean): void {
    if (this.#fate === "deleted") this.#forgetIndex();
    if (this.#fate !== "older") return;
    if (isFirst && existsSync(this.#indexPath)) {
      copyFileSync(this.#indexPath, this.#indexPath + OLDER);
    } else if (existsSync(this.#indexPath + OLDER)) {
      this.#forgetIndex();
      copyFileSync(this.#indexPath + OLDER, this.#indexPath);
    }
  }

  #forgetIndex(): void {
    for (const ending of ["", "-wal", "-shm"]) rmSync(this.#indexPath + ending, { force: true });
  }

  async #all(deeds: (() => Promise<void>)[]): Promise<void> {
    await Promise.all(deeds.map((deed) => deed()));
  }

  #create(store: LocalStore, path: string, values: readonly string[]): Promise<void> {
    const body = Buffer.from(`[${values}]`);
    return this.#deed(
      store,
      (model) => model.create(path, values),
      () => store.create(path, { contentType: JSON_TYPE, body, isClosed: false }),
    );
  }

  #append(store: LocalStore, path: string, request: ModelAppend): Promise<void> {
    const { values, ...rest } = request;
    const body = Buffer.from(`[${values}]`);
    return this.#deed(
      store,
      (model) => model.append(path, request),
      () => store.append(path, { contentType: JSON_TYPE, body, ...rest }),
    );
  }

  #remove(store: LocalStore, path: string): Promise<void> {
    return this.#deed(
      store,
      (model) => model.remove(path),
      () => store.remove(path),
    );
  }

  /** Sends a request. With an answer it has happened; without, it may have. */
  async #deed(store: LocalStore, deed: Deed, ask: () => Promise<unknown>): Promise<void> {
    if (!store.health().isWritable) return;
    this.#worlds = this.#worlds.flatMap((world) => [world, [...world, deed]]);
    try {
      await ask();
    } catch {
      return;
    }
    this.#worlds = this.#worlds.filter((world) => world.includes(deed));
  }

  async #judge(store: LocalStore): Promise<string[]> {
    const found = JSON.stringify(await contentsOf(store));
    const models = this.#worlds.map((world) => {
      const model = new StreamModel();
      for (const deed of world) deed(model);
      return JSON.stringify([...model.contents()]);
    });
    return models.includes(found) ? [] : [`found ${found}, expected one of ${models.join(" or ")}`];
  }
}

async function contentsOf(store: LocalStore): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const { path, end, isClosed } of await store.list({ limit: 100 })) {
    const { bytes } = await store.read(path, "start", 1_000_000);
    found.push([path, { text: Buffer.from(bytes).toString("utf8"), end, isClosed }]);
  }
  return found;
}
