/**
 * Every call: a signed session. Every fourth disk call fails in turn, in one way; with
 * VERBATIM_DEEP=1 each fails in each possible way. The verdict is never `tampered`, acknowledged
 * lines are there, and the chain continues.
 */

import assert from "node:assert/strict";
import { test } from "vitest";
import { VerbatimError } from "../../src/core/base/errors.ts";
import type { NewEntry } from "../../src/core/model/entry.ts";
import type { Session } from "../../src/sessions/store/session.ts";
import { sayable } from "../support/signing-user.ts";
import type { Call, Fault, Process } from "../torture/fault-files.ts";
import { SignedMachine, type SigningWay } from "../torture/signed-machine.ts";
import { type Failing, FailingMachine } from "./failing-machine.ts";
import { triedFor } from "./faults.ts";

const WAYS: readonly SigningWay[] = [
  { mode: "exclusive", durability: "disk", isEveryAppend: false },
  { mode: "shared", durability: "disk", isEveryAppend: true },
];

/** The log's behaviour after other failures is tested in every-call.test.ts. */
const FAILS: readonly Fault[] = [{ errno: "EIO" }, { errno: "ENOSPC" }];
const FAULTS: Record<Call, readonly Fault[]> = {
  open: FAILS,
  read: [{ errno: "EIO" }],
  write: [...FAILS, { lacks: 9, caller: "dies" }],
  writeAt: [{ errno: "EIO" }],
  sync: FAILS,
  truncate: [{ errno: "EIO" }],
  syncDirectory: [{ errno: "EIO" }],
};

/** One call in so many fails in a run. */
const EVERY = 4;

class Life {
  readonly #failing: FailingMachine;
  readonly #signed: SignedMachine;
  #said = 0;
  #acknowledged: string[] = [];

  constructor(dialect: string, failing: Failing) {
    this.#failing = new FailingMachine(1, 512, failing);
    this.#signed = new SignedMachine(dialect, this.#failing.machine, () => {});
  }

  get calls(): readonly Call[] {
    return this.#failing.calls;
  }

  /**
   * Records in each way, in its own process, cuts the power, and continues the session without
   * faults.
   */
  async live(): Promise<void> {
    for (const way of WAYS) await this.#record(way);
    this.#signed.machine.powerCut();
    this.#failing.isSpared = true;
    const before = await this.#judge();
    assert.equal(await this.#record(WAYS[0] as SigningWay), true, "it does not continue");
    const { verdict, checkpoints } = await this.#judge();
    assert.ok(
      checkpoints.total > before.checkpoints.total,
      `${verdict}: the chain does not continue`,
    );
  }

  /** A turn and the end, in its own process; returns whether all of it was acknowledged. */
  async #record(way: SigningWay): Promise<boolean> {
    const process = this.#signed.machine.startProcess();
    const heads = this.#signed.heads(process);
    const session = this.#signed.session(process, heads, way);
    let isWell = true;
    const entries = [...this.#turn(), END];
    // Entire's end is its context.md, which this machine does not have.
    const kinds = session.dialect.name === "entire" ? "homeagent" : session.dialect.name;
    for (const entry of sayable(kinds, entries)) {
      isWell = (await this.#append(process, session, entry)) && isWell;
    }
    await this.#whileAlive(process, session.close());
    await this.#whileAlive(process, heads.flush());
    process.kill();
    return isWell;
  }

  async #append(process: Process, session: Session, entry: NewEntry): Promise<boolean> {
    const isTaken = await this.#whileAlive(process, session.append(entry));
    const said = JSON.stringify(entry).match(/said \d+\./)?.[0];
    if (isTaken && said) this.#acknowledged.push(said);
    return isTaken;
  }

  /** Runs until the work is done or its process is dead; returns whether it was done. */
  async #whileAlive(process: Process, work: Promise<unknown>): Promise<boolean> {
    let isOver = false;
    let refusal: unknown = null;
    const over = (error: unknown) => {
      isOver = true;
      refusal = error;
    };
    work.then(() => over(null), over);
    while (!isOver && process.isAlive) await this.#failing.scheduler.tick();
    if (refusal !== null) assertOurs(refusal);
    return isOver && refusal === null;
  }

  #turn(): NewEntry[] {
    const message = (role: "user" | "assistant"): NewEntry => ({
      kind: "message",
      role,
      parts: [{ type: "text", text: `said ${this.#said++}.` }],
    });
    return [{ kind: "turn_start" }, message("user"), message("assistant"), { kind: "turn_end" }];
  }

  async #judge() {
    const report = await this.#failing.scheduler.finish(this.#signed.verify());
    const { verdict, findings } = report;
    assert.match(verdict, /^(verified|incomplete)$/, JSON.stringify(findings));
    const contents = this.#signed.contents()?.toString("utf8") ?? "";
    for (const said of this.#acknowledged) assert.ok(contents.includes(said), `${said} is lost`);
    return report;
  }
}

const END: NewEntry = { kind: "end" };

/** A failing disk is reported as an error of ours, or the process died; nothing else is thrown. */
function assertOurs(error: unknown): void {
  const isDeath = error instanceof Error && "code" in error && error.code === "EDEAD";
  assert.ok(error instanceof VerbatimError || isDeath, String(error));
}

test.each<string>(["rye", "entire", "homeagent"])(
  "a session of %s is never found tampered and continues, whichever call fails while it is signed",
  async (dialect) => {
    const sound = new Life(dialect, null);
    await sound.live();
    let lives = 0;
    for (const [call, kind] of sound.calls.entries()) {
      for (const fault of triedFor(call, FAULTS[kind], EVERY)) {
        await new Life(dialect, { call, fault }).live().catch((cause: unknown) => {
          throw new Error(`call ${call} (${kind}), ${JSON.stringify(fault)}`, { cause });
        });
        lives++;
      }
    }
    assert.ok(lives >= sound.calls.length / 8, `only ${lives} lives`);
  },
);
