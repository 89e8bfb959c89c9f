/**
 * Every call: pinning and compacting. Each disk call fails in turn, in one way per run, with
 * VERBATIM_DEEP=1 in each possible way; the process may die in the middle of a write, and the
 * power is cut afterwards. Durable pins are kept, no whole line is broken, and pinning never
 * throws.
 */

import assert from "node:assert/strict";
import { test } from "vitest";
import type { Files } from "../../src/core/base/files.ts";
import type { Host } from "../../src/core/base/host.ts";
import { COMPACT_LOOK_BYTES, pinLine } from "../../src/trust/heads/head-file.ts";
import { Heads } from "../../src/trust/heads/heads.ts";
import { headOf, pinOf } from "../support/pins.ts";
import type { Call, Fault } from "../torture/fault-files.ts";
import { type Failing, FailingMachine } from "./failing-machine.ts";
import { triedFor } from "./faults.ts";

const STATE = "/state";
/** Long names, so that a few lines fill a file up to its compaction. */
const NAME = "n".repeat(8000);
const AT_REST = [0, 1].map((n) => `${NAME}${n}`);
const PINNED = `${NAME}-pinned`;

const FAULTS: Record<Call, readonly Fault[]> = {
  open: [{ errno: "EIO" }, { errno: "ENOSPC" }],
  read: [{ errno: "EIO" }],
  write: [
    { errno: "ENOSPC" },
    { lacks: 1, caller: "returns" },
    { lacks: 1, caller: "dies" },
    { lacks: 5000, caller: "dies" },
  ],
  writeAt: [{ errno: "EIO" }],
  sync: [{ errno: "EIO" }],
  truncate: [{ errno: "EIO" }],
  syncDirectory: [{ errno: "EIO" }],
};

class Life {
  readonly #failing: FailingMachine;
  /** The newest pin that was certainly durable. */
  #durable = -1;

  constructor(seed: number, failing: Failing) {
    this.#failing = new FailingMachine(seed, 4096, failing);
  }

  get calls(): readonly Call[] {
    return this.#failing.calls;
  }

  async live(): Promise<void> {
    await this.#fill();
    for (let process = 0; process < 2; process++) await this.#pinSome(2 * process);
    this.#failing.machine.powerCut();
    this.#failing.isSpared = true;
    const { found, problem } = await this.#heads(
      this.#failing.machine.startProcess(true),
      [],
    ).read();
    assert.equal(problem, null, "a line is broken that was whole");
    const seqOf = (id: string) =>
      found.lookup({ place: "rye:/project", id, log: null })?.pin.seq ?? -1;
    for (const id of AT_REST) assert.equal(seqOf(id), 100, "a pin at rest is lost");
    assert.ok(seqOf(PINNED) >= this.#durable, "a pin that was durable is lost");
    await this.#pinSome(10);
    assert.ok(this.#durable >= 10, "pinning does not continue");
  }

  get contentBytes(): number {
    return this.#failing.machine.contents(STATE, "heads.jsonl")?.length ?? 0;
  }

  /** Writes durable pins up to one line before the file is compacted. */
  async #fill(): Promise<void> {
    const directory = await this.#failing.machine
      .startProcess(true)
      .openDirectory(STATE, { create: true });
    const file = directory.open("heads.jsonl", "append");
    let bytes = 0;
    for (let seq = 0; ; seq++) {
      const [id, log] = [AT_REST[seq % 2] ?? "", 1 + (seq % 2)];
      const line = Buffer.from(pinLine(pinOf(id, Math.min(100, 10 * seq), { log })));
      bytes += line.length;
      if (bytes >= COMPACT_LOOK_BYTES) break;
      file.write(line);
    }
    await this.#failing.scheduler.finish(Promise.all([file.sync(), directory.sync()]));
    file.close();
  }

  /** Two pins, each flushed. */
  async #pinSome(from: number): Promise<void> {
    const warnings: string[] = [];
    const process = this.#failing.machine.startProcess();
    const heads = this.#heads(process, warnings);
    for (const seq of [from, from + 1]) {
      const told = warnings.length;
      heads.pin(headOf(PINNED, seq, { log: 9 }), "signed");
      await this.#failing.scheduler.finish(heads.flush());
      if (process.isAlive && warnings.length === told) this.#durable = seq;
    }
  }

  #heads(files: Files, warnings: string[]): Heads {
    const host: Host = {
      files,
      clock: this.#failing.scheduler,
      process: { pid: 1, started: "2026-01-01T00:00:00.000Z" },
    };
    const onWarning = (warning: string) => warnings.push(warning);
    return new Heads({ host, stateDirectory: STATE, onWarning });
  }
}

test("no durable pin is lost, whichever call fails while pinning and compacting, and however", async () => {
  const sound = new Life(1, null);
  await sound.live();
  assert.ok(sound.contentBytes < COMPACT_LOOK_BYTES / 2, "it was compacted");
  let lives = 0;
  for (const [call, kind] of sound.calls.entries()) {
    for (const fault of triedFor(call, FAULTS[kind])) {
      for (const seed of [1, 2]) {
        await new Life(seed, { call, fault }).live().catch((cause: unknown) => {
          throw new Error(`call ${call} (${kind}), ${JSON.stringify(fault)}, seed ${seed}`, {
            cause,
          });
        });
        lives++;
      }
    }
  }
  console.log(`heads: ${sound.calls.length} calls to the disk, ${lives} lives`);
});
