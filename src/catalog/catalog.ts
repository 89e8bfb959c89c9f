/**
 * Catalog: what we know of every session, kept so that a listing need not read their logs.
 *
 * An index of logs and nothing more: it may be deleted at any time, and is made anew from them.
 * Its place is the caller's to choose; its format is docs/formats/catalog.md. Sessions are kept
 * by dialect, real path of the root, and id.
 *
 * K1  A row is as true as its size and modification time: when the log's are other than the
 *     row's, the log is summarised again. They are taken before it is read, so a log that grows
 *     meanwhile is stale the next time, never wrongly fresh.
 * K2  No failure of the database reaches the caller. Without one, sessions are summarised each
 *     time, and `problem` says why.
 * K3  A listing that changes nothing writes nothing.
 */

import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { type FoundLog, type SessionRow, type SessionSort, sortRows } from "./session-row.ts";
import { type Cache, isDamage, isSqliteError, openCache, problemOf } from "./sqlite.ts";
import type { Summary } from "./summary.ts";
import { COLUMNS, READ_PAGE, rowOf, SCHEMA, type StoredRow, UPSERT, valuesOf } from "./table.ts";

/** Logs that are summarised at the same time. */
const SUMMARISED_AT_ONCE = 8;
/** Rows written in one transaction: what an interrupted first listing loses at most. */
const ROWS_PER_WRITE = 256;
/** Rows read in one piece, some 5 MB of JSON. */
const ROWS_PER_READ = 20_000;

/** How far a freshening is: sessions summarised, of those that need it. */
export type FreshenProgress = (done: number, total: number) => void;

export interface Freshened {
  /** One per log found, in the order of finding. */
  readonly rows: readonly SessionRow[];
  /** Logs that could not be summarised. Their rows have only what was found, and are not kept. */
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
  readonly summarised: number;
  readonly removed: number;
}

export interface RowOptions {
  readonly limit?: number;
  /** Default: the last updated first. */
  readonly sort?: SessionSort;
}

export class Catalog {
  readonly path: string;
  #cache: Cache | null;
  #problem: string | null;
  #isReplaced = false;

  private constructor(path: string, cache: Cache | null, problem: string | null) {
    this.path = path;
    this.#cache = cache;
    this.#problem = problem;
  }

  /** Opens the catalog, or one that keeps nothing when the file cannot be had (K2). */
  static async open(path: string): Promise<Catalog> {
    const { cache, problem } = await openCache(path, SCHEMA);
    return new Catalog(path, cache, problem);
  }

  /** Why nothing is kept ("EROFS", "SQLITE_FULL"); null when all is well. */
  get problem(): string | null {
    return this.#problem;
  }

  /**
   * Brings the rows of a root in line with the logs found there, and gives them. `summarise` is
   * asked for the logs that are new or have changed, several at a time.
   */
  async freshen(
    dialect: string,
    root: string,
    found: Iterable<FoundLog>,
    summarise: (id: string) => Promise<Summary>,
    onProgress: FreshenProgress = () => {},
  ): Promise<Freshened> {
    const at: Place = { dialect, root: realRoot(root) };
    const kept = new Map<string, StoredRow>();
    for (const stored of await this.#attempt((cache) => readRows(cache, at), [])) {
      kept.set(stored[0], stored);
    }

    const rows: (SessionRow | null)[] = [];
    const stale: { readonly index: number; readonly log: FoundLog }[] = [];
    for (const log of found) {
      const stored = kept.get(log.id);
      kept.delete(log.id);
      const isFresh = stored !== undefined && isSame(stored, log);
      if (!isFresh) stale.push({ index: rows.length, log });
      rows.push(isFresh ? rowOf(stored, log) : null);
    }

    const vanished = [...kept.keys()];
    if (vanished.length > 0) await this.#attempt((cache) => removeRows(cache, at, vanished), null);
    const failures: { id: string; error: unknown }[] = [];
    const unwritten: SessionRow[] = [];
    let done = 0;
    await inParallel(stale, async ({ index, log }) => {
      const summary = await summarise(log.id).catch((error: unknown) => {
        failures.push({ id: log.id, error });
        return null;
      });
      const row = { ...location(log), ...(summary ?? NOTHING_KNOWN) };
      rows[index] = row;
      if (summary !== null) unwritten.push(row);
      if (unwritten.length === ROWS_PER_WRITE) await this.#write(at, unwritten.splice(0));
      onProgress(++done, stale.length);
    });
    if (unwritten.length > 0) await this.#write(at, unwritten);
    return {
      rows: rows.filter((row) => row !== null),
      failures,
      summarised: stale.length - failures.length,
      removed: vanished.length,
    };
  }

  /** The rows as they are kept, without a look at the disk. */
  async rows(
    dialect: string,
    root: string,
    { limit, sort = "updated" }: RowOptions = {},
  ): Promise<SessionRow[]> {
    const at: Place = { dialect, root: realRoot(root) };
    const stored = await this.#attempt((cache) => readRows(cache, at), []);
    return sortRows(
      stored.map((row) => rowOf(row)),
      sort,
    ).slice(0, limit);
  }

  close(): void {
    this.#cache?.close();
    this.#cache = null;
  }

  async #write(at: Place, rows: readonly SessionRow[]): Promise<void> {
    await this.#attempt((cache) => writeRows(cache, at, rows), null);
  }

  /** Does `work` on the database; `otherwise` when there is none, or no more (K2). */
  async #attempt<T>(work: (cache: Cache) => T, otherwise: T): Promise<T> {
    if (this.#cache === null) return otherwise;
    try {
      return work(this.#cache);
    } catch (cause) {
      if (!isSqliteError(cause)) throw cause;
      if (!isDamage(cause) || this.#isReplaced) {
        this.#giveUp(cause);
        return otherwise;
      }
    }
    this.#isReplaced = true;
    this.close();
    const { cache, problem } = await openCache(this.path, SCHEMA, { isSuspect: true });
    this.#cache = cache;
    this.#problem = problem;
    return this.#attempt(work, otherwise);
  }

  #giveUp(cause: unknown): void {
    this.#problem = problemOf(cause);
    // Our statements are right, so the tables are not those we made: another version's, perhaps.
    if (this.#problem === "SQLITE_ERROR") this.#cache?.spoil();
    this.close();
  }
}

/** A root in one dialect. */
interface Place {
  readonly dialect: string;
  /** Its real path: a root reached through a link is the same root. */
  readonly root: string;
}

const NOTHING_KNOWN: Summary = {
  title: null,
  agent: null,
  model: null,
  status: null,
  turns: 0,
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
  spend: null,
  createdAt: null,
  updatedAt: null,
  lines: 0,
  badLines: 0,
};
