/**
 * Signing episode: one signed session on one machine, from its first line to its last crash.
 *
 * After every kill and every power cut, and now and then between, somebody verifies it:
 *
 *   verdict  `verified` or `incomplete`; `unsigned` or not there at all only while nothing that is
 *            signed was ever found by an opening. Nobody tampers here, so nothing else is true.
 *   lines    what was acknowledged is there, once, as far as its durability goes
 *   chain    opening to sign is never refused for what a crash left, and goes on
 */

import { VerbatimError } from "../base/errors.ts";
import type { Durability } from "../log/log-options.ts";
import type { Heads } from "../signing/heads/heads.ts";
import type { VerifyReport } from "../signing/judging/report.ts";
import type { Session } from "../store/session.ts";
import { Ambush } from "./ambush.ts";
import type { Process } from "./fault-files.ts";
import { Random } from "./random.ts";
import type { Violation } from "./report.ts";
import { Scheduler } from "./scheduler.ts";
import { SignedMachine, type SigningWay, type TorturedDialect } from "./signed-machine.ts";
import type { SigningCounts } from "./signing-report.ts";

const WRITERS_MAX = 2;
const SAID = /said \d+\./g;
const DIALECTS: readonly TorturedDialect[] = ["rye", "rye", "entire", "homeagent"];
/** How often a log that changes while it is read is read. */
const LOOKS_MAX = 3;

interface Writer {
  readonly process: Process;
  readonly heads: Heads;
  readonly session: Session;
  readonly way: SigningWay;
}

interface Said {
  readonly text: string;
  readonly writer: Writer;
  isDurable: boolean;
}

export class SigningEpisode {
  readonly #seed: number;
  readonly #counts: SigningCounts;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  readonly #ambush: Ambush;
  readonly #signed: SignedMachine;
  readonly #violations: Violation[] = [];
  #writers: Writer[] = [];
  #acknowledged: Said[] = [];
  #said = 0;
  #step = 0;
  /** The newest checkpoint that an opening found: what it reports is durable. */
  #openedSeq = -1;

  constructor(seed: number, counts: SigningCounts) {
    this.#seed = seed;
    this.#counts = counts;
    const random = new Random(seed);
    this.#random = random;
    this.#scheduler = new Scheduler(random);
    this.#ambush = new Ambush(random, () => {
      counts.faults++;
    });
    const machine = {
      random,
      scheduler: this.#scheduler,
      pageBytes: random.pick([64, 512, 4096]),
      plan: (call: Parameters<Ambush["plan"]>[0]) => this.#ambush.plan(call),
    };
    this.#signed = new SignedMachine(random.pick(DIALECTS), machine, () => {
      counts.warnings++;
    });
  }

  async run(steps: number): Promise<Violation[]> {
    for (this.#step = 1; this.#step <= steps && this.#violations.length === 0; this.#step++) {
      await this.#act();
    }
    if (this.#violations.length === 0) await this.#crashAndGoOn();
    return this.#violations;
  }

  async #act(): Promise<void> {
    const random = this.#random;
    this.#writers = this.#writers.filter(({ process }) => process.isAlive); // Some die writing.
    if (this.#writers.length === 0) return this.#open();
    const die = random.below(100);
    if (die < 40) this.#append(random.pick(this.#writers));
    else if (die < 70) for (let n = random.below(8); n >= 0; n--) await this.#scheduler.tick();
    else if (die < 75) this.#ambush.lay();
    else if (die < 79) await this.#close(random.pick(this.#writers));
    else if (die < 83) await this.#open();
    else if (die < 87) await this.#kill(random.pick(this.#writers));
    else if (die < 91) this.#signed.machine.writeBack();
    else if (die < 95) await this.#powerCut();
    else await this.#verify("while it is written");
  }

  #append(writer: Writer): void {
    const { random, session } = { random: this.#random, session: writer.session };
    for (let n = random.below(4); n >= 0; n--) {
      const text = `said ${this.#said++}.`;
      const pad = "x".repeat(random.pick([0, 20, 300, 1500]));
      const parts = [{ type: "text" as const, text: `${text}${pad}` }];
      const role = random.pick(["user", "assistant"] as const);
      this.#counts.appends++;
      session.append({ kind: "message", role, parts }).then(
        writer.process.whileAlive(() =>
          this.#acknowledge({ text, writer, isDurable: writer.way.durability === "disk" }),
        ),
        (error: unknown) => this.#refused(writer, error),
      );
    }
  }

  #acknowledge(said: Said): void {
    this.#counts.acknowledged++;
    this.#acknowledged.push(said);
  }

  #refused(writer: Writer, error: unknown): void {
    this.#counts.refused++;
    if (!writer.process.isAlive) return;
    if (isMismatch(error)) this.#violated(`signing was refused: ${String(error)}`);
    if (error instanceof VerbatimError && error.code === "NO_SPACE") return;
    // Its writer is finished, or could not read the log to sign on: a new process tries again.
    this.#writers = this.#writers.filter((other) => other !== writer);
    writer.process.kill();
  }

  async #close(writer: Writer): Promise<void> {
    this.#writers = this.#writers.filter((other) => other !== writer);
    const covered = this.#acknowledged.filter((said) => said.writer === writer);
    const closed = writer.process.whileAlive(() => {
      for (const said of covered) said.isDurable = true;
    });
    const closing = writer.session.close().then(closed);
    await this.#whileAlive(writer, closing);
    await this.#whileAlive(writer, writer.heads.flush());
    writer.process.kill();
  }

  /** Until the work is done, well or not, or its process is dead and will never be told. */
  async #whileAlive({ process }: Writer, work: Promise<void>): Promise<void> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    while (!isOver && process.isAlive) await this.#scheduler.tick();
  }

  /** Opens the session once more; with nobody else there and no ambush laid, that must succeed. */
  async #open(): Promise<void> {
    if (this.#writers.length === WRITERS_MAX) return;
    const random = this.#random;
    const isAlone = this.#writers.length === 0;
    if (isAlone && random.chance(0.7)) this.#ambush.lift();
    const mustSucceed = isAlone && !this.#ambush.isLaid;
    const durability: Durability = random.pick(["disk", "os"]);
    const mode = random.pick(["exclusive", "shared"] as const);
    const way = { mode, durability, isEveryAppend: random.chance(0.3) };
    const process = this.#signed.machine.startProcess();
    const heads = this.#signed.heads(process);
    const session = this.#signed.session(process, heads, way);
    this.#counts.openings++;
    try {
      await this.#scheduler.finish(session.openToAppend());
      this.#writers.push({ process, heads, session, way });
    } catch (error) {
      process.kill();
      if (mustSucceed) this.#violated(`opening failed: ${String(error)}`);
      return;
    }
    const { signed_through: through } = await this.#verify("after opening");
    if (!isAlone) return;
    // What an opening found is durable from now on.
    this.#openedSeq = Math.max(this.#openedSeq, through?.seq ?? -1);
    for (const said of this.#acknowledged) said.isDurable = true;
  }

  async #kill(writer: Writer): Promise<void> {
    this.#counts.kills++;
    writer.process.kill();
    this.#writers = this.#writers.filter((other) => other !== writer);
    await this.#verify("after a kill");
  }

  async #powerCut(): Promise<void> {
    this.#counts.powerCuts++;
    this.#signed.machine.powerCut();
    this.#writers = [];
    this.#acknowledged = this.#acknowledged.filter(({ isDurable }) => isDurable);
    await this.#verify("after a power cut");
  }

  /** Power goes; the session is opened and gone on with, and everything is signed in the end. */
  async #crashAndGoOn(): Promise<void> {
    await this.#powerCut();
    this.#ambush.lift();
    while (this.#writers.length === 0 && this.#violations.length === 0) await this.#open();
    const [writer] = this.#writers;
    if (!writer) return;
    const parts = [{ type: "text" as const, text: `said ${this.#said++}.` }];
    await this.#scheduler.finish(writer.session.append({ kind: "message", role: "user", parts }));
    await this.#close(writer);
    const { verdict, tail } = await this.#verify("in the end");
    if (tail.bytes > 0 || (verdict !== "verified" && verdict !== "incomplete")) {
      this.#violated(`in the end it is ${verdict}, with ${tail.bytes} bytes unsigned`);
    }
  }

  async #verify(when: string): Promise<VerifyReport> {
    // Only what was acknowledged before: while it verifies, others go on.
    const acknowledged = [...this.#acknowledged];
    const report = await this.#judged();
    const { verdict, signed_through: through, findings } = report;
    this.#counts[verdict]++;
    if (through && this.#acknowledged.length > 0) this.#counts.signedFound++;
    const codes = findings.map(({ code, byte_offset: at }) => `${code}@${at}`).join(" ");
    const isThere = verdict === "verified" || verdict === "incomplete";
    const isNew = (verdict === "unsigned" || codes.startsWith("NOT_FOUND")) && this.#openedSeq < 0;
    if (!isThere && !isNew) this.#violated(`${when}: ${verdict} (${codes})`);
    if ((through?.seq ?? -1) < this.#openedSeq) {
      this.#violated(`${when}: signed through ${through?.seq}, and an opening had found more`);
    }
    const standing = new Map<string, number>();
    for (const [text] of this.#signed.contents()?.toString("latin1").matchAll(SAID) ?? []) {
      standing.set(text, (standing.get(text) ?? 0) + 1);
    }
    for (const { text, isDurable } of acknowledged) {
      const times = standing.get(text) ?? 0;
      if (times === 1) continue;
      this.#violated(
        `${when}: ${text} stands ${times} times${isDurable ? ", and is durable" : ""}`,
      );
    }
    return report;
  }

  /** A log that its writer rolls back while it is read gives no verdict, so it is read again. */
  async #judged(): Promise<VerifyReport> {
    let report = await this.#scheduler.finish(this.#signed.verify());
    for (let n = 1; n < LOOKS_MAX && isChanging(report); n++) {
      report = await this.#scheduler.finish(this.#signed.verify());
    }
    return report;
  }

  #violated(what: string): void {
    this.#violations.push({ seed: this.#seed, step: this.#step, what });
  }
}

function isChanging({ findings }: VerifyReport): boolean {
  return findings.some(({ code }) => code === "CHANGED_WHILE_READ");
}

function isMismatch(error: unknown): boolean {
  return error instanceof VerbatimError && error.code === "CHECKPOINT_MISMATCH";
}
