/**
 * Signed subject: one signed session, written by up to two processes.
 *
 * It is verified after every kill and power cut, and now and then in between:
 *
 *   verdict  `verified` or `incomplete`. `unsigned` or not there only until an open has found
 *            something signed. Nothing here tampers, so every other verdict is false.
 *   lines    what was acknowledged is there, once, as far as its durability goes
 *   chain    opening to sign is never refused because of what a crash left, and the chain continues
 */

import { VerbatimError } from "../../src/core/base/errors.ts";
import type { Durability } from "../../src/core/log/log-options.ts";
import { DIALECT_NAMES } from "../../src/dialects/registry.ts";
import type { Session } from "../../src/sessions/store/session.ts";
import type { Heads } from "../../src/trust/heads/heads.ts";
import type { VerifyReport } from "../../src/trust/judge/report.ts";
import { hasSidecar, INSIDE } from "../../src/trust/proof/envelopes.ts";
import type { Episode, Kind, Subject } from "./episode.ts";
import type { Process } from "./fault-files.ts";
import { SignedMachine, type SigningWay } from "./signed-machine.ts";

const WRITERS_MAX = 2;
const SAID = /said \d+\./g;
/** One for each way to keep checkpoints; the first is the most common. */
const DIALECTS: readonly string[] = [
  ...INSIDE.slice(0, 1),
  ...INSIDE,
  ...DIALECT_NAMES.filter(hasSidecar).slice(0, 1),
];
/** How often to verify a log that changes during the verification. */
const VERIFICATIONS_MAX = 3;

const NO_COUNTS = {
  appends: 0,
  acknowledged: 0,
  refused: 0,
  openings: 0,
  openingsRefused: 0,
  kills: 0,
  powerCuts: 0,
  faults: 0,
  /** Verdicts with a valid checkpoint while acknowledged lines are in the log. */
  signedFound: 0,
  verified: 0,
  incomplete: 0,
  unsigned: 0,
  unpinned: 0,
  deleted: 0,
  untrusted: 0,
  rollback: 0,
  unreadable: 0,
  tampered: 0,
  warnings: 0,
};

type Counts = typeof NO_COUNTS;

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

export const signed: Kind<Writer, Counts> = {
  noCounts: NO_COUNTS,
  pageBytes: [64, 512, 4096],
  newSubject: (episode) => new SignedSubject(episode),
};

class SignedSubject implements Subject<Writer> {
  readonly actions: Subject<Writer>["actions"];
  readonly #episode: Episode<Writer, Counts>;
  readonly #counts: Counts;
  readonly #signed: SignedMachine;
  #acknowledged: Said[] = [];
  #said = 0;
  /** The newest checkpoint that an open has found: what an open reports is durable. */
  #openedSeq = -1;

  constructor(episode: Episode<Writer, Counts>) {
    const { random, machine, counts } = episode;
    this.#episode = episode;
    this.#counts = counts;
    this.#signed = new SignedMachine(random.pick(DIALECTS), machine, () => {
      counts.warnings++;
    });
    this.actions = [
      [40, () => this.#append(episode.anyWriter())],
      [30, () => episode.ticks(8)],
      [5, () => episode.faults.planNext()],
      [4, () => this.#close(episode.anyWriter())],
      [4, () => this.open()],
      [4, () => episode.kill()],
      [4, () => machine.writeBack()],
      [4, () => episode.powerCut()],
      [5, () => this.check("while it is written")],
    ];
  }

  onPowerCut(): void {
    this.#acknowledged = this.#acknowledged.filter(({ isDurable }) => isDurable);
  }

  async check(when: string): Promise<void> {
    await this.#verify(when);
  }

  #append(writer: Writer): void {
    const { random } = this.#episode;
    for (let n = random.below(4); n >= 0; n--) {
      const text = `said ${this.#said++}.`;
      const pad = "x".repeat(random.pick([0, 20, 300, 1500]));
      const parts = [{ type: "text" as const, text: `${text}${pad}` }];
      const role = random.pick(["user", "assistant"] as const);
      this.#counts.appends++;
      writer.session.append({ kind: "message", role, parts }).then(
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
    const code = error instanceof VerbatimError ? error.code : null;
    if (code === "CHECKPOINT_MISMATCH") {
      this.#episode.violated(`signing was refused: ${String(error)}`);
    }
    // Otherwise the writer has failed, or could not read the log to sign more of it.
    if (code !== "NO_SPACE") this.#episode.end(writer);
  }

  async #close(writer: Writer): Promise<void> {
    this.#episode.forget(writer);
    const covered = this.#acknowledged.filter((said) => said.writer === writer);
    const closed = writer.process.whileAlive(() => {
      for (const said of covered) said.isDurable = true;
    });
    await this.#settled(writer, writer.session.close().then(closed));
    await this.#settled(writer, writer.heads.flush());
    this.#episode.end(writer);
  }

  /** Waits until the work has succeeded or failed, or its process is dead. */
  async #settled({ process }: Writer, work: Promise<void>): Promise<void> {
    await this.#episode.whileAlive(
      process,
      work.catch(() => {}), // A close that fails promises nothing.
    );
  }

  async open(): Promise<void> {
    const { writers, random } = this.#episode;
    if (writers.length === WRITERS_MAX) return;
    const isAlone = writers.length === 0;
    const writer = await this.#episode.open(async (process) => {
      const durability: Durability = random.pick(["disk", "os"]);
      const mode = random.pick(["exclusive", "shared"] as const);
      const way = { mode, durability, isEveryAppend: random.chance(0.3) };
      const heads = this.#signed.heads(process);
      const session = this.#signed.session(process, heads, way);
      await session.openToAppend();
      return { process, heads, session, way };
    });
    if (writer === null) return;
    this.#episode.writers.push(writer);
    const { signed_through: through } = await this.#verify("after opening");
    if (!isAlone) return;
    // What an open has found is durable from now on.
    this.#openedSeq = Math.max(this.#openedSeq, through?.seq ?? -1);
    for (const said of this.#acknowledged) said.isDurable = true;
  }

  /** The session can be continued, and in the end everything is signed. */
  async finish(): Promise<void> {
    const writer = this.#episode.anyWriter();
    const parts = [{ type: "text" as const, text: `said ${this.#said++}.` }];
    await this.#episode.scheduler.finish(
      writer.session.append({ kind: "message", role: "user", parts }),
    );
    await this.#close(writer);
    const { verdict, tail } = await this.#verify("in the end");
    if (tail.bytes > 0 || (verdict !== "verified" && verdict !== "incomplete")) {
      this.#episode.violated(`in the end: ${verdict}, with ${tail.bytes} bytes unsigned`);
    }
  }

  async #verify(when: string): Promise<VerifyReport> {
    // Only what was acknowledged before: others append during the verification.
    const acknowledged = [...this.#acknowledged];
    const report = await this.#verified();
    const { verdict, signed_through: through, findings } = report;
    this.#counts[verdict]++;
    if (through && this.#acknowledged.length > 0) this.#counts.signedFound++;
    const codes = findings.map(({ code, byte_offset: at }) => `${code}@${at}`).join(" ");
    const isThere = verdict === "verified" || verdict === "incomplete";
    const isNew = (verdict === "unsigned" || codes.startsWith("NOT_FOUND")) && this.#openedSeq < 0;
    if (!isThere && !isNew) this.#episode.violated(`${when}: ${verdict} (${codes})`);
    if ((through?.seq ?? -1) < this.#openedSeq) {
      this.#episode.violated(
        `${when}: signed through ${through?.seq}, but an open had found ${this.#openedSeq}`,
      );
    }
    const found = new Map<string, number>();
    for (const [text] of this.#signed.contents()?.toString("latin1").matchAll(SAID) ?? []) {
      found.set(text, (found.get(text) ?? 0) + 1);
    }
    for (const { text, isDurable } of acknowledged) {
      const times = found.get(text) ?? 0;
      if (times === 1) continue;
      this.#episode.violated(
        `${when}: ${text} is there ${times} times${isDurable ? ", and is durable" : ""}`,
      );
    }
    return report;
  }

  /** A log that its writer rolls back while it is read gets no verdict, so it is verified again. */
  async #verified(): Promise<VerifyReport> {
    let report = await this.#episode.scheduler.finish(this.#signed.verify());
    for (let n = 1; n < VERIFICATIONS_MAX && isChanging(report); n++) {
      report = await this.#episode.scheduler.finish(this.#signed.verify());
    }
    return report;
  }
}

function isChanging({ findings }: VerifyReport): boolean {
  return findings.some(({ code }) => code === "CHANGED_WHILE_READ");
}
