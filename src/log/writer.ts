/**
 * Log writer: appends to one log, and acknowledges once the bytes are as durable as requested.
 *
 *   append ──> queue ──> one batch in flight: lock · catch up · write · sync · unlock ──> acknowledge
 *                └ fills meanwhile; the next batch is written after the sync
 *
 * With `os` and no other writer at work, a line is written at once, without the queue.
 *
 * W4  One batch is in flight. So with `disk` at most one batch is unsynced, which recovery relies
 *     on (limits.ts, DOUBTFUL_BYTES).
 * - Lines land in the order in which `append` was called, whether they waited or not.
 */

import { checkBytes } from "../base/choice.ts";
import { ioError, VerbatimError } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import { callersHaveRun, InFlight } from "../base/in-flight.ts";
import { DOUBTFUL_BYTES, LOG_LIMITS, type LogLimits } from "../base/limits.ts";
import type { ByteOffset } from "../base/offset.ts";
import { queueFull, refuseBesideName, refuseSharingOverNetwork, withinBatch } from "./admission.ts";
import { Appender } from "./appender.ts";
import { Batch } from "./batch.ts";
import { LF } from "./bytes.ts";
import type { Companion } from "./companion.ts";
import { type Around, type Compose, Composed, type More, Unsettled } from "./composed.ts";
import { checkLine, checkLines } from "./framing.ts";
import { LogLock } from "./lock.ts";
import { type Durability, type LogMode, type LogOptions, logChoices } from "./log-options.ts";
import { openPlace, type Place } from "./place.ts";
import { type Recovery, recover, repairTail } from "./repair.ts";
import { narrowRights } from "./rights.ts";

/** A larger buffer is freed after use. */
const SPARE_BYTES_MAX = 1024 * 1024;

interface Parts {
  readonly place: Place;
  readonly file: OpenFile;
  readonly lock: LogLock;
  readonly recovery: Recovery;
  readonly durability: Durability;
  readonly mode: LogMode;
  readonly lockWaitMs: number;
  readonly limits: LogLimits;
  readonly isDirectorySynced: boolean;
  readonly companion: Companion | undefined;
}

export class LogWriter {
  readonly path: string;
  /** What opening found and repaired. */
  readonly recovery: Recovery;
  readonly #place: Place;
  readonly #file: OpenFile;
  readonly #lock: LogLock;
  readonly #appender: Appender;
  readonly #durability: Durability;
  readonly #mode: LogMode;
  readonly #lockWaitMs: number;
  readonly #limits: LogLimits;
  readonly #companion: Companion | undefined;
  readonly #queue: (Batch | Composed)[] = [];
  #queuedBytes = 0;
  /** The buffer of the last batch, reused: allocating one costs more than filling it. */
  #spare: Buffer | null = null;
  /** The run that empties the queue, or null when idle. */
  #draining: Promise<void> | null = null;
  #line = Buffer.allocUnsafe(4096);
  #isDirectorySynced: boolean;
  /** Shared: how far the lock file says the log is durable. */
  #saidSynced: number;
  readonly #flushes = new InFlight();
  #closing: Promise<void> | null = null;

  private constructor(parts: Parts) {
    this.path = parts.place.path;
    this.recovery = parts.recovery;
    this.#place = parts.place;
    this.#file = parts.file;
    this.#lock = parts.lock;
    this.#appender = new Appender(parts.place.path, parts.file, parts.recovery.end);
    this.#durability = parts.durability;
    this.#mode = parts.mode;
    this.#lockWaitMs = parts.lockWaitMs;
    this.#limits = parts.limits;
    this.#companion = parts.companion;
    this.#isDirectorySynced = parts.isDirectorySynced;
    this.#saidSynced = parts.recovery.end;
  }

  /** Opens a log to append: creates it when missing, repairs its tail when torn. */
  static async open(host: Host, path: string, options: LogOptions = {}): Promise<LogWriter> {
    const { durability, mode, lockWaitMs } = logChoices(options);
    const { companion } = options;
    const limits = withinBatch({ ...LOG_LIMITS, ...options.limits });
    const place = await openPlace(host, path, { create: true, root: options.root });
    const opened: { close(): void }[] = [place.directory];
    try {
      refuseBesideName(place);
      refuseSharingOverNetwork(place, mode);
      const lock = new LogLock(host, place.directory, place.name);
      opened.push(lock);
      await lock.acquire(lockWaitMs, options.signal);
      const file = place.directory.open(place.name, "append");
      opened.push(file);
      narrowRights(file, place.path, options.onWarning);
      if (!file.tryLock("exclusive")) throw await lock.lockedError(); // lock.ts, L2
      const recovery = await recover(place, file, (await lock.hint()).synced);
      // With `os` a new log's name may wait for the first flush, but an end that opening reports
      // must stay.
      const isDirectorySynced = durability === "disk" || recovery.end > 0;
      if (isDirectorySynced) await place.directory.sync();
      if (isDirectorySynced && recovery.end === 0) await place.directory.syncAncestors();
      await companion?.caughtUp(recovery.end, recovery.cutBytes);
      if (mode === "exclusive") {
        lock.sayHeld();
      } else {
        lock.saySynced(recovery.end);
        file.unlock();
        lock.release();
      }
      const settings = { durability, mode, lockWaitMs, limits, isDirectorySynced, companion };
      return new LogWriter({ place, file, lock, recovery, ...settings });
    } catch (cause) {
      for (const handle of opened.reverse()) handle.close();
      throw options.signal?.aborted ? cause : ioError(place.path, "opening", cause);
    }
  }

  /** After the last line that was acknowledged here or found on opening. */
  get end(): ByteOffset {
    return this.#durability === "disk" ? this.#appender.synced : this.#appender.end;
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
   * Appends the lines that `compose` makes, in one write. It is called once, synchronously, with
   * the lock held, after catching up with other writers and right before the write, with the offset
   * of its first line. Resolves to that offset, once the lines are as durable as the log's setting.
   * If refused, nothing is written. The steps of `around` run under the same lock.
   *
   * Runs in order with the other appends. Does not count towards the queue's limit: its length
   * is not known yet.
   */
  appendComposed(compose: Compose, around?: Around): Promise<ByteOffset> {
    try {
      this.#refuseWhenDone();
      const check = (lines: Uint8Array) => checkLines(this.path, lines, this.#limits);
      const composed = new Composed(compose, check, around);
      if (!around && this.#mayWriteNow()) return Promise.resolve(this.#composeNow(composed));
      this.#queue.push(composed);
      this.#draining ??= this.#drain(false); // Nothing joins it, so do not wait for callers.
      return composed.start;
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
      this.#file.close();
      this.#lock.close();
      this.#place.directory.close();
    }
  }

  async #makeDurable(): Promise<void> {
    while (this.#draining) await this.#draining;
    if (this.#appender.failure) throw this.#appender.failure;
    await this.#syncAll();
  }

  /** With `os` a new log's name is synced when something must be durable for the first time. */
  async #syncName(): Promise<void> {
    if (this.#isDirectorySynced) return;
    try {
      await this.#place.directory.sync();
      await this.#place.directory.syncAncestors();
      this.#isDirectorySynced = true;
    } catch (cause) {
      throw this.#appender.fail("the directory's sync failed", cause);
    }
  }

  /** Skips what is already synced: with `disk` that is nearly always everything. */
  readonly #syncAll = async (): Promise<void> => {
    if (this.#appender.synced < this.#appender.end) await this.#sync();
    await this.#syncName();
  };

  /**
   * Writes the lines that end an append whose first lines are at `start`: both stay, or neither.
   */
  async #writeMore(composed: Composed, more: More, start: ByteOffset): Promise<void> {
    const durable = this.#syncAll();
    try {
      const lines = await more(durable);
      await durable;
      const at = this.#appender.end;
      if (lines.length > 0) {
        checkLines(this.path, lines, this.#limits);
        this.#appender.write(lines, lines.length);
      }
      const tell = () => {
        this.#tell(composed, start);
        if (lines.length > 0) this.#companion?.appended(lines, lines.length, at);
      };
      if (this.#durability === "disk") await this.#sync(tell);
      else tell();
    } catch (error) {
      await durable.catch(() => {}); // Nothing is cut during a sync.
      if (this.#appender.failure) throw this.#appender.failure;
      if (error instanceof Unsettled) {
        throw this.#appender.fail(
          "it is unknown whether the end of an append was written",
          error.cause,
        );
      }
      this.#appender.takeBack(start);
      await this.#sync(); // The refused lines were durable; their cut must be, too.
      composed.refuse(error);
      throw error;
    }
  }

  /** `meanwhile` runs during the sync. */
  async #sync(meanwhile?: () => void): Promise<void> {
    try {
      const synced = this.#appender.sync();
      meanwhile?.();
      await synced;
    } catch (cause) {
      // The next process to open the log learns from where to trust nothing (repair.ts, R2).
      this.#lock.saySynced(this.#appender.synced);
      throw cause;
    }
  }

  /** True with `os` when the lock is ours, or is free and no other writer appended since. */
  #mayWriteNow(): boolean {
    if (this.#durability === "disk" || this.#draining || this.#appender.hasUnsyncedCut)
      return false;
    if (this.#mode === "exclusive") return true;
    if (!this.#lock.tryAcquire()) return false;
    if (this.#file.endsAt(this.#appender.end)) return true;
    this.#lock.release();
    return false;
  }

  #writeNow(bytes: Uint8Array, hasLf = false): ByteOffset {
    try {
      const lines = hasLf ? bytes : this.#withLf(bytes);
      const length = hasLf ? bytes.length : bytes.length + 1;
      const start = this.#appender.write(lines, length);
      this.#companion?.appended(lines, length, start);
      return this.#appender.end;
    } finally {
      this.#releaseShared();
    }
  }

  #composeNow(composed: Composed): ByteOffset {
    try {
      const start = this.#write(composed);
      this.#tell(composed, start);
      return start;
    } finally {
      this.#releaseShared();
    }
  }

  /**
   * Shared: releases the lock, after a cut only once that is durable. Appends queue up until then.
   */
  #releaseShared(): void {
    if (this.#mode !== "shared") return;
    if (this.#appender.hasUnsyncedCut) this.#draining = this.#syncCutAndRelease();
    else this.#lock.release();
  }

  async #syncCutAndRelease(): Promise<void> {
    await this.#syncCut();
    this.#lock.release();
    await this.#drain(false);
  }

  /** W3 across processes: another writer cannot see that bytes were cut, so it would not sync. */
  async #syncCut(): Promise<void> {
    if (!this.#appender.hasUnsyncedCut || this.#appender.failure) return;
    await this.#sync().catch(() => {}); // The appender has failed, and refuses further writes.
  }

  /** Returns where it starts. A composed batch may be empty. */
  #write(batch: Batch | Composed): ByteOffset {
    const { end } = this.#appender;
    if (batch instanceof Composed) batch.composeAt(end);
    if (batch.length > 0) this.#appender.write(batch.bytes, batch.length);
    return end;
  }

  /** Tells the companion about the write; with `disk` during the sync. */
  #tell(batch: Batch | Composed, start: ByteOffset): void {
    if (batch.length > 0) this.#companion?.appended(batch.bytes, batch.length, start);
    if (batch instanceof Composed) batch.around?.meanwhile?.();
  }

  /** The line and its LF, in a buffer shared by all lines. */
  #withLf(line: Uint8Array): Uint8Array {
    if (line.length >= this.#line.length) this.#line = Buffer.allocUnsafe(2 * line.length);
    this.#line.set(line);
    this.#line[line.length] = LF;
    return this.#line;
  }

  /** A queued batch with room for `bytes` more. */
  #batchFor(bytes: number): Batch {
    const { queueBytesMax, batchBytesMax } = this.#limits;
    if (this.#queuedBytes + bytes > queueBytesMax) {
      throw queueFull(this.path, this.#queuedBytes, queueBytesMax);
    }
    this.#queuedBytes += bytes;
    this.#draining ??= this.#drain();
    const last = this.#queue.at(-1);
    if (last instanceof Batch && last.length + bytes <= batchBytesMax) return last;
    const batch = new Batch(this.#spare);
    this.#spare = null;
    this.#queue.push(batch);
    return batch;
  }

  async #drain(gathers = true): Promise<void> {
    await null; // Into a microtask, wherever `append` was called (see callersHaveRun).
    for (let waits = gathers; ; waits = true) {
      if (waits) await callersHaveRun();
      const batch = this.#queue.shift();
      if (!batch) break;
      try {
        batch.resolve(await this.#commit(batch));
      } catch (error) {
        batch.reject(ioError(this.path, "appending", error));
      }
      if (batch instanceof Composed) continue;
      this.#queuedBytes -= batch.length;
      if (batch.bytes.length <= SPARE_BYTES_MAX) this.#spare = batch.bytes;
    }
    this.#draining = null;
  }

  async #commit(batch: Batch | Composed): Promise<ByteOffset> {
    if (this.#mode === "shared") await this.#lock.acquire(this.#lockWaitMs);
    try {
      await this.#catchUp();
      if (this.#appender.hasUnsyncedCut) await this.#sync(); // appender.ts, W3
      if (batch instanceof Composed) await batch.prepare(this.#syncAll);
      const start = this.#write(batch);
      const around = batch instanceof Composed ? batch.around : null;
      const more = batch.length > 0 ? (around?.more?.() ?? null) : null;
      const isToDisk = this.#durability === "disk" && batch.length > 0;
      if (more) await this.#writeMore(batch as Composed, more, start);
      else if (isToDisk) await this.#sync(() => this.#tell(batch, start));
      else this.#tell(batch, start);
      if (isToDisk) await this.#companion?.madeDurable();
      await around?.afterwards?.(this.#syncAll);
      return start;
    } finally {
      if (this.#mode === "shared") {
        await this.#syncCut();
        this.#saySyncedNowAndThen();
        this.#lock.release();
      }
    }
  }

  /** Continues after lines of other writers, and repairs what one of them left torn. */
  async #catchUp(): Promise<void> {
    if (this.#appender.failure) throw this.#appender.failure;
    if (this.#file.endsAt(this.#appender.end)) return;
    if (this.#file.size() < this.#appender.end) {
      throw this.#appender.fail("another program cut the log back");
    }
    const { end, cutBytes } = await repairTail(this.#place, this.#file);
    this.#appender.moveTo(end, cutBytes > 0);
    await this.#companion?.caughtUp(end, cutBytes);
  }

  /** Updates the lock file now and then, so that the next opening has little to rewrite. */
  #saySyncedNowAndThen(): void {
    const { synced, failure } = this.#appender;
    if (failure || synced - this.#saidSynced < DOUBTFUL_BYTES) return;
    this.#lock.saySynced(synced);
    this.#saidSynced = synced;
  }

  #saySyncedIfSure(): void {
    if (this.#mode === "shared" && !this.#lock.tryAcquire()) return; // Its holder will update it.
    if (this.#file.endsAt(this.#appender.synced)) this.#lock.saySynced(this.#appender.synced);
  }

  #refuseWhenDone(): void {
    if (this.#appender.failure) throw this.#appender.failure;
    if (!this.#closing) return;
    throw new VerbatimError("LOG_CLOSED", `${this.path} was closed; open it again to append`, {
      path: this.path,
    });
  }
}
