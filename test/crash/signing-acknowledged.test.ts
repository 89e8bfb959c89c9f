/**
 * Acknowledged means signed: the first appends of a session, with a crash at each disk call, or that
 * call failing, and a power cut right after it. A run tries one trouble for each call, and half of the
 * ways to sign; VERBATIM_DEEP=1 tries all.
 *
 *   by turns       no acknowledged line is in a log without a genesis
 *   every append   every acknowledged line is under a durable checkpoint
 *   sidecar        only an empty log may be without one
 */

import assert from "node:assert/strict";
import { test } from "vitest";
import type { NewEntry } from "../../src/core/model/entry.ts";
import { hasSidecar } from "../../src/trust/proof/envelopes.ts";
import { type Call, type Fault, Machine, type Process } from "../torture/fault-files.ts";
import { Random, Scheduler } from "../torture/scheduler.ts";
import { SignedMachine, type SigningWay } from "../torture/signed-machine.ts";
import { triedFor } from "./faults.ts";

const WAYS: readonly SigningWay[] = [
  { mode: "exclusive", durability: "disk", isEveryAppend: false },
  { mode: "exclusive", durability: "os", isEveryAppend: false },
  { mode: "exclusive", durability: "disk", isEveryAppend: true },
  { mode: "shared", durability: "disk", isEveryAppend: true },
];

/** The process dies during a call that the kernel completes; or the call fails. */
type Trouble = "death" | Fault;
const TROUBLES: Record<Call, readonly Trouble[]> = {
  open: [{ errno: "EIO" }],
  read: [{ errno: "EIO" }],
  write: ["death", { errno: "EIO" }, { errno: "ENOSPC" }, { lacks: 9, caller: "returns" }],
  writeAt: ["death"],
  sync: ["death", { errno: "EIO" }],
  truncate: ["death", { errno: "EIO" }],
  syncDirectory: ["death", { errno: "EIO" }],
};

interface Acknowledged {
  readonly text: string;
  readonly end: number;
}

class Beginning {
  readonly calls: Call[] = [];
  readonly #dialect: string;
  readonly #way: SigningWay;
  readonly #scheduler: Scheduler;
  readonly #signed: SignedMachine;
  readonly #acknowledged: Acknowledged[] = [];
  readonly #process: Process;
  #isCounting = true;
  #said = 0;

  constructor(
    dialect: string,
    way: SigningWay,
    trouble: { readonly call: number; readonly with: Trouble } | null,
    seed: number,
  ) {
    const random = new Random(seed);
    this.#dialect = dialect;
    this.#way = way;
    this.#scheduler = new Scheduler(random);
    let process: Process | null = null;
    const plan = (call: Call): Fault | null => {
      if (!this.#isCounting || this.calls.push(call) - 1 !== trouble?.call) return null;
      if (trouble.with !== "death") return trouble.with;
      process?.kill();
      return null;
    };
    const options = { random, scheduler: this.#scheduler, pageBytes: 512, plan };
    this.#signed = new SignedMachine(dialect, new Machine(options), () => {});
    process = this.#signed.machine.startProcess();
    this.#process = process;
  }

  /** Appends until something fails, then cuts the power; acknowledged lines must be signed. */
  async live(): Promise<void> {
    await this.#record(this.#process, 3);
    this.#isCounting = false;
    this.#signed.machine.powerCut();
    await this.#judge();
    await this.#record(this.#signed.machine.startProcess(), 1, true);
    const { verdict } = await this.#scheduler.finish(this.#signed.verify());
    assert.match(verdict, /^(verified|incomplete)$/, "after continuing");
  }

  /** Three messages are the fewest that begin a second turn, which ends the first. */
  async #record(process: Process, messages: number, mustSucceed = false): Promise<void> {
    const heads = this.#signed.heads(process);
    const session = this.#signed.session(process, heads, this.#way);
    for (let n = 0; n < messages; n++) {
      const entry = this.#message(n % 2 === 0 ? "user" : "assistant");
      const end = await this.#whileAlive(process, session.append(entry));
      if (mustSucceed) assert.ok(end !== null, "it does not continue");
      if (end === null) return;
      const text = JSON.stringify(entry).match(/said \d+\./)?.[0] ?? "";
      this.#acknowledged.push({ text, end });
    }
  }

  #message(role: "user" | "assistant"): NewEntry {
    return { kind: "message", role, parts: [{ type: "text", text: `said ${this.#said++}.` }] };
  }

  async #whileAlive(process: Process, work: Promise<number>): Promise<number | null> {
    let settled: { readonly end: number | null } | null = null;
    work.then(
      (end) => {
        settled = { end };
      },
      () => {
        settled = { end: null };
      },
    );
    while (settled === null && process.isAlive) await this.#scheduler.tick();
    return (settled as { readonly end: number | null } | null)?.end ?? null;
  }

  async #judge(): Promise<void> {
    const report = await this.#scheduler.finish(this.#signed.verify());
    const { verdict, findings, signed_through: through } = report;
    const contents = this.#signed.contents()?.toString("utf8") ?? "";
    const about = `${verdict} ${JSON.stringify(findings)} ${JSON.stringify(contents)}`;
    const isSigned = verdict === "verified" || verdict === "incomplete";
    const isNothing = contents === "" && ["unsigned", "unreadable"].includes(verdict);
    const isBare = verdict === "unsigned" && !hasSidecar(this.#dialect);
    assert.ok(isSigned || ((isNothing || isBare) && this.#acknowledged.length === 0), about);
    if (this.#way.durability === "os") return; // The last lines may be lost.
    for (const { text, end } of this.#acknowledged) {
      assert.ok(contents.includes(text), `${text} is lost: ${about}`);
      const isCovered = !this.#way.isEveryAppend || (through?.byte_offset ?? -1) >= end;
      assert.ok(isCovered, `${text} is not signed: ${about}`);
    }
  }
}

test.each<string>(["verbatim", "rye", "entire", "homeagent", "claude", "sdk"])(
  "an acknowledged line of a signed session of %s is signed, whichever call a crash interrupts",
  async (dialect) => {
    let lives = 0;
    for (const [at, way] of WAYS.entries()) {
      const sound = new Beginning(dialect, way, null, 1);
      await sound.live();
      for (const [call, kind] of sound.calls.entries()) {
        for (const trouble of triedFor(call + at, TROUBLES[kind], 2)) {
          await new Beginning(dialect, way, { call, with: trouble }, call).live().catch((cause) => {
            const what = JSON.stringify({ way: at, call, kind, trouble });
            throw new Error(`${what}: ${String(cause)}`, { cause });
          });
          lives++;
        }
      }
    }
    assert.ok(lives > 50, `only ${lives} lives`);
  },
);
