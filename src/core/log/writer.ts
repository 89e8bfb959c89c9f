/**
 * Log writer: appends to one log, and acknowledges once the bytes are as durable as requested.
 *
 *   append ──> queue ──> one batch in flight: lock · catch up · write · sync · unlock ──> acknowledge
 *                └ fills meanwhile; the next batch is written after the sync
 *
 * With `os` and no other writer at work, a line is written at once, without the queue.
 *
 * A log with a companion that appends (companion.ts) has its lines built in the batch's place: the
 * companion decides how many of the waiting appends share a turn, and writes them itself.
 *
 * W4  One batch is in flight. So with `disk` at most one batch is unsynced, which recovery relies
 *     on (limits.ts, DOUBTFUL_BYTES).
 * - Lines land in the order in which `append` was called, whether they waited or not.
 */

import { checkBytes } from "../base/choice.ts";
import { assert, ioError, VerbatimError } from "../base/errors.ts";
import type { Clock, Host } from "../base/host.ts";
import { callersHaveRun, InFlight } from "../base/in-flight.ts";
import { DOUBTFUL_BYTES, LOG_LIMITS, type LogLimits } from "../base/limits.ts";
import type { ByteOffset } from "../base/offset.ts";
import { queueFull, withinBatch } from "./admission.ts";
import { Appender } from "./appender.ts";
import { LineBatch } from "./batch.ts";
import { LF, lineEnd } from "./bytes.ts";
import type { Turn } from "./companion.ts";
import { type Companion, QueuedAppend } from "./companion.ts";
import { checkLine, checkLines } from "./line-check.ts";
import type { WriterOptions } from "./log-options.ts";
import { type OpenedLog, openLogFile } from "./open-log.ts";
import { type Recovery, repairTail } from "./repair.ts";

/** A larger buffer is freed after use. */
const SPARE_BYTES_MAX = 1024 * 1024;

export class LogWriter {
  readonly path: string;
  /** What opening found and repaired. */
  readonly recovery: Recovery;
  readonly #log: OpenedLog;
  readonly #appender: Appender;
  readonly #limits: LogLimits;
  readonly #companion: Companion | undefined;
  readonly #sleep: Clock["sleep"];
  readonly #queue: (LineBatch | QueuedAppend)[] = [];
  #queuedBytes = 0;
  /** The buffer of the last batch, reused: allocating one costs more than filling it. */
  #spare: Buffer | null = null;
  /** The run that empties the queue, or null when idle. */
  #draining: Promise<void> | null = null;
  /** The last composed append shared its turn: the next one waits for others to join. */
  #hasShared = false;
  #line = Buffer.allocUnsafe(4096);
  /** Shared: how far the lock file says the log is durable. */
  #saidSynced: number;
  readonly #flushes = new InFlight();
  #closing: Promise<void> | null = null;

  private constructor(
    log: OpenedLog,
    limits: LogLimits,
    companion: Companion | undefined,
    sleep: Clock["sleep"],
  ) {
    this.#sleep = sleep;
    this.path = log.place.path;
    this.recovery = log.recovery;
    this.#log = log;
    this.#limits = limits;
    this.#appender = new Appender(log, limits);
    this.#companion = companion;
    this.#saidSynced = log.recovery.end;
  }

  /** Opens a log to append: creates it when missing, repairs its tail when torn. */
  static async open(host: Host, path: string, options: WriterOptions = {}): Promise<LogWriter> {
    const limits = withinBatch({ ...LOG_LIMITS, ...options.limits });
    const log = await openLogFile(host, path, options);
    return new LogWriter(log, limits, options.companion, host.clock.sleep);
  }

  /** After the last line that was acknowledged here or found on opening. */
  get end(): ByteOffset {
    return this.#log.durability === "disk" ? this.#appender.synced : this.#appender.end;
  }

  /** Every byte from here to the end was written here: none by another program. */
  get ownFrom(): ByteOffset {
    return this.#appender.ownFrom;
  }

  /**
   * Appends one line, passed without its LF. Resolves to the offset after it, once it is as durable
   * as the log's setting.
   */
  append(line: Uint8Array): Promise<ByteOffset> {
    // Not `async`: wrapping the batch's promise in a second one would double the cost.
    try {
      this.#refuseWhenDone();
      checkBytes("append", line);
      checkLine(this.path, line, this.#limits);
      if (this.#mayWriteNow()) return Promise.resolve(this.#writeNow(line));
      return this.#batchFor(line.length + 1).addLine(line);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Appends whole lines, each with its LF, in one write: all of them or, if refused, none. */
  appendLines(lines: Uint8Array): Promise<ByteOffset> {
    try {
      this.#refuseWhenDone();
      checkBytes("appendLines", lines);
      checkLines(this.path, lines, this.#limits);
      if (this.#mayWriteNow()) return Promise.resolve(this.#writeNow(lines, true));
      return this.#batchFor(lines.length).addLines(lines);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Appends what the companion makes of `content`, which holds `bytes` in memory. It does so with the
   * lock held, after catching up with other writers (companion.ts, `append`). Resolves to the offset
   * after its lines. One that waits alone is accepted however large it is.
   */
  appendComposed(content: unknown, bytes: number): Promise<ByteOffset> {
    assert(this.#companion?.append, "a log with composed appends has a companion that writes them");
    return this.#wait(new QueuedAppend(content, bytes));
  }

  /**
   * Runs `work`, which holds `bytes` in memory, in the order of the appends, with the lock held. What
   * it throws is thrown.
   */
  async inTurn(work: (turn: Turn) => Promise<void>, bytes = 0): Promise<void> {
    await this.#wait(new QueuedAppend(null, bytes, work));
  }

  #wait(waiting: QueuedAppend): Promise<ByteOffset> {
    try {
      this.#refuseWhenDone();
      this.#admit(waiting.bytes, this.#queuedBytes > 0 && waiting.bytes > 0);
      this.#queue.push(waiting);
      this.#draining ??= this.#drain(this.#hasShared);
      return waiting.done;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Resolves once everything acknowledged is on the disk, also with `os`. */
  async flush(): Promise<void> {
    this.#refuseWhenDone();
    await this.#flushes.track(this.#makeDurable());
  }

  /** Resolves after everything accepted is durable and the lock is free. Further calls wait too. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.#makeDurable();
      this.#saySyncedIfSure();
    } finally {
      await this.#flushes.ended();
      this.#companion?.close();
      this.#log.file.close();
      this.#log.lock.close();
      this.#log.place.directory.close();
    }
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  async #makeDurable(): Promise<void> {
    await this.idle();
    if (this.#appender.failure) throw this.#appender.failure;
    await this.#appender.syncAll();
  }

  /** True with `os` when the lock is ours, or is free and no other writer appended since. */
  #mayWriteNow(): boolean {
    if (this.#log.durability === "disk" || this.#draining || this.#appender.hasUnsyncedCut)
      return false;
    if (this.#log.mode === "exclusive") return true;
    if (!this.#log.lock.tryAcquire()) return false;
    if (this.#log.file.endsAt(this.#appender.end)) return true;
    this.#log.lock.release();
    return false;
  }

  #writeNow(bytes: Uint8Array, hasLf = false): ByteOffset {
    try {
      const lines = hasLf ? bytes : this.#withLf(bytes);
      const length = hasLf ? bytes.length : bytes.length + 1;
      const expected = this.#appender.end;
      const start = this.#appender.write(lines, length);
      if (start === expected) this.#companion?.appended?.(lines, length, start);
      else this.#tellLater();
      return this.#appender.end;
    } finally {
      this.#releaseShared();
    }
  }

  /** The companion reads a displaced write, and what it follows, before the next append. */
  #tellLater(): void {
    const read = async ({ end }: Turn) => this.#companion?.caughtUp(end, 0);
    this.#wait(new QueuedAppend(null, 0, read)).catch(() => {}); // The next turn reads it.
  }

  /**
   * Shared: releases the lock, after a cut only once that is durable. Appends queue up until then.
   */
  #releaseShared(): void {
    if (this.#log.mode !== "shared") return;
    if (this.#appender.hasUnsyncedCut) this.#draining = this.#syncCutAndRelease();
    else this.#log.lock.release();
  }

  async #syncCutAndRelease(): Promise<void> {
    await this.#syncCut();
    this.#log.lock.release();
    await this.#drain(false);
  }

  /** W3 across processes: another writer cannot see that bytes were cut, so it would not sync. */
  async #syncCut(): Promise<void> {
    if (!this.#appender.hasUnsyncedCut || this.#appender.failure) return;
    await this.#appender.sync().catch(() => {}); // The appender has failed, and refuses further writes.
  }

  /** The line and its LF, in a buffer shared by all lines. */
  #withLf(line: Uint8Array): Uint8Array {
    if (line.length >= this.#line.length) this.#line = Buffer.allocUnsafe(2 * line.length);
    this.#line.set(line);
    this.#line[line.length] = LF;
    return this.#line;
  }

  /** A queued batch with room for `bytes` more. */
  #batchFor(bytes: number): LineBatch {
    this.#admit(bytes);
    this.#draining ??= this.#drain();
    const last = this.#queue.at(-1);
    if (last instanceof LineBatch && last.length + bytes <= this.#limits.batchBytesMax) return last;
    const batch = new LineBatch(this.#spare);
    this.#spare = null;
    this.#queue.push(batch);
    return batch;
  }

  #admit(bytes: number, isLimited = true): void {
    const { queueBytesMax } = this.#limits;
    if (isLimited && this.#queuedBytes + bytes > queueBytesMax) {
      throw queueFull(this.path, this.#queuedBytes, queueBytesMax);
    }
    this.#queuedBytes += bytes;
  }

  async #drain(gathers = true): Promise<void> {
    await null; // Into a microtask, wherever `append` was called (see callersHaveRun).
    for (let waits = gathers; ; waits = true) {
      if (waits) await callersHaveRun();
      const next = this.#queue.shift();
      if (!next) break;
      if (next instanceof LineBatch) await this.#commit(next);
      else await this.#compose(waits ? this.#group(next) : [next]);
    }
    this.#draining = null;
  }

  async #commit(batch: LineBatch): Promise<void> {
    try {
      const start = await this.#takeTurn(async ({ end: expected }) => {
        const start = this.#appender.write(batch.bytes, batch.length);
        const isDisplaced = start !== expected;
        await this.#appender.settle(() => {
          if (!isDisplaced) this.#companion?.appended?.(batch.bytes, batch.length, start);
        });
        if (isDisplaced) await this.#companion?.caughtUp(this.#appender.end, 0);
        if (this.#log.durability === "disk") await this.#companion?.madeDurable?.();
        return start;
      });
      batch.resolve(start);
    } catch (error) {
      batch.reject(error);
    }
    this.#queuedBytes -= batch.length;
    if (batch.bytes.length <= SPARE_BYTES_MAX) this.#spare = batch.bytes;
  }

  /** Those that share a turn with the next one in the queue, as the companion decides. */
  #group(next: QueuedAppend): readonly QueuedAppend[] {
    if (next.work) return [next];
    const count = this.#companion?.share?.(this.#joining(next)) ?? 1;
    this.#hasShared = count > 1;
    return [next, ...(this.#queue.splice(0, count - 1) as QueuedAppend[])];
  }

  *#joining(next: QueuedAppend): Generator<QueuedAppend> {
    yield next;
    for (const each of this.#queue) {
      if (each instanceof LineBatch || each.work) return;
      yield each;
    }
  }

  async #compose(group: readonly QueuedAppend[]): Promise<void> {
    const work = group[0]?.work;
    try {
      await this.#takeTurn(async (turn) => {
        await (work ? work(turn) : this.#companion?.append?.(group, turn));
      });
      for (const waiting of group) waiting.resolve();
    } catch (error) {
      for (const waiting of group) waiting.reject(error);
    }
    for (const { bytes } of group) this.#queuedBytes -= bytes;
  }

  /** Runs `work` with the lock held, caught up with other writers. Its error is thrown as it is. */
  async #takeTurn<T>(work: (turn: Turn) => Promise<T>): Promise<T> {
    const isShared = this.#log.mode === "shared";
    try {
      if (isShared) await this.#log.lock.acquire(this.#log.lockWaitMs);
    } catch (error) {
      throw ioError(this.path, "appending", error);
    }
    try {
      await this.#catchUp();
      return await work(this.#appender);
    } finally {
      if (isShared) {
        await this.#syncCut();
        this.#saySyncedNowAndThen();
        this.#log.lock.release();
      }
    }
  }

  /** Continues after lines of other writers, and repairs what one of them left torn. */
  async #catchUp(): Promise<void> {
    const { place, file } = this.#log;
    if (this.#appender.failure) throw this.#appender.failure;
    try {
      if (!file.endsAt(this.#appender.end)) {
        if (file.size() < this.#appender.end) {
          throw this.#appender.fail("another program cut the log back");
        }
        await lineEnd(file, this.#sleep);
        const { end, cutBytes } = await repairTail(place, file);
        this.#appender.moveTo(end, cutBytes > 0);
        await this.#companion?.caughtUp(end, cutBytes);
      }
      if (this.#appender.hasUnsyncedCut) await this.#appender.sync(); // appender.ts, W3
    } catch (error) {
      throw ioError(this.path, "appending", error);
    }
  }

  /** Updates the lock file now and then, so that the next opening has little to rewrite. */
  #saySyncedNowAndThen(): void {
    const { synced, failure } = this.#appender;
    if (failure || synced - this.#saidSynced < DOUBTFUL_BYTES) return;
    this.#log.lock.saySynced(synced);
    this.#saidSynced = synced;
  }

  #saySyncedIfSure(): void {
    if (this.#log.mode === "shared" && !this.#log.lock.tryAcquire()) return; // Its holder will update it.
    if (this.#log.file.endsAt(this.#appender.synced))
      this.#log.lock.saySynced(this.#appender.synced);
  }

  #refuseWhenDone(): void {
    if (this.#appender.failure) throw this.#appender.failure;
    if (!this.#closing) return;
    throw new VerbatimError("LOG_CLOSED", `${this.path} was closed; open it again to append`, {
      path: this.path,
    });
  }
}
