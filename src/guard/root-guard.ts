/**
 * Root guard: keeps copies of the sessions in one directory of a program.
 *
 * `scan` looks at all of them, `look` at one. Both copy what changed, in batches that are synced
 * together: bytes, then names, then times, then events.
 */

import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { errnoOf, type VerbatimError } from "../core/base/errors.ts";
import type { Directory } from "../core/base/files.ts";
import { dialectNamed, loadDialects } from "../dialects/all.ts";
import {
  type GuardRecord,
  generationBytes,
  generationFile,
  guardedRootOf,
} from "../dialects/files/guard-store.ts";
import { iterateLogs } from "../dialects/find.ts";
import type { FoundLog } from "../dialects/session-row.ts";
import { COMPARED_BYTES } from "./compare.ts";
import { type CopiedBytes, makeBuffers } from "./copy-bytes.ts";
import { copySession, type SessionCopyOptions } from "./copy-session.ts";
import { compressCold, hashGeneration, stamp, syncGeneration } from "./generation.ts";
import { GuardJournal } from "./journal.ts";
import { signedBytes } from "./signatures.ts";
import { isGone, OpenDirectories, Sources } from "./source.ts";

/** Files and bytes that are synced together. */
const BATCH_FILES = 64;
const BATCH_BYTES = 32 * 1024 * 1024;
/** Fewer than threads of Node that do such work: the next batch is read meanwhile. */
const SYNCS_AT_ONCE = 2;
/** Other work runs after so many files were looked at. */
const SLICE_FILES = 256;
/** A change within the clock's resolution after a look would not be seen: look again. */
const YOUNG_MS = 100;
/** A missing file may be on its way back: it is being replaced. */
const REPLACING_MS = 250;
/** A file that rested so long is compared as a whole, once. */
const REST_MS = 60_000;
/** The length in a compressed copy is modulo this. */
const GZIP_COUNTS = 2 ** 32;

export interface RootGuardOptions extends SessionCopyOptions {
  /** The guard's store. */
  readonly directory: string;
  readonly onEvent: (event: Readonly<Record<string, unknown>>) => void;
  readonly onWarning: (warning: string) => void;
}

export interface GuardPass {
  readonly sessions: number;
  /** Sessions of which something was copied. */
  readonly copied: number;
  readonly bytes: number;
  readonly failed: number;
  /** Sessions that are not copied: `rm` removed their copies. */
  readonly unwanted: number;
}

/** A source when it was last copied. */
interface SourceState {
  readonly size: number;
  readonly mtimeMs: number;
  readonly isYoung: boolean;
  readonly owesCompare: boolean;
}

interface CopiedSession {
  readonly found: FoundLog;
  readonly copied: CopiedBytes;
  /** Of the copy. */
  readonly directory: Directory;
  /** Before it was read. */
  readonly nowMs: number;
  /** This guard did not copy it before: a guard that was killed may have left bytes unsynced. */
  readonly isFirst: boolean;
}

/** Copies that are not durable yet, and the directories that are open for them. */
interface Batch {
  readonly copies: readonly CopiedSession[];
  readonly opened: OpenDirectories;
}

export class RootGuard {
  readonly root: string;
  readonly dialect: string;
  readonly directory: string;
  readonly #options: RootGuardOptions;
  readonly #journal: GuardJournal;
  readonly #seen = new Map<string, SourceState>();
  readonly #warned = new Map<string, string>();
  readonly #buffers = makeBuffers();
  /** Directories that hold sessions, below the root: to be watched. */
  readonly directories = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();
  #unwanted: ReadonlySet<string> = new Set();
  #isUnsignedTold = false;
  #failed = 0;
  #copied = 0;
  #bytes = 0;

  private constructor(options: RootGuardOptions, journal: GuardJournal) {
    this.root = options.root;
    this.dialect = options.dialect;
    this.directory = journal.directory;
    this.#options = options;
    this.#journal = journal;
  }

  static async open(options: RootGuardOptions): Promise<RootGuard> {
    await loadDialects([options.dialect]);
    const { host, dialect: agent, root, directory, nowMs } = options;
    const place = guardedRootOf(agent, root, directory);
    return new RootGuard(options, await GuardJournal.open(host, place, { agent, root }, nowMs));
  }

  get sessions(): ReadonlyMap<string, GuardRecord> {
    return this.#journal.sessions;
  }

  /** Looks at every session, copies what changed and notes what is gone. */
  scan(): Promise<GuardPass> {
    return this.#inTurn(async () => {
      this.#failed = 0;
      this.#copied = 0;
      this.#bytes = 0;
      const removed = [...this.sessions.values()].filter(({ isRemoved }) => isRemoved);
      this.#unwanted = new Set(removed.map(({ id }) => id));
      const there = new Map<string, string>();
      const hidden: string[] = [];
      let committing = Promise.resolve();
      try {
        for await (const batch of this.#changed(there, hidden)) {
          const before = committing;
          committing = this.#commit(await this.#copy(batch), before);
          committing.catch(() => {}); // Thrown when awaited.
          await before;
        }
        await committing;
      } finally {
        await Promise.allSettled([committing]);
      }
      const moved = new Set(there.values());
      await this.#noteMissing(({ path, id }) => !there.has(path) && !moved.has(id), hidden);
      const [copied, failed] = [this.#copied, this.#failed];
      const unwanted = [...there.values()].filter((id) => this.#unwanted.has(id)).length;
      return { sessions: there.size, copied, bytes: this.#bytes, failed, unwanted };
    });
  }

  /** Sessions that changed, in batches; adds all of them and what could not be listed. */
  async *#changed(there: Map<string, string>, hidden: string[]): AsyncGenerator<FoundLog[]> {
    const { layout } = dialectNamed(this.dialect).naming;
    const onUnreadable = ({ path, cause }: { path: string; cause: VerbatimError }) => {
      hidden.push(path);
      this.#warn(path, cause);
    };
    let [batch, bytes] = [[] as FoundLog[], 0];
    const onNoId = (path: string) => this.#warn(path, new Error("its name cannot be an id"));
    for (const found of iterateLogs(this.root, layout, { onUnreadable, onNoId })) {
      there.set(found.path, found.id);
      this.directories.add(dirname(found.path));
      if (there.size % SLICE_FILES === 0) await setImmediate();
      if (!this.#isChanged(found)) continue;
      batch.push(found);
      bytes += found.size;
      if (batch.length < BATCH_FILES && bytes < BATCH_BYTES) continue;
      yield batch;
      batch = [];
      bytes = 0;
    }
    if (batch.length > 0) yield batch;
  }

  /**
   * Looks at one path below the root; false: a scan is needed. It is not a session's, or the session
   * may have another file now.
   */
  look(path: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const id = dialectNamed(this.dialect).naming.idAt(path.split("/"));
      if (id === null) return false;
      const stats = lstatSync(join(this.root, path), { throwIfNoEntry: false });
      if (stats === undefined) return this.sessions.get(path)?.deletedAt !== null;
      if (!stats.isFile()) return true; // A scan reports what is no file.
      const found = { id, path, size: stats.size, mtimeMs: stats.mtimeMs };
      if (this.#isChanged(found)) await this.#commit(await this.#copy([found]));
      return true;
    });
  }

  /** Compresses copies that did not change for long. */
  compressCold(): Promise<void> {
    const { host, nowMs } = this.#options;
    return this.#inTurn(() => compressCold(host, this.directory, this.sessions, nowMs()));
  }

  async close(): Promise<void> {
    await this.#turn;
    await this.#journal.close();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {}); // The caller receives the error.
    return done;
  }

  #isChanged({ path, id, size, mtimeMs }: FoundLog): boolean {
    if (this.#unwanted.has(id)) return false;
    const seen = this.#seen.get(path);
    if (seen) {
      if (seen.isYoung || seen.size !== size || seen.mtimeMs !== mtimeMs) return true;
      return seen.owesCompare && this.#options.nowMs() - mtimeMs > REST_MS;
    }
    const kept = this.sessions.get(path);
    if (!kept || kept.isClosed || kept.deletedAt !== null) return true;
    const copy = generationFile(this.directory, path, kept.generation);
    if (!copy || Math.abs(copy.stats.mtimeMs - mtimeMs) >= 1) return true;
    const bytes = copy.isCompressed
      ? generationBytes(this.directory, path, kept.generation)
      : copy.stats.size;
    if (kept.kind === "bytes" && (size - bytes) % GZIP_COUNTS !== 0) return true;
    if (this.#options.signing && bytes !== signedBytes(this.directory, path, kept.generation)) {
      return true;
    }
    this.#seen.set(path, { size, mtimeMs, isYoung: false, owesCompare: false });
    return false;
  }

  async #copy(batch: readonly FoundLog[]): Promise<Batch> {
    const { host, nowMs } = this.#options;
    const copies: CopiedSession[] = [];
    const opened = new OpenDirectories(host, this.directory, { create: true });
    const sources = new Sources(host, this.dialect, this.root);
    for (const found of batch) {
      const atMs = nowMs();
      const isFirst = !this.#seen.has(found.path);
      try {
        const directory = await opened.of(found.path);
        const copied = await this.#copyOne(found, sources, directory);
        copies.push({ found, copied, directory, nowMs: atMs, isFirst });
      } catch (cause) {
        this.#refused(found.path, cause);
      }
    }
    sources.close();
    return { copies, opened };
  }

  /** Makes a batch durable, after the one before: bytes, then names, then times, then events. */
  async #commit({ copies, opened }: Batch, before?: Promise<void>): Promise<void> {
    const durable: CopiedSession[] = [];
    try {
      await before;
      const left = copies.values();
      const syncRest = async () => {
        for (const each of left) if (await this.#makeDurable(each)) durable.push(each);
      };
      await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, syncRest));
      const fresh = durable.filter(({ copied }) => copied.isNew);
      for (const directory of new Set(fresh.map((each) => each.directory))) await directory.sync();
    } finally {
      for (const { copied } of copies) copied.file.close();
      opened.close();
    }
    for (const each of durable) this.#settle(each);
    try {
      await this.#tell(durable.flatMap(({ copied }) => copied.events));
    } catch (cause) {
      // The next look finds the same events again.
      for (const { found } of durable) this.#seen.delete(found.path);
      throw cause;
    }
  }

  /** Syncs a copy; what could not be synced is cut off again, and copied at the next look. */
  async #makeDurable({ found: { path }, copied, isFirst }: CopiedSession): Promise<boolean> {
    const { file, before, end } = copied;
    try {
      if (end > before || copied.isNew || isFirst) await file.sync();
      return true;
    } catch (cause) {
      file.truncate(before);
      this.#refused(path, cause);
      return false;
    }
  }

  #settle({ found, copied, directory, nowMs }: CopiedSession): void {
    const { path, size, mtimeMs } = found;
    if (copied.end > copied.before) {
      if (this.#options.signing === null) this.#warnUnsigned(path, copied.generation);
      this.#copied++;
      this.#bytes += copied.end - copied.before;
    }
    if (copied.cause !== null) {
      this.#refused(path, copied.cause);
      return;
    }
    this.#warned.delete(path);
    const isYoung = copied.isMoving || nowMs - mtimeMs < YOUNG_MS;
    const owesCompare = copied.owesCompare && copied.end > COMPARED_BYTES;
    this.#seen.set(path, { size, mtimeMs, isYoung, owesCompare });
    if (!isYoung) stamp(join(directory.path, copied.name), mtimeMs);
  }

  #copyOne(found: FoundLog, sources: Sources, directory: Directory): Promise<CopiedBytes> {
    const { path, mtimeMs } = found;
    const seen = this.#seen.get(path);
    const isResting = seen?.owesCompare === true && this.#options.nowMs() - mtimeMs > REST_MS;
    return copySession(this.#options, {
      found,
      sources,
      directory,
      guardedRoot: this.directory,
      buffers: this.#buffers,
      kept: this.sessions.get(path),
      isThorough: seen === undefined || isResting,
      warn: (at, cause) => this.#warn(at, cause),
    });
  }

  /** A session that has another file now, such as a compressed one, is not deleted. */
  async #noteMissing(
    isMissing: (kept: GuardRecord) => boolean,
    hidden: readonly string[],
  ): Promise<void> {
    const missing = [...this.sessions.values()].filter(
      (kept) =>
        kept.deletedAt === null &&
        !kept.isRemoved &&
        isMissing(kept) &&
        !hidden.some((each) => each === "" || `${kept.path}/`.startsWith(`${each}/`)),
    );
    if (missing.length === 0) return;
    await this.#options.host.clock.sleep(REPLACING_MS);
    const events: Readonly<Record<string, unknown>>[] = [];
    for (const { path, id, generation, mode } of missing) {
      if (mode !== null && !isGone(join(this.root, path))) continue;
      this.#seen.delete(path);
      await syncGeneration(this.#options.host, this.directory, path, generation);
      const hash = await hashGeneration(this.directory, path, generation);
      if (hash) events.push({ event: "source_deleted", path, id, generation, ...hash });
    }
    await this.#tell(events);
  }

  async #tell(events: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    await this.#journal.add(events);
    for (const event of events) this.#options.onEvent({ agent: this.dialect, ...event });
  }

  #refused(path: string, cause: unknown): void {
    if (errnoOf(cause) === "ENOENT") return; // Deleted meanwhile: the next scan notes it.
    this.#seen.delete(path);
    this.#warn(path, cause);
  }

  /** Once: other signed copies are continued in the same way. */
  #warnUnsigned(path: string, generation: number): void {
    if (this.#isUnsignedTold || signedBytes(this.directory, path, generation) === 0) return;
    this.#isUnsignedTold = true;
    this.#options.onWarning(
      `the copy of ${join(this.root, path)} was signed so far, and what is added now is not: ` +
        "add --sign, or run `verbatim guard --once --sign` later",
    );
  }

  /** Something is not guarded. Each reason is reported once, until the session is copied. */
  #warn(path: string, cause: unknown): void {
    this.#failed++;
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (this.#warned.get(path) === reason) return;
    this.#warned.set(path, reason);
    this.#options.onWarning(`${join(this.root, path)} is not guarded: ${reason}`);
  }
}
