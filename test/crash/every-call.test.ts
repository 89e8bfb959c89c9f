/**
 * Every call: one ordinary life of a log. Each disk call fails in turn, in each possible way, and the
 * power is cut afterwards. No call is left out.
 */

import assert from "node:assert/strict";
import { test } from "vitest";
import { VerbatimError } from "../../src/core/base/errors.ts";
import type { Durability, LogMode } from "../../src/core/log/log-options.ts";
import { LogWriter } from "../../src/core/log/writer.ts";
import type { Call } from "../torture/fault-files.ts";
import { Ledger } from "../torture/ledger.ts";
import { type Failing, FailingMachine } from "./failing-machine.ts";
import { FAULTS, triedFor } from "./faults.ts";

const [DIRECTORY, NAME] = ["/logs", "log.jsonl"];

class Life {
  readonly #failing: FailingMachine;
  readonly #ledger = new Ledger();
  #lines = 0;

  constructor(seed: number, failing: Failing) {
    this.#failing = new FailingMachine(seed, 16, failing);
  }

  get calls(): readonly Call[] {
    return this.#failing.calls;
  }

  /**
   * Opens in each mode, appends, flushes, leaves a torn tail, loses power; returns what is wrong.
   */
  async live(): Promise<string[]> {
    await this.#session(0, "exclusive", "disk");
    await this.#session(1, "exclusive", "os");
    this.#leaveTornTail();
    await this.#session(2, "shared", "disk");
    await this.#session(3, "shared", "os");
    this.#failing.machine.powerCut();
    this.#ledger.powerWasCut();
    const faults = this.#ledger.faults(this.#contents());
    this.#failing.isSpared = true;
    await this.#open("exclusive", "disk");
    return [...faults, ...this.#ledger.faultsOfLines(this.#contents())];
  }

  async #session(writer: number, mode: LogMode, durability: Durability): Promise<void> {
    const log = await this.#open(mode, durability).catch(expectRefusal);
    if (!log) return;
    this.#ledger.reported(this.#contents().subarray(0, log.recovery.end));
    for (let round = 0; round < 3; round++) {
      const appends = [1, 2].map(() => this.#append(log, writer, durability));
      await this.#failing.scheduler.finish(Promise.all(appends));
    }
    const flushed = this.#ledger.flushing(writer);
    const closing = log.flush().then(() => log.close());
    await this.#failing.scheduler.finish(closing).then(flushed, async (error: unknown) => {
      expectRefusal(error);
      await this.#failing.scheduler.finish(log.close().catch(() => {})); // It reports the same again.
    });
  }

  #append(log: LogWriter, writer: number, durability: Durability): Promise<void> {
    const text = JSON.stringify({ writer, line: this.#lines++ });
    this.#ledger.issue(text, writer);
    const isDurable = durability === "disk";
    return log.append(Buffer.from(text)).then((end) => {
      this.#ledger.acknowledge(text, writer, end, isDurable);
    }, expectRefusal);
  }

  #open(mode: LogMode, durability: Durability): Promise<LogWriter> {
    const host = {
      files: this.#failing.machine.startProcess(),
      clock: this.#failing.scheduler,
      process: { pid: 1, started: "2026-01-01T00:00:00.000Z" },
    };
    const options = { mode, durability, lockWaitMs: 50 };
    return this.#failing.scheduler.finish(LogWriter.open(host, `${DIRECTORY}/${NAME}`, options));
  }

  #leaveTornTail(): void {
    const directory = this.#failing.machine
      .startProcess(true)
      .openDirectory(DIRECTORY, { create: true });
    void directory.then((opened) => opened.open(NAME, "append").write(Buffer.from('{"torn":')));
  }

  #contents(): Buffer {
    return this.#failing.machine.contents(DIRECTORY, NAME) ?? Buffer.alloc(0);
  }
}

/** A failing disk is reported as an error of ours, or the process died; nothing else is thrown. */
function expectRefusal(error: unknown): undefined {
  const isDeath = error instanceof Error && "code" in error && error.code === "EDEAD";
  assert.ok(error instanceof VerbatimError || isDeath, String(error));
}

test("nothing acknowledged is lost, whichever disk call fails and however", async () => {
  const sound = new Life(1, null);
  assert.deepEqual(await sound.live(), []);
  for (const call of Object.keys(FAULTS)) assert.ok(sound.calls.includes(call as Call), call);

  for (const [call, kind] of sound.calls.entries()) {
    for (const fault of FAULTS[kind]) {
      // One of them in a run; VERBATIM_DEEP=1 tries all.
      for (const seed of triedFor(call, [1, 2, 3])) {
        const life = new Life(seed, { call, fault });
        const faults = await life.live();
        assert.deepEqual(
          faults,
          [],
          `call ${call} (${kind}), ${JSON.stringify(fault)}, seed ${seed}`,
        );
      }
    }
  }
});
