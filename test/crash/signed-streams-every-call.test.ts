/**
 * Every call: signed streams. Each disk call fails in turn, in each possible way, and the power
 * is cut afterwards. A run tries every tenth of these failures; VERBATIM_DEEP=1 tries all. Pins
 * are on the same disk. The verdict is never `tampered` or a lost head, and signing continues.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "vitest";
import { pinnedUnder } from "../../src/evidence/verify/data-directories.ts";
import { verifyDataDirectory } from "../../src/evidence/verify/verify-directory.ts";
import { type LocalStore, openLocalStore } from "../../src/streams/files/local-store.ts";
import { Heads, rememberedIn } from "../../src/trust/heads/heads.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { isTried } from "../support/seed.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import type { Call, Fault, Process } from "../torture/fault-files.ts";
import { keys, signer } from "../torture/signed-machine.ts";
import { type Failing, FailingMachine } from "./failing-machine.ts";

/** The store's behaviour after other failures is tested in streams-every-call.test.ts. */
const FAULTS: Record<Call, readonly Fault[]> = {
  open: [{ errno: "EIO" }],
  read: [{ errno: "EIO" }],
  write: [{ errno: "ENOSPC" }, { lacks: 9, caller: "dies" }],
  writeAt: [{ lacks: 3, caller: "dies" }],
  sync: [{ errno: "EIO" }],
  truncate: [{ errno: "EIO" }],
  syncDirectory: [{ errno: "EIO" }],
};

const JSON_TYPE = "application/json";
const EMPTY = { body: new Uint8Array(0), isClosed: false };

class Life {
  readonly #failing: FailingMachine;
  readonly #seed: number;
  readonly #indexPath: string;
  #now = 1_763_200_000_000;
  #ids = 0;

  constructor(seed: number, failing: Failing, indexPath: string) {
    this.#failing = new FailingMachine(seed, 64, failing);
    this.#seed = seed;
    this.#indexPath = indexPath;
  }

  get calls(): readonly Call[] {
    return this.#failing.calls;
  }

  async live(): Promise<void> {
    await this.#process(
      async (store) => {
        await store.create("/a", { contentType: JSON_TYPE, ...EMPTY });
        await store.create("/raw", EMPTY);
        await append(store, "/a", "1", "[2]");
        await append(store, "/raw", "\n\0bytes");
        await store.remove("/raw");
        await store.create("/raw", EMPTY);
        await append(store, "/raw", "again");
      },
      (this.#seed & 1) === 1,
    );
    if ((this.#seed & 2) === 2) this.#failing.machine.powerCut();
    await this.#process(
      async (store) => {
        await append(store, "/a", '"more"');
        await append(store, "/raw", "on");
      },
      (this.#seed & 4) === 4,
    );
    this.#failing.machine.powerCut();
    this.#failing.isSpared = true;
    await this.#judge();
    const totals = await this.#judge(async (store) => {
      for (const { path } of await store.list({ limit: 10 })) await append(store, path, "3");
    });
    for (const total of totals) assert.ok(total > 0, "nothing is signed any more");
  }

  async #process(work: (store: LocalStore) => Promise<void>, isKilled: boolean): Promise<void> {
    const process = this.#failing.machine.startProcess();
    const opening = this.#open(process).catch(() => null);
    const store = await this.#failing.untilOver(opening, process);
    if (store === null) return;
    await this.#failing.untilOver(
      work(store).catch(() => {}),
      process,
    );
    if (isKilled) process.kill();
    await this.#failing.untilOver(
      store.close().catch(() => {}),
      process,
    );
    process.kill();
  }

  /** Opens, runs `work`, closes; returns how many checkpoints each stream has. */
  async #judge(work: (store: LocalStore) => Promise<void> = async () => {}): Promise<number[]> {
    const { machine, scheduler } = this.#failing;
    const process = machine.startProcess();
    const store = await scheduler.finish(this.#open(process));
    await scheduler.finish(work(store));
    await scheduler.finish(store.close());
    return scheduler.finish(this.#verdicts(process));
  }

  async #verdicts(process: Process): Promise<number[]> {
    const host = this.#host(process);
    const book = await this.#heads(process).read();
    const totals: number[] = [];
    const verifying = verifyDataDirectory(host, "/data", {
      optionsFor: ({ id }, names) => {
        const remembered = rememberedIn(book, { place: names.place, id, names });
        return { crypto: nodeCrypto, keys, remembered };
      },
      pinnedIn: (names) => pinnedUnder(book.found, names),
    });
    for await (const { session, verdict, findings, checkpoints } of verifying) {
      const what = `${session}: ${JSON.stringify(findings)}`;
      assert.match(verdict, /^(?:verified|incomplete|unsigned)$/, what);
      totals.push(checkpoints.total);
    }
    return totals;
  }

  async #open(process: Process): Promise<LocalStore> {
    const heads = this.#heads(process);
    const book = await heads.read();
    return openLocalStore({
      dataDirectory: "/data",
      indexPath: this.#indexPath,
      host: this.#host(process),
      signing: { signer, keysFor: () => keys, heads, book, onWarning: () => {} },
      signingCadence: { appendsMax: 1 },
      writeBackBytes: 2500,
      openFilesMax: 2,
      now: () => this.#now++,
      newId: () => String(this.#ids++).padStart(16, "0"),
    });
  }

  #heads(process: Process): Heads {
    return new Heads({
      host: this.#host(process),
      stateDirectory: "/state",
      onWarning: () => {},
    });
  }

  #host(process: Process) {
    const started = "2026-01-01T00:00:00.000Z";
    return { files: process, clock: this.#failing.scheduler, process: { pid: 1, started } };
  }
}

async function append(store: LocalStore, path: string, ...bodies: string[]): Promise<void> {
  for (const body of bodies) await store.append(path, { body: Buffer.from(body), close: false });
}

test("no stream is found tampered and signing continues, whichever call fails while streams are signed", async () => {
  const directory = tempDirectory();
  const sound = new Life(0, null, join(directory, "sound.db"));
  await sound.live();
  let cases = 0;
  for (const [call, kind] of sound.calls.entries()) {
    for (const fault of FAULTS[kind]) {
      const seed = cases++;
      if (!isTried(seed, 10)) continue;
      const life = new Life(seed, { call, fault }, join(directory, `${seed}.db`));
      await life.live().catch((cause: unknown) => {
        throw new Error(`call ${call} (${kind}), ${JSON.stringify(fault)}, seed ${seed}`, {
          cause,
        });
      });
    }
  }
  assert.ok(cases > 200, `only ${cases} cases`);
});
