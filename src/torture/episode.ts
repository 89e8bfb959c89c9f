/** Episode: one log on one machine, from its first line to its last crash. */

import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import type { Durability, LogMode } from "../log/log-options.ts";
import { LogReader } from "../log/reader.ts";
import { LogWriter } from "../log/writer.ts";
import { Ambush } from "./ambush.ts";
import { Machine, type Process } from "./fault-files.ts";
import { FollowerWatch } from "./follower-watch.ts";
import { Ledger } from "./ledger.ts";
import { Random } from "./random.ts";
import type { Counts, Violation } from "./report.ts";
import { Scheduler } from "./scheduler.ts";

const DIRECTORY = "/logs";
const NAME = "log.jsonl";
const PATH = `${DIRECTORY}/${NAME}`;
const WRITERS_MAX = 3;

interface Writer {
  readonly id: number;
  readonly process: Process;
  readonly log: LogWriter;
  readonly durability: Durability;
  readonly mode: LogMode;
}

export class Episode {
  readonly #seed: number;
  readonly #counts: Counts;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  readonly #ambush: Ambush;
  readonly #machine: Machine;
  readonly #ledger = new Ledger();
  readonly #violations: Violation[] = [];
  #writers: Writer[] = [];
  #writersMade = 0;
  #lines = 0;
  #step = 0;
  #hasFailedSync = false;
  #follower: FollowerWatch | null = null;

  constructor(seed: number, counts: Counts) {
    this.#seed = seed;
    this.#counts = counts;
    const random = new Random(seed);
    this.#random = random;
    this.#scheduler = new Scheduler(random);
    this.#ambush = new Ambush(random, (call) => {
      counts.faults++;
      if (call === "sync") {
        counts.failedSyncs++;
        this.#hasFailedSync = true;
      }
    });
    this.#machine = new Machine({
      random,
      scheduler: this.#scheduler,
      pageBytes: random.pick([16, 64, 512, 4096]),
      plan: (call) => this.#ambush.plan(call),
    });
  }

  async run(steps: number): Promise<Violation[]> {
    for (this.#step = 1; this.#step <= steps && this.#violations.length === 0; this.#step++) {
      await this.#act();
    }
    if (this.#violations.length === 0) await this.#crashAndRecover();
    this.#follower?.stop();
    return this.#violations;
  }

  async #act(): Promise<void> {
    const random = this.#random;
    this.#writers = this.#writers.filter(({ process }) => process.isAlive); // Some die writing.
    if (this.#writers.length === 0) return this.#open();
    const die = random.below(100);
    if (die < 45) this.#append();
    else if (die < 70) for (let n = random.below(6); n >= 0; n--) await this.#scheduler.tick();
    else if (die < 73) this.#flush();
    else if (die < 78) this.#ambush.lay();
    else if (die < 81) await this.#close(random.pick(this.#writers));
    else if (die < 85) await this.#open();
    else if (die < 88) this.#kill(random.pick(this.#writers));
    else if (die < 91) this.#machine.writeBack();
    else if (die < 94) await this.#powerCut();
    else if (die < 96) await this.#rollBackSlowly();
    else if (die < 98) await this.#read();
    else await this.#checkFollower();
  }

  #append(): void {
    const writer = this.#random.pick(this.#writers);
    for (let n = this.#random.below(6); n >= 0; n--) {
      const texts = Array.from({ length: this.#random.pick([1, 1, 1, 3]) }, () =>
        this.#newLine(writer.id),
      );
      const lines = Buffer.from(texts.map((text) => `${text}\n`).join(""));
      this.#counts.appends++;
      this.#submit(writer, texts, lines);
      lines.fill(0x21); // The log must have taken a copy.
    }
  }

  /** In one of the ways in which lines are appended; told at once, or a power cut comes between. */
  #submit(writer: Writer, texts: readonly string[], lines: Buffer): void {
    const { log, process } = writer;
    const acknowledged = process.whileAlive((end: number) => this.#acknowledge(writer, texts, end));
    const refused = (error: unknown) => this.#refused(writer, texts, error);
    if (texts.length > 1 && this.#lines % 2 === 0) {
      const composed = Buffer.from(lines);
      log
        .appendComposed(() => composed)
        .then((start) => acknowledged(start + composed.length), refused);
      return;
    }
    const appended =
      texts.length === 1 ? log.append(lines.subarray(0, -1)) : log.appendLines(lines);
    appended.then(acknowledged, refused);
  }

  #refused(writer: Writer, texts: readonly string[], error: unknown): void {
    this.#counts.refused++;
    if (!(error instanceof VerbatimError) || !writer.process.isAlive) return;
    if (error.code === "NO_SPACE") for (const text of texts) this.#ledger.takeBack(text);
    if (error.code === "LOG_WRITER_FAILED") {
      this.#forget(writer);
      writer.log.close().catch(() => {}); // It says the same again.
    }
  }

  #acknowledge({ id, durability }: Writer, texts: readonly string[], end: number): void {
    this.#counts.acknowledged++;
    let lineEnd = end;
    for (const text of texts.toReversed()) {
      this.#ledger.acknowledge(text, id, lineEnd, durability === "disk");
      lineEnd -= Buffer.byteLength(text) + 1;
    }
  }

  #newLine(writer: number): string {
    const length = this.#random.pick([0, 5, 20, 60, 60, 400]);
    const pad = this.#random.pick(["x", "é", "]}", "\\n"]).repeat(this.#random.below(length + 1));
    const text = JSON.stringify({ writer, line: this.#lines++, pad });
    this.#ledger.issue(text, writer);
    return text;
  }

  #flush(): void {
    const { id, log, process } = this.#random.pick(this.#writers);
    const flushed = process.whileAlive(this.#ledger.flushing(id));
    this.#counts.flushes++;
    log.flush().then(flushed, () => {}); // A flush that fails promises nothing.
  }

  async #close(writer: Writer): Promise<void> {
    this.#forget(writer);
    const flushed = writer.process.whileAlive(this.#ledger.flushing(writer.id));
    await this.#scheduler.finish(writer.log.close()).then(flushed, () => {}); // As with a flush.
  }

  #forget(writer: Writer): void {
    this.#writers = this.#writers.filter((other) => other !== writer);
  }

  /** Opens the log once more; with nobody else there and no ambush laid, that must succeed. */
  async #open(): Promise<void> {
    if (this.#writers.length === WRITERS_MAX) return;
    const random = this.#random;
    const mode: LogMode = random.pick(["exclusive", "exclusive", "shared"]);
    const durability: Durability = random.pick(["disk", "os"]);
    const isAlone = this.#writers.length === 0;
    const holders = this.#writers.filter((writer) => writer.mode === "exclusive");
    if (isAlone && random.chance(0.7)) this.#ambush.lift();
    const mustSucceed = isAlone && !this.#ambush.isLaid;
    const process = this.#machine.startProcess();
    this.#counts.openings++;
    try {
      const options = { mode, durability, lockWaitMs: mode === "shared" ? 500 : 0 };
      const opening = LogWriter.open(this.#host(process), PATH, options);
      const log = await this.#scheduler.finish(opening);
      if (holders.some((holder) => holder.process.isAlive && this.#writers.includes(holder)))
        this.#violated("a log that one writer holds was opened by another");
      this.#writers.push({ id: this.#writersMade++, process, log, durability, mode });
      await this.#checkOpened(log);
    } catch (error) {
      this.#counts.openingsRefused++;
      const isOurs = error instanceof VerbatimError || !process.isAlive;
      process.kill();
      if (mustSucceed || !isOurs) this.#violated(`opening failed: ${String(error)}`);
    }
  }

  async #checkOpened({ recovery }: LogWriter): Promise<void> {
    const log = this.#contents().subarray(0, recovery.end);
    this.#judge("after opening", log);
    for (const what of this.#ledger.faultsOfLines(log)) this.#violated(what);
    if (recovery.cutBytes > 0) this.#counts.tornTailsCut++;
    if (recovery.addedLf) this.#counts.linesCompleted++;
    if (log.includes(0)) this.#counts.holes++;
    const isAlone = this.#writers.length === 1;
    if (isAlone && this.#contents().length !== recovery.end) {
      this.#violated("bytes are left after the reported end");
    }
    this.#ledger.reported(log);
  }

  #kill(writer: Writer): void {
    this.#counts.kills++;
    writer.process.kill();
    this.#forget(writer);
    this.#judge("after a kill");
  }

  async #powerCut(): Promise<void> {
    this.#counts.powerCuts++;
    if (this.#hasFailedSync) this.#counts.powerCutsAfterFailedSync++;
    this.#hasFailedSync = false;
    this.#follower?.stop();
    this.#follower = null;
    this.#machine.powerCut();
    this.#ledger.powerWasCut();
    this.#writers = [];
    this.#judge("after a power cut");
  }

  /** Power goes, the log is opened, the process is killed, and opening again changes nothing. */
  async #crashAndRecover(): Promise<void> {
    await this.#powerCut();
    this.#ambush.lift();
    while (this.#writers.length === 0 && this.#violations.length === 0) await this.#open();
    for (const writer of this.#writers) this.#kill(writer);
    const before = this.#contents();
    const opening = LogWriter.open(this.#host(this.#machine.startProcess()), PATH);
    const { recovery } = await this.#scheduler.finish(opening);
    const isSame = this.#contents().equals(before);
    if (!isSame || recovery.cutBytes > 0 || recovery.addedLf) {
      this.#violated("recovering a recovered log changed it");
    }
  }

  /**
   * Another process's write is taken back, with time in between: what a full disk does to a
   * writer, seen from outside.
   */
  async #rollBackSlowly(): Promise<void> {
    if (this.#writers.some(({ mode }) => mode === "exclusive")) return;
    const process = this.#machine.startProcess(true);
    const directory = await process.openDirectory(DIRECTORY, { create: false });
    const lock = directory.open(`${NAME}.lock`, "update");
    while (!lock.tryLock("exclusive")) await this.#scheduler.tick();
    const file = directory.open(NAME, "append");
    const start = file.size();
    const writer = this.#writersMade++;
    if (start === 0 || this.#contents().at(-1) === 0x0a) {
      file.write(Buffer.from(`${this.#newLine(writer)}\n${this.#newLine(writer)}\n`));
      for (let n = 0; n < 20; n++) await this.#scheduler.tick();
      file.truncate(start);
      // It is told of the failed syncs of others, too, as every handle of the file is.
      await this.#scheduler.finish(file.sync()).catch(() => {});
      this.#counts.rollBacks++;
    }
    process.kill();
  }

  /** Readers agree with the bytes, and with each other. */
  async #read(): Promise<void> {
    this.#counts.readings++;
    await new Promise(setImmediate); // A write that is about to happen would happen as we read.
    const host = this.#host(this.#machine.startProcess(true));
    const expected = this.#wholeLines();
    const forward: string[] = [];
    const backward: string[] = [];
    const reader = new LogReader(host, PATH, { onBadLine: "skip" });
    for await (const { bytes } of reader.forward()) forward.push(textOf(bytes));
    for await (const { bytes } of reader.backward()) backward.push(textOf(bytes));
    const last = (await reader.last(3)).map(({ bytes }) => textOf(bytes));
    if (!isSame(forward, expected)) this.#violated("a reader did not deliver the whole lines");
    if (!isSame(backward.toReversed(), expected)) this.#violated("reading backward differs");
    if (!isSame(last, expected.slice(-3))) this.#violated("the last lines differ");
  }

  async #checkFollower(): Promise<void> {
    if (!this.#follower) {
      const host = this.#host(this.#machine.startProcess(true));
      const reader = new LogReader(host, PATH, { onBadLine: "skip" });
      this.#follower = new FollowerWatch(reader, () => {
        this.#counts.followersRewound++;
      });
    }
    const follower = this.#follower;
    for (let ticks = 0; ticks < 400; ticks++) {
      if (isSame(follower.texts, this.#wholeLines())) return;
      if (follower.failure) return this.#violated(`following failed: ${follower.failure}`);
      await this.#scheduler.tick();
    }
    this.#violated("a follower did not arrive at what the log holds");
  }

  #host(process: Process): Host {
    const started = "2026-01-01T00:00:00.000Z";
    return { files: process, clock: this.#scheduler, process: { pid: 1, started } };
  }

  #contents(): Buffer {
    return this.#machine.contents(DIRECTORY, NAME) ?? Buffer.alloc(0);
  }

  /** The lines that any reader must deliver: all that end in LF and are what was once issued. */
  #wholeLines(): string[] {
    const lines = textOf(this.#contents()).split("\n").slice(0, -1);
    return lines.filter((line) => !line.includes("\0"));
  }

  #judge(when: string, log: Buffer | null = this.#machine.contents(DIRECTORY, NAME)): void {
    for (const what of this.#ledger.faults(log)) this.#violated(`${when}: ${what}`);
  }

  #violated(what: string): void {
    this.#violations.push({ seed: this.#seed, step: this.#step, what });
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, n) => text === right[n]);
}
