/**
 * Catalog: facts about every session, stored so that a listing need not read their logs.
 *
 * Only an index of logs: it may be deleted at any time, and is rebuilt from them. The caller
 * chooses its path; its format is docs/formats/catalog.md. Sessions are stored by dialect, real
 * path of the root, and id.
 *
 * - A row is valid for its size and modification time: when the log's differ, the log is summarised
 *   again. They are taken before it is read, so a log that grows meanwhile is stale the next time,
 *   never wrongly fresh.
 * - No failure of the database reaches the caller. Without one, sessions are summarised each time,
 *   and `problem` says why.
 * - A listing that finds nothing changed writes nothing.
 */

import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Summary } from "../../core/model/summary.ts";
import { type Cache, isDamage, isSqliteError, openCache } from "../../core/sqlite/sqlite.ts";
import { problemOf } from "../../core/sqlite/sqlite-driver.ts";
import {
  type FoundLog,
  parseRow,
  type RowLine,
  rowLineOf,
  type SessionRow,
  type SessionSort,
} from "../../dialects/session-row.ts";
import {
  bareRow,
  type CatalogRoot,
  isFresh,
  type ReadRow,
  readLines,
  readParents,
  removeRows,
  SCHEMA,
  writeRows,
} from "./table.ts";

/** Logs summarised concurrently. */
const SUMMARISED_AT_ONCE = 8;
/** Longer logs are summarised one at a time: each may hold a line of 16 MiB in memory. */
const LONG_LOG_BYTES = 4 * 2 ** 20;
/** Bytes of a long log between two reports of progress. */
const TOLD_BYTES = 2 ** 20;
/** Rows per transaction: the most that an interrupted first listing loses. */
const ROWS_PER_WRITE = 256;

/** How a log is read: what ends it, and who hears the offset of each line. */
export interface LogReadOptions {
  readonly signal?: AbortSignal;
  readonly onOffset?: (offset: number) => void;
}

/** A summary, and the sessions that its log says it started. */
export interface ReadSummary extends Summary {
  readonly children?: readonly string[];
}

/** Reads a session's log and summarises it. */
export type Summarise = (id: string, reading?: LogReadOptions) => Promise<ReadSummary>;

/** Progress: sessions summarised, of those that need it, and bytes of a long one that is read. */
export type FreshenProgress = (
  done: number,
  total: number,
  bytes?: readonly [done: number, of: number],
) => void;

export interface CatalogRefresh {
  /** One per log found, in the order of finding. */
  readonly lines: readonly RowLine[];
  /** Logs that could not be summarised. Their rows have only size and time, and are not stored. */
  readonly failures: readonly SummariseFailure[];
  /** Logs that were read, and rows of deleted logs. */
  readonly summarised: number;
  readonly removed: number;
}

export interface SummariseFailure {
  readonly id: string;
  readonly error: unknown;
}

export interface LineOptions {
  /** The order that the lines' keys are for. Default: the last updated first. */
  readonly sort?: SessionSort;
  readonly onProgress?: FreshenProgress | undefined;
  /** Stops between two sessions, and throws; summarised ones are stored. */
  readonly signal?: AbortSignal | undefined;
}

interface Summarising extends Required<LineOptions> {
  readonly summarise: Summarise;
  readonly onProgress: FreshenProgress;
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

  /** Opens the catalog; one that stores nothing when the file cannot be used. */
  static async open(path: string): Promise<Catalog> {
    const { cache, problem } = await openCache(path, SCHEMA);
    return new Catalog(path, cache, problem);
  }

  /** Why nothing is stored ("EROFS", "SQLITE_FULL"), or null. */
  get problem(): string | null {
    return this.#problem;
  }

  /**
   * Brings the rows of a root up to date with the logs found there, and returns them as lines.
   * `summarise` is called for new and changed logs, several at a time.
   */
  async freshen(
    dialect: string,
    root: string,
    logs: Iterable<FoundLog>,
    summarise: Summarise,
    { sort = "updated", onProgress = () => {}, signal }: LineOptions = {},
  ): Promise<CatalogRefresh> {
    const place: CatalogRoot = { dialect, root: realRoot(root) };
    const rows = await this.attempt((cache) => readLines(cache, place, sort), new Map());
    const lines: RowLine[] = [];
    const stale: number[] = [];
    let freshCount = 0;
    for (const log of logs) {
      const line = rows.get(log.id);
      if (line !== undefined) freshCount++;
      if (line !== undefined && isFresh(line, log)) {
        lines.push(line);
      } else {
        stale.push(lines.length);
        lines.push(rowLineOf(bareRow(log), sort));
      }
    }
    const vanished = freshCount === rows.size ? [] : idsWithout(rows, lines);
    if (vanished.length > 0) {
      await this.attempt((cache) => removeRows(cache, place, vanished), undefined);
    }
    const summarising = { summarise, sort, onProgress, signal };
    const failures = await this.#summarise(place, lines, stale, summarising);
    const summarised = stale.length - failures.length;
    return { lines, failures, summarised, removed: vanished.length };
  }

  close(): void {
    this.#cache?.close();
    this.#cache = null;
  }

  /** Summarises the stale ones among the lines, in place, and stores them as they come. */
  async #summarise(
    place: CatalogRoot,
    lines: RowLine[],
    stale: readonly number[],
    { summarise, sort, onProgress, signal }: Summarising,
  ): Promise<SummariseFailure[]> {
    const failures: SummariseFailure[] = [];
    const mtimeOf = (index: number) => (lines[index] as RowLine).mtimeMs;
    // Newest first: an interrupted listing has read what its user most likely wants.
    const newestFirst = stale.toSorted((a, b) => mtimeOf(b) - mtimeOf(a));
    let unwritten: ReadRow[] = [];
    let done = 0;
    const write = async () => {
      const written = unwritten;
      unwritten = [];
      if (written.length > 0) {
        await this.attempt((cache) => writeRows(cache, place, written), undefined);
      }
    };
    let lastLong: Promise<unknown> = Promise.resolve();
    const summaryOf = ({ id, size }: SessionRow) => {
      if (size <= LONG_LOG_BYTES) return summarise(id);
      const summary = lastLong.then(() => {
        signal?.throwIfAborted();
        let toldAt = 0;
        const onOffset = (offset: number) => {
          if (offset - toldAt < TOLD_BYTES) return;
          toldAt = offset;
          onProgress(done, stale.length, [offset, size]);
        };
        return summarise(id, { onOffset, ...(signal && { signal }) });
      });
      lastLong = summary.catch(() => {});
      return summary;
    };
    if (stale.length > 0) onProgress(0, stale.length);
    await inParallel(newestFirst, SUMMARISED_AT_ONCE, async (index) => {
      if (signal?.aborted) return;
      const bare = parseRow(lines[index] as RowLine);
      try {
        const { children = [], ...summary } = await summaryOf(bare);
        const row = { ...bare, ...summary };
        lines[index] = rowLineOf(row, sort);
        unwritten.push({ ...row, children });
      } catch (error) {
        failures.push({ id: bare.id, error });
      }
      if (unwritten.length >= ROWS_PER_WRITE) await write();
      onProgress(++done, stale.length);
    });
    await write();
    signal?.throwIfAborted();
    if (stale.length > 0) await this.#addParents(place, lines, sort);
    return failures;
  }

  /** Adds the parents that other sessions name to lines that name none. */
  async #addParents(place: CatalogRoot, lines: RowLine[], sort: SessionSort): Promise<void> {
    const parents = await this.attempt((cache) => readParents(cache, place), new Map());
    if (parents.size === 0) return;
    for (const [index, line] of lines.entries()) {
      const parent = parents.get(line.id);
      if (parent !== undefined) lines[index] = rowLineOf({ ...parseRow(line), parent }, sort);
    }
  }

  /**
   * @internal Does `work` on the database; returns `otherwise` when there is none, or no more.
   */
  async attempt<T>(work: (cache: Cache) => T, otherwise: T): Promise<T> {
    if (this.#cache === null) return otherwise;
    try {
      return work(this.#cache);
    } catch (cause) {
      if (!isSqliteError(cause)) throw cause;
      if (!isDamage(cause) || this.#isReplaced) {
        this.#giveUp(problemOf(cause));
        return otherwise;
      }
    }
    this.#isReplaced = true; // Once only: the new file may go bad in the same place.
    this.close();
    const { cache, problem } = await openCache(this.path, SCHEMA, { isSuspect: true });
    this.#cache = cache;
    this.#problem = problem;
    return this.attempt(work, otherwise);
  }

  #giveUp(problem: string): void {
    this.#problem = problem;
    // Our statements are right, so the tables are of another version or program.
    if (problem === "SQLITE_ERROR") this.#cache?.spoil();
    this.close();
  }
}

/** The stored ids that were not found. */
function idsWithout(
  storedRows: ReadonlyMap<string, RowLine>,
  foundRows: readonly RowLine[],
): string[] {
  const ids = new Set(storedRows.keys());
  for (const { id } of foundRows) ids.delete(id);
  return [...ids];
}

/** A missing root has a path, too. */
export function realRoot(root: string): string {
  try {
    return realpathSync(root);
  } catch {
    return resolve(root);
  }
}

/** Runs `work` for each, at most `atOnce` at a time; rejects with the first failure. */
async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
