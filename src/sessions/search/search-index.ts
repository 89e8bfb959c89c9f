/**
 * Search index: the words and the tools of every session, in a file next to the catalog.
 *
 * A cache like the catalog: it may be deleted at any time, and is rebuilt from the logs. Its caller
 * passes the sessions and their contents, piece by piece.
 *
 * - A piece is written in one transaction, together with how far its session is indexed. A process
 *   that is killed in between loses that piece, and the next one continues after the last.
 * SI2  A piece is added only directly after the piece it was read after: when several processes
 *      index one session, one wins each piece, and the others' are dropped (`isTaken`).
 * - A file that was damaged, or deleted while open, is created again; the caller gets
 *   IndexBegunAnew, since its knowledge of the old one no longer holds. Without a file there is no
 *   search: CATALOG_UNAVAILABLE.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { VerbatimError } from "../../core/base/errors.ts";
import {
  type Cache,
  isDamage,
  isSqliteError,
  openCache,
  type SqlValue,
} from "../../core/sqlite/sqlite.ts";
import { problemOf, remedyOf } from "../../core/sqlite/sqlite-driver.ts";
import { realRoot } from "../catalog/catalog.ts";
import { isFresh, type LogState } from "../catalog/table.ts";
import type { FoldedPiece } from "./index-fold.ts";
import {
  addSession,
  type EntryWords,
  type IndexedPlace,
  type IndexedSession,
  makeRoot,
  mergeWords,
  type Progress,
  readSession,
  removePiece,
  rootKey,
  SEARCH_SCHEMA,
  writePiece,
  writeWords,
} from "./index-table.ts";

/** How long to wait for other processes' transactions, and the pause between tries. */
const BUSY_MS_MAX = 30_000;
const BUSY_PAUSE_MS = 25;
/** Sessions per statement. */
const KNOWN_PER_READ = 1_000;

/**
 * By columns, each in one text: passing single values takes several times as long. From an index
 * alone: rows have long states. Exported for its test, which checks SQLite's query plan.
 */
export const KNOWN_SESSIONS_SQL = `
SELECT json_group_array(id), json_group_array(size), json_group_array(mtime_us)
FROM (SELECT id, size, mtime_us FROM sessions
  WHERE root = ? AND id > ? ORDER BY id LIMIT ${KNOWN_PER_READ})`;

const WORDLESS = `
SELECT id, size FROM sessions WHERE root = ? AND has_words = 0 AND indexed_to > 0 ORDER BY id LIMIT ?`;

/** A piece of a session, to be added after `before` (null: nothing). */
export interface NewPiece {
  readonly place: IndexedPlace;
  readonly id: string;
  readonly before: IndexedSession | null;
  readonly piece: FoldedPiece;
  readonly progress: Progress;
}

/** The file was damaged or deleted: it was created again and may be empty. Call again. */
export class IndexBegunAnew extends VerbatimError<"CATALOG_UNAVAILABLE"> {}

/** Does `work`, and once more if it found the index damaged: the index is empty then. */
export async function againIfDamaged<T>(work: (isAgain: boolean) => Promise<T>): Promise<T> {
  return work(false).catch((cause: unknown) => {
    if (cause instanceof IndexBegunAnew) return work(true);
    throw cause;
  });
}

export class SearchIndex {
  readonly path: string;
  #cache: Cache | null;
  #problem: string;

  private constructor(path: string, cache: Cache | null, problem: string | null) {
    this.path = path;
    this.#cache = cache;
    this.#problem = problem ?? "";
  }

  /** Refuses with CATALOG_UNAVAILABLE. */
  static async open(path: string): Promise<SearchIndex> {
    const { cache, problem } = await openCache(path, SEARCH_SCHEMA);
    const index = new SearchIndex(path, cache, problem);
    if (cache === null) throw index.#unavailable();
    return index;
  }

  close(): void {
    this.#cache?.close();
    this.#cache = null;
  }

  /** Removes everything. */
  async clear(): Promise<void> {
    this.#cache?.spoil();
    await this.#reopen(false);
  }

  /** What is stored about a session, or null. */
  session({ dialect, root }: IndexedPlace, id: string): Promise<IndexedSession | null> {
    return this.attempt((cache) => {
      const key = rootKey(cache, dialect, realRoot(root));
      return key === null ? null : readSession(cache, key, id);
    });
  }

  /** The ids of a place's indexed sessions, with their logs' states; in pieces. */
  async *known({ dialect, root }: IndexedPlace): AsyncGenerator<Map<string, LogState>> {
    const path = realRoot(root);
    for (let after: string | undefined = ""; after !== undefined; ) {
      const from: string = after;
      const [ids, sizes, mtimes] = await this.attempt((cache) => {
        const key = rootKey(cache, dialect, path);
        return key === null ? [] : cache.row(KNOWN_SESSIONS_SQL, key, from).map(listIn);
      });
      const states = new Map<string, LogState>();
      for (const [at, id] of (ids ?? []).entries()) {
        const mtimeMs = Number(mtimes?.[at]) / 1000;
        states.set(String(id), { size: Number(sizes?.[at]), mtimeMs });
      }
      yield states;
      const last = ids?.[KNOWN_PER_READ - 1];
      after = last === undefined ? undefined : String(last);
    }
  }

  /** The places in the index. */
  places(): Promise<IndexedPlace[]> {
    return this.attempt((cache) => {
      const rows = cache.all("SELECT dialect, path FROM roots");
      return rows.map(({ dialect, path }) => ({ dialect: String(dialect), root: String(path) }));
    });
  }

  /** Sessions of a place that were read and have no words, up to `limit`. */
  wordless(
    { dialect, root }: IndexedPlace,
    limit: number,
  ): Promise<{ id: string; size: number }[]> {
    const path = realRoot(root);
    return this.attempt((cache) => {
      const key = rootKey(cache, dialect, path);
      if (key === null) return [];
      return cache
        .all(WORDLESS, key, limit)
        .map(({ id, size }) => ({ id: String(id), size: Number(size) }));
    });
  }

  /** Removes a place without sessions. */
  removePlace({ dialect, root }: IndexedPlace): Promise<void> {
    return this.attempt((cache) => {
      const isEmpty = "root NOT IN (SELECT root FROM sessions)";
      const sql = `DELETE FROM roots WHERE dialect = ? AND path = ? AND ${isEmpty}`;
      cache.run(sql, dialect, realRoot(root));
    });
  }

  /**
   * Adds pieces of sessions, in this order, all or none of them. Returns the new state of each
   * session; null when it was not added, because something else was added before it (SI2).
   */
  add(pieces: readonly NewPiece[]): Promise<(IndexedSession | null)[]> {
    const roots = new Set(pieces.map(({ place }) => place.root));
    const paths = new Map([...roots].map((root) => [root, realRoot(root)]));
    return this.attempt((cache) => {
      let results: (IndexedSession | null)[] = [];
      cache.transaction(() => {
        const words: EntryWords[][] = [];
        results = pieces.map((piece) => {
          const { dialect, root } = piece.place;
          const key = makeRoot(cache, dialect, paths.get(root) ?? root);
          return addPiece(cache, key, piece, words);
        });
        for (const each of words) writeWords(cache, each);
      });
      return results;
    });
  }

  /** Removes some of a session's entries; returns whether none is left. */
  remove(place: IndexedPlace, id: string, entriesMax: number): Promise<boolean> {
    const path = realRoot(place.root);
    return this.attempt((cache) => {
      let isGone = true;
      cache.transaction(() => {
        const root = rootKey(cache, place.dialect, path);
        const indexed = root === null ? null : readSession(cache, root, id);
        if (indexed !== null) isGone = removePiece(cache, indexed.session, entriesMax);
      });
      return isGone;
    });
  }

  /** Merges some of the full-text index: many small additions make searching slow. */
  merge(pages: number): Promise<void> {
    return this.attempt((cache) => mergeWords(cache, pages));
  }

  /** Does `work` on the database, waiting for other processes. */
  async attempt<T>(work: (cache: Cache) => T): Promise<T> {
    for (let waitedMs = 0; ; waitedMs += BUSY_PAUSE_MS) {
      if (this.#cache === null) throw this.#unavailable();
      try {
        return work(this.#cache);
      } catch (cause) {
        if (!isSqliteError(cause)) throw cause;
        const problem = problemOf(cause);
        const isBusy = problem.startsWith("SQLITE_BUSY") && waitedMs < BUSY_MS_MAX;
        if (!isBusy) await this.#giveUp(cause, problem);
      }
      await sleep(BUSY_PAUSE_MS);
    }
  }

  async #giveUp(cause: unknown, problem: string): Promise<never> {
    this.#problem = problem;
    // Our statements are right: tables that do not fit are of another version or program.
    const isWrong = isDamage(cause) || problem === "SQLITE_ERROR";
    if (!isWrong && !problem.startsWith("SQLITE_IOERR")) throw this.#unavailable();
    if (isWrong) this.#cache?.spoil();
    await this.#reopen(isDamage(cause));
    const { path } = this;
    const message = `the search index at ${path} was damaged (${problem}); it was created again`;
    throw new IndexBegunAnew("CATALOG_UNAVAILABLE", message, { path, problem });
  }

  async #reopen(isSuspect: boolean): Promise<void> {
    this.close();
    const { cache, problem } = await openCache(this.path, SEARCH_SCHEMA, { isSuspect });
    this.#cache = cache;
    this.#problem = problem ?? "";
    if (cache === null) throw this.#unavailable();
  }

  #unavailable(): VerbatimError<"CATALOG_UNAVAILABLE"> {
    const { path } = this;
    const problem = this.#problem || "closed";
    return new VerbatimError(
      "CATALOG_UNAVAILABLE",
      `sessions cannot be searched: the index at ${path} cannot be opened (${problem}); ` +
        remedyOf(problem, "free some space, or set XDG_CACHE_HOME to a writable directory"),
      { path, problem },
    );
  }
}

function listIn(json: SqlValue): SqlValue[] {
  return JSON.parse(String(json)) as SqlValue[];
}

/** All but its words, which are added to `words`. */
function addPiece(
  cache: Cache,
  root: number,
  { id, before, piece, progress }: NewPiece,
  words: EntryWords[][],
): IndexedSession | null {
  if (!isSame(readSession(cache, root, id), before)) return null;
  const session = before?.session ?? addSession(cache, root, id);
  words.push(writePiece(cache, session, piece, progress));
  const { indexedTo, mark, state, log } = progress;
  const { size, mtimeMs } = log ?? { size: -1, mtimeMs: 0 };
  return { session, size, mtimeMs, indexedTo, mark, state };
}

/** Whether all of a log is indexed in its current state. */
export function isIndexed(indexed: LogState | undefined, log: LogState): boolean {
  return indexed !== undefined && isFresh(indexed, log);
}

function isSame(now: IndexedSession | null, before: IndexedSession | null): boolean {
  return (
    now?.session === before?.session &&
    now?.indexedTo === before?.indexedTo &&
    now?.mark === before?.mark
  );
}
