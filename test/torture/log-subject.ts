/**
 * Log subject: one log, written by up to three processes, read and followed by others.
 * What it must keep is in ledger.ts.
 */

import { VerbatimError } from "../../src/core/base/errors.ts";
import type { Turn } from "../../src/core/log/companion.ts";
import type { Durability, LogMode } from "../../src/core/log/log-options.ts";
import { LogReader } from "../../src/core/log/reader.ts";
import { LogWriter } from "../../src/core/log/writer.ts";
import type { Episode, Kind, Subject } from "./episode.ts";
import type { Call, Process } from "./fault-files.ts";
import { Ledger } from "./ledger.ts";
import { FollowerWatch } from "./stream-checks.ts";

const DIRECTORY = "/logs";
const NAME = "log.jsonl";
const PATH = `${DIRECTORY}/${NAME}`;
const WRITERS_MAX = 3;

const NO_COUNTS = {
  appends: 0,
  acknowledged: 0,
  refused: 0,
  flushes: 0,
  openings: 0,
  openingsRefused: 0,
  kills: 0,
  powerCuts: 0,
  faults: 0,
  failedSyncs: 0,
  powerCutsAfterFailedSync: 0,
  tornTailsCut: 0,
  linesCompleted: 0,
  holes: 0,
  rollBacks: 0,
  followersRewound: 0,
  readings: 0,
};

type Counts = typeof NO_COUNTS;

interface Writer {
  readonly id: number;
  readonly process: Process;
  readonly log: LogWriter;
  readonly durability: Durability;
  readonly mode: LogMode;
}

export const log: Kind<Writer, Counts> = {
  noCounts: NO_COUNTS,
  pageBytes: [16, 64, 512, 4096],
  newSubject: (episode) => new LogSubject(episode),
};

class LogSubject implements Subject<Writer> {
  readonly actions: Subject<Writer>["actions"];
  readonly #episode: Episode<Writer, Counts>;
  readonly #counts: Counts;
  readonly #random: Episode<Writer, Counts>["random"];
  readonly #ledger = new Ledger();
  #writersMade = 0;
  #lines = 0;
  #hasFailedSync = false;
  #follower: FollowerWatch | null = null;

  constructor(episode: Episode<Writer, Counts>) {
    this.#episode = episode;
    this.#counts = episode.counts;
    this.#random = episode.random;
    this.actions = [
      [45, () => this.#append()],
      [25, () => episode.ticks(6)],
      [3, () => this.#flush()],
      [5, () => episode.faults.planNext()],
      [3, () => this.#close(episode.anyWriter())],
      [4, () => this.open()],
      [3, () => episode.kill()],
      [3, () => episode.machine.writeBack()],
      [3, () => episode.powerCut()],
      [2, () => this.#rollBackSlowly()],
      [2, () => this.#read()],
      [2, () => this.#checkFollower()],
    ];
  }

  onFault(call: Call): void {
    if (call !== "sync") return;
    this.#counts.failedSyncs++;
    this.#hasFailedSync = true;
  }

  onPowerCut(): void {
    if (this.#hasFailedSync) this.#counts.powerCutsAfterFailedSync++;
    this.#hasFailedSync = false;
    this.dispose();
    this.#ledger.powerWasCut();
  }

  dispose(): void {
    this.#follower?.stop();
    this.#follower = null;
  }

  #append(): void {
    const writer = this.#episode.anyWriter();
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

  /** Uses every append method. Its callbacks run at once: no power cut can come between. */
  #submit(writer: Writer, texts: readonly string[], lines: Buffer): void {
    const { log, process } = writer;
    const acknowledged = process.whileAlive((end: number) => this.#acknowledge(writer, texts, end));
    const refused = (error: unknown) => this.#refused(writer, texts, error);
    if (texts.length > 1 && this.#lines % 2 === 0) {
      const composed = Buffer.from(lines);
      let end = 0;
      const append = async (turn: Turn) => {
        end = turn.append(composed) + composed.length;
        await turn.settle();
      };
      log.inTurn(append).then(() => acknowledged(end), refused);
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
      this.#episode.forget(writer);
      writer.log.close().catch(() => {}); // It fails with the same error.
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
    const { id, log, process } = this.#episode.anyWriter();
    const flushed = process.whileAlive(this.#ledger.flushing(id));
    this.#counts.flushes++;
    log.flush().then(flushed, () => {}); // A flush that fails promises nothing.
  }

  async #close(writer: Writer): Promise<void> {
    this.#episode.forget(writer);
    const flushed = writer.process.whileAlive(this.#ledger.flushing(writer.id));
    const closing = this.#episode.scheduler.finish(writer.log.close());
    await closing.then(flushed, () => {}); // A close that fails promises nothing.
  }

  async open(): Promise<void> {
    const episode = this.#episode;
    if (episode.writers.length === WRITERS_MAX) return;
    const mode: LogMode = this.#random.pick(["exclusive", "exclusive", "shared"]);
    const durability: Durability = this.#random.pick(["disk", "os"]);
    const holders = episode.writers.filter((writer) => writer.mode === "exclusive");
    const options = { mode, durability, lockWaitMs: mode === "shared" ? 500 : 0 };
    const opened = await episode.open(async (process) => {
      return { process, log: await LogWriter.open(process.host, PATH, options) };
    });
    if (opened === null) return;
    if (holders.some((holder) => holder.process.isAlive && episode.writers.includes(holder))) {
      episode.violated("a log that one writer holds was opened by another");
    }
    episode.writers.push({ ...opened, id: this.#writersMade++, durability, mode });
    this.#checkOpened(opened.log);
  }

  #checkOpened({ recovery }: LogWriter): void {
    const log = this.#contents().subarray(0, recovery.end);
    this.check("after opening", log);
    for (const what of this.#ledger.faultsOfLines(log)) this.#episode.violated(what);
    if (recovery.cutBytes > 0) this.#counts.tornTailsCut++;
    if (recovery.addedLf) this.#counts.linesCompleted++;
    if (log.includes(0)) this.#counts.holes++;
    const isAlone = this.#episode.writers.length === 1;
    if (isAlone && this.#contents().length !== recovery.end) {
      this.#episode.violated("bytes are left after the reported end");
    }
    this.#ledger.reported(log);
  }

  /** Opening a recovered log again changes nothing. */
  async finish(): Promise<void> {
    for (const writer of this.#episode.writers) this.#episode.kill(writer);
    const before = this.#contents();
    const { machine, scheduler } = this.#episode;
    const { recovery } = await scheduler.finish(LogWriter.open(machine.startProcess().host, PATH));
    const isSame = this.#contents().equals(before);
    if (!isSame || recovery.cutBytes > 0 || recovery.addedLf) {
      this.#episode.violated("recovering a recovered log changed it");
    }
  }

  /** Another process writes lines and, some time later, rolls them back as on a full disk. */
  async #rollBackSlowly(): Promise<void> {
    if (this.#episode.writers.some(({ mode }) => mode === "exclusive")) return;
    const process = this.#episode.machine.startProcess(true);
    const directory = await process.openDirectory(DIRECTORY, { create: false });
    const lock = directory.open(`${NAME}.lock`, "update");
    while (!lock.tryLock("exclusive")) await this.#episode.scheduler.tick();
    const file = directory.open(NAME, "append");
    const start = file.size();
    const writer = this.#writersMade++;
    if (start === 0 || this.#contents().at(-1) === 0x0a) {
      file.write(Buffer.from(`${this.#newLine(writer)}\n${this.#newLine(writer)}\n`));
      for (let n = 0; n < 20; n++) await this.#episode.scheduler.tick();
      file.truncate(start);
      // Fails too when a sync of another process failed: every open handle reports that.
      await this.#episode.scheduler.finish(file.sync()).catch(() => {});
      this.#counts.rollBacks++;
    }
    process.kill();
  }

  /** Every way of reading delivers the lines that are on the disk. */
  async #read(): Promise<void> {
    this.#counts.readings++;
    await new Promise(setImmediate); // Writes in progress finish before we read.
    const host = this.#episode.machine.startProcess(true).host;
    const expected = this.#wholeLines();
    const forward: string[] = [];
    const backward: string[] = [];
    const reader = new LogReader(host, PATH, { onBadLine: "skip" });
    for await (const { bytes } of reader.forward()) forward.push(textOf(bytes));
    for await (const { bytes } of reader.backward()) backward.push(textOf(bytes));
    const last = (await reader.last(3)).map(({ bytes }) => textOf(bytes));
    if (!isSame(forward, expected))
      this.#episode.violated("a reader did not deliver all complete lines");
    if (!isSame(backward.toReversed(), expected))
      this.#episode.violated("reading backward differs");
    if (!isSame(last, expected.slice(-3))) this.#episode.violated("the last lines differ");
  }

  async #checkFollower(): Promise<void> {
    if (!this.#follower) {
      const host = this.#episode.machine.startProcess(true).host;
      const reader = new LogReader(host, PATH, { onBadLine: "skip" });
      this.#follower = new FollowerWatch(reader, () => {
        this.#counts.followersRewound++;
      });
    }
    const follower = this.#follower;
    for (let ticks = 0; ticks < 400; ticks++) {
      if (isSame(follower.texts, this.#wholeLines())) return;
      if (follower.failure) return this.#episode.violated(`following failed: ${follower.failure}`);
      await this.#episode.scheduler.tick();
    }
    this.#episode.violated("a follower did not catch up with the log");
  }

  #contents(): Buffer {
    return this.#episode.machine.contents(DIRECTORY, NAME) ?? Buffer.alloc(0);
  }

  /** The lines that every reader must deliver: they end in LF and contain no NUL. */
  #wholeLines(): string[] {
    const lines = textOf(this.#contents()).split("\n").slice(0, -1);
    return lines.filter((line) => !line.includes("\0"));
  }

  check(when: string, log: Buffer | null = this.#episode.machine.contents(DIRECTORY, NAME)): void {
    for (const what of this.#ledger.faults(log)) this.#episode.violated(`${when}: ${what}`);
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, n) => text === right[n]);
}
