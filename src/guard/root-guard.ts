/**
 * Root guard: keeps copies of the sessions in one directory of a program.
 *
 * `scan` looks at all of them, `look` at one. Both copy what changed, in batches that are synced
 * together: bytes, then names, then times, then events.
 */

import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { errnoOf, type VerbatimError } from "../base/errors.ts";
import type { Directory, OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import { eachLog } from "../catalog/find.ts";
import type { FoundLog } from "../catalog/session-row.ts";
import { dialectNamed } from "../dialects/all.ts";
import { generationFile, guardedRootOf, type Kept } from "../dialects/files/guarded.ts";
import { readStretch } from "../log/bytes.ts";
import { compressCold } from "./cold.ts";
import { COMPARED_BYTES } from "./compare.ts";
import { type Copied, copyBytes } from "./copy-bytes.ts";
import { copyRows } from "./copy-rows.ts";
import { hashGeneration, stamp } from "./generation.ts";
import { Journal } from "./journal.ts";
import type { GuardSigning } from "./signing.ts";
import { isGone, openSource } from "./source.ts";
import { addVersion, VERSION_BYTES_MAX } from "./versions.ts";

/** Files and bytes that are synced together. */
const BATCH_FILES = 64;
const BATCH_BYTES = 32 * 1024 * 1024;
/** Other work runs after so many files were looked at. */
const SLICE_FILES = 256;
/** A change within the clock's resolution after a look would not be seen: look again. */
const YOUNG_MS = 100;
/** A missing file may be on its way back: it is being replaced. */
const REPLACING_MS = 250;
/** A file that rested so long is compared as a whole, once. */
const REST_MS = 60_000;

export interface RootGuardOptions {
  readonly host: Host;
  readonly dialect: string;
  /** The program's directory: a real path. */
  readonly root: string;
  readonly directory: string;
  readonly nowMs: () => number;
  readonly onEvent: (event: Readonly<Record<string, unknown>>) => void;
  readonly onWarning: (warning: string) => void;
  readonly signing: GuardSigning | null;
}

export interface Pass {
  readonly sessions: number;
  /** Sessions of which something was copied. */
  readonly copied: number;
  readonly bytes: number;
  readonly failed: number;
}

/** A source when it was last copied. */
interface Seen {
  readonly size: number;
  readonly mtimeMs: number;
  readonly isYoung: boolean;
  readonly owesCompare: boolean;
}

export class RootGuard {
  readonly root: string;
  readonly dialect: string;
  readonly directory: string;
  readonly #options: RootGuardOptions;
  readonly #journal: Journal;
  readonly #seen = new Map<string, Seen>();
  readonly #warned = new Map<string, string>();
  /** Directories that hold sessions, below the root: to be watched. */
  readonly directories = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();
  #failed = 0;
  #copied = 0;
  #bytes = 0;

  private constructor(options: RootGuardOptions, journal: Journal) {
    this.root = options.root;
    this.dialect = options.dialect;
    this.directory = journal.directory;
    this.#options = options;
    this.#journal = journal;
  }

  static async open(options: RootGuardOptions): Promise<RootGuard> {
    const { host, dialect: agent, root, directory, nowMs } = options;
    const place = guardedRootOf(agent, root, directory);
    return new RootGuard(options, await Journal.open(host, place, { agent, root }, nowMs));
  }

  get sessions(): ReadonlyMap<string, Kept> {
    return this.#journal.sessions;
  }

  /** Looks at every session, copies what changed and notes what is gone. */
  scan(): Promise<Pass> {
    return this.#inTurn(async () => {
      [this.#failed, this.#copied, this.#bytes] = [0, 0, 0];
      const there = new Map<string, string>();
      const hidden: string[] = [];
      let [batch, bytes] = [[] as FoundLog[], 0];
      const layout = dialectNamed(this.dialect).layout;
      const onUnreadable = ({ path, cause }: { path: string; cause: VerbatimError }) => {
        hidden.push(path);
        this.#warn(path, cause);
      };
      for (const found of eachLog(this.root, layout, { onUnreadable })) {
        there.set(found.path, found.id);
        this.directories.add(dirname(found.path));
        if (there.size % SLICE_FILES === 0) await setImmediate();
        if (!this.#isChanged(found)) continue;
        batch.push(found);
        bytes += found.size;
        if (batch.length < BATCH_FILES && bytes < BATCH_BYTES) continue;
        await this.#copy(batch);
        [batch, bytes] = [[], 0];
      }
      await this.#copy(batch);
      const moved = new Set(there.values());
      await this.#noteMissing(
        ({ path }) => !there.has(path),
        hidden,
        ({ id }) => moved.has(id),
      );
      const [copied, failed] = [this.#copied, this.#failed];
      return { sessions: there.size, copied, bytes: this.#bytes, failed };
    });
  }

  /** Looks at one path below the root; false: it is not a session's, so a scan is needed. */
  look(path: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const id = dialectNamed(this.dialect).idAt(path.split("/"));
      if (id === null) return false;
      const stats = lstatSync(join(this.root, path), { throwIfNoEntry: false });
      if (stats === undefined) await this.#noteMissing((kept) => kept.path === path, []);
      if (!stats?.isFile()) return true; // A scan reports what is no file.
      const found = { id, path, size: stats.size, mtimeMs: stats.mtimeMs };
      if (this.#isChanged(found)) await this.#copy([found]);
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

  #isChanged({ path, size, mtimeMs }: FoundLog): boolean {
    const seen = this.#seen.get(path);
    if (seen) {
      if (seen.isYoung || seen.size !== size || seen.mtimeMs !== mtimeMs) return true;
      return seen.owesCompare && this.#options.nowMs() - mtimeMs > REST_MS;
    }
    const kept = this.sessions.get(path);
    if (!kept || kept.isClosed || kept.deletedAt !== null) return true;
    const copy = generationFile(this.directory, path, kept.generation);
    const isSize = kept.kind === "rows" || copy?.isCompressed || copy?.stats.size === size;
    if (!copy || !isSize || Math.abs(copy.stats.mtimeMs - mtimeMs) >= 1) return true;
    this.#seen.set(path, { size, mtimeMs, isYoung: false, owesCompare: false });
    return false;
  }

  async #copy(batch: readonly FoundLog[]): Promise<void> {
    const done: { found: FoundLog; copied: Copied; directory: Directory; nowMs: number }[] = [];
    const opened = new Map<string, Directory>();
    const events: Readonly<Record<string, unknown>>[] = [];
    try {
      for (const found of batch) {
        const nowMs = this.#options.nowMs();
        try {
          const directory = await this.#directoryOf(found.path, opened);
          done.push({ found, copied: await this.#copyOne(found, directory), directory, nowMs });
        } catch (cause) {
          this.#refused(found.path, cause);
        }
      }
      await Promise.all(
        done.map(async ({ found, copied, directory, nowMs }) => {
          if (await this.#makeDurable(found, copied)) {
            this.#settle(found, copied, directory, nowMs);
            events.push(...copied.events);
          }
        }),
      );
      const isNew = new Set(
        done.filter(({ copied }) => copied.isNew).map((each) => each.directory),
      );
      for (const directory of isNew) await directory.sync();
    } finally {
      for (const directory of opened.values()) directory.close();
    }
    await this.#tell(events);
  }

  /** Syncs a copy; what could not be synced is cut off again, and copied at the next look. */
  async #makeDurable({ path }: FoundLog, copied: Copied): Promise<boolean> {
    const { file, before, end } = copied;
    try {
      if (end > before || copied.isNew) await file.sync();
      return true;
    } catch (cause) {
      file.truncate(before);
      this.#refused(path, cause);
      return false;
    } finally {
      file.close();
    }
  }

  #settle(found: FoundLog, copied: Copied, directory: Directory, nowMs: number): void {
    const { path, size, mtimeMs } = found;
    if (copied.end > copied.before) {
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

  async #copyOne(found: FoundLog, directory: Directory): Promise<Copied> {
    const { host, nowMs, signing } = this.#options;
    const { path, id, mtimeMs } = found;
    const kept = this.sessions.get(path);
    const seen = this.#seen.get(path);
    const name = basename(path);
    const isResting = seen?.owesCompare === true && nowMs() - mtimeMs > REST_MS;
    const isThorough = seen === undefined || isResting;
    const opened = await openSource(host, this.dialect, this.root, found);
    try {
      const work = { source: opened.file, directory, name, path, id, kept };
      const stretch = signing?.stretch(this.directory, `${this.dialect}/${id}`, path);
      const onAppend = stretch ? { onAppend: stretch.add } : {};
      const mode = opened.mode ?? 0o600;
      const copied = opened.isPlain
        ? await copyBytes({ ...work, mode, isThorough, ...onAppend })
        : await copyRows({ ...work, ...opened, dialect: dialectNamed(this.dialect), ...onAppend });
      try {
        if (opened.raw) await this.#addVersion(found, directory, opened.raw, copied, mode);
        if (stretch) {
          await copied.file.sync();
          await stretch.sign(copied, opened.isPlain ? "bytes" : "messages");
        }
      } catch (cause) {
        copied.file.close();
        throw cause;
      }
      return copied;
    } finally {
      opened.file.close();
      opened.raw?.close();
    }
  }

  async #addVersion(
    { path, mtimeMs }: FoundLog,
    directory: Directory,
    raw: OpenFile,
    { generation }: Copied,
    mode: number,
  ): Promise<void> {
    const size = raw.size();
    if (size > VERSION_BYTES_MAX) {
      const text = `only its rows are kept: it has over ${VERSION_BYTES_MAX} bytes`;
      return this.#warn(path, new Error(text));
    }
    const at = new Date(this.#options.nowMs()).toISOString();
    const facts = { at, generation, mtime_ms: mtimeMs, mode };
    await addVersion(directory, basename(path), await readStretch(raw, 0, size), facts);
  }

  async #directoryOf(path: string, opened: Map<string, Directory>): Promise<Directory> {
    const below = dirname(path);
    const known = opened.get(below);
    if (known) return known;
    const options = { create: true, root: this.directory };
    const { files } = this.#options.host;
    const directory = await files.openDirectory(join(this.directory, below), options);
    opened.set(below, directory);
    return directory;
  }

  /** A session that has another file now, such as a compressed one, is not deleted. */
  async #noteMissing(
    isMissing: (kept: Kept) => boolean,
    hidden: readonly string[],
    isElsewhere: (kept: Kept) => boolean = () => false,
  ): Promise<void> {
    const missing = [...this.sessions.values()].filter(
      (kept) =>
        kept.deletedAt === null &&
        isMissing(kept) &&
        !isElsewhere(kept) &&
        !hidden.some((each) => each === "" || `${kept.path}/`.startsWith(`${each}/`)),
    );
    if (missing.length === 0) return;
    await this.#options.host.clock.sleep(REPLACING_MS);
    const events: Readonly<Record<string, unknown>>[] = [];
    for (const { path, id, generation, mode } of missing) {
      if (mode !== null && !isGone(join(this.root, path))) continue;
      this.#seen.delete(path);
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
    this.#failed++;
    this.#seen.delete(path);
    this.#warn(path, cause);
  }

  /** Each reason once, until the session is copied. */
  #warn(path: string, cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (this.#warned.get(path) === reason) return;
    this.#warned.set(path, reason);
    this.#options.onWarning(`${join(this.root, path)} is not guarded: ${reason}`);
  }
}
