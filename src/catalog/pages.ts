/**
 * Pages: reads a catalog and brings it up to date in slices, for a long-running program with other
 * work to do. `Catalog.freshen` does it all at once, for a listing.
 *
 * - Memory does not grow with the number of sessions: one slice, or one page, is held.
 * - The order is by last change, newest first, then by id (page.ts).
 * - Rows of deleted logs stay until they are examined: the program that shows a page removes them.
 */

import { lstatSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { SessionStatus } from "../model/summary.ts";
import { type Catalog, realRoot, type Summarise } from "./catalog.ts";
import type { Layout } from "./find.ts";
import type { ListFilter, Mark } from "./page.ts";
import type { FoundLog, SessionRow } from "./session-row.ts";
import type { Cache } from "./sqlite.ts";
import {
  bareRow,
  isFresh,
  type LogState,
  type Place,
  ROOT,
  removeRows,
  writeRows,
} from "./table.ts";

/** The sort key of rows: the time of their last entry, else of their file. */
const KEY =
  "COALESCE(updated_at, strftime('%Y-%m-%dT%H:%M:%fZ', mtime_us / 1000000.0, 'unixepoch'))";

/** Created for paging, not for listing, which does not need it. */
const INDEX = `CREATE INDEX IF NOT EXISTS sessions_by_change ON sessions (root, ${KEY} DESC, id)`;

/** Exported for its test, which checks SQLite's query plan. */
export const PAGE = `
SELECT id, ${KEY} AS key, json FROM sessions
WHERE root = (SELECT root FROM roots WHERE dialect = ?1 AND path = ?2)
  AND ${KEY} <= ?3 AND (${KEY} < ?3 OR id >= ?4) AND ${KEY} >= ?5 AND ${KEY} < ?6
  AND (?7 IS NULL OR COALESCE(status, '') IN (SELECT COALESCE(value, '') FROM json_each(?7)))
ORDER BY ${KEY} DESC, id LIMIT ?8`;

const KNOWN = `
SELECT id, size, mtime_us FROM sessions
WHERE root = ${ROOT} AND id IN (SELECT value FROM json_each(?))`;

const ONE = `SELECT json FROM sessions WHERE root = ${ROOT} AND id = ?`;

/** Logs examined before other work gets a turn. */
const SLICE_LOGS = 128;
/** Sorts before, and after, every time. */
const EARLIEST = "";
const LATEST = "~";

export interface ReadOptions extends Pick<ListFilter, "since" | "until"> {
  /** Rows at and after this position; null: from the first. */
  readonly from: Mark | null;
  /** Null among them: rows without a status. */
  readonly statuses: readonly (SessionStatus | null)[] | null;
  readonly limit: number;
}

export interface PageRow {
  readonly id: string;
  readonly key: string;
  readonly row: SessionRow;
}

export async function readPage(
  catalog: Catalog,
  dialect: string,
  root: string,
  { from, since, until, statuses, limit }: ReadOptions,
): Promise<PageRow[]> {
  const start = [String(from?.key ?? LATEST), from?.id ?? ""] as const;
  const place = [dialect, realRoot(root)] as const;
  const wanted = statuses === null ? null : JSON.stringify(statuses);
  return catalog.attempt((cache) => {
    cache.run(INDEX);
    const bounds = [...start, since ?? EARLIEST, until ?? `${LATEST}~`] as const;
    return cache.all(PAGE, ...place, ...bounds, wanted, limit).map(({ id, key, json }) => {
      return { id: String(id), key: String(key), row: JSON.parse(String(json)) as SessionRow };
    });
  }, []);
}

/** A stored row, without looking at the disk. */
export async function readRow(
  catalog: Catalog,
  dialect: string,
  root: string,
  id: string,
): Promise<SessionRow | null> {
  const json = await catalog.attempt(
    (cache) => cache.value(ONE, dialect, realRoot(root), id),
    null,
  );
  return json === null ? null : (JSON.parse(String(json)) as SessionRow);
}

/** A log's current size and time; null when it is deleted. */
export function lookAtLog(
  root: string,
  path: string,
  { lookAt }: Pick<Layout, "lookAt"> = {},
): LogState | null {
  try {
    if (lookAt) return lookAt(root, path);
    const stats = lstatSync(`${root}/${path}`, { throwIfNoEntry: false });
    return stats?.isFile() ? { size: stats.size, mtimeMs: stats.mtimeMs } : null;
  } catch {
    return null; // Below a file, or no permission: treated as missing.
  }
}

/** Stores a row whose log was examined before it was read. */
export async function keepRow(
  catalog: Catalog,
  dialect: string,
  root: string,
  row: SessionRow,
): Promise<void> {
  const place: Place = { dialect, root: realRoot(root) };
  await catalog.attempt((cache) => writeRows(cache, place, [row]), undefined);
}

export async function forgetRows(
  catalog: Catalog,
  dialect: string,
  root: string,
  ids: readonly string[],
): Promise<void> {
  const place: Place = { dialect, root: realRoot(root) };
  await catalog.attempt((cache) => removeRows(cache, place, ids), undefined);
}

export interface SliceOptions {
  readonly summarise: Summarise;
  /** Whether a log with an old row is left for later: it is growing, and long. */
  readonly isLeft: (log: FoundLog) => boolean;
  readonly onFailure: (id: string, cause: unknown) => void;
  readonly signal: AbortSignal;
}

/**
 * Brings the rows of a root up to date with the logs found there, yielding to other work in
 * between.
 */
export async function freshenInSlices(
  catalog: Catalog,
  dialect: string,
  root: string,
  found: Iterable<FoundLog>,
  options: SliceOptions,
): Promise<void> {
  const place: Place = { dialect, root: realRoot(root) };
  let slice: FoundLog[] = [];
  for (const log of found) {
    if (slice.push(log) < SLICE_LOGS) continue;
    await freshenSlice(catalog, place, slice, options);
    if (options.signal.aborted) return;
    slice = [];
  }
  await freshenSlice(catalog, place, slice, options);
}

async function freshenSlice(
  catalog: Catalog,
  place: Place,
  slice: readonly FoundLog[],
  { summarise, isLeft, onFailure, signal }: SliceOptions,
): Promise<void> {
  await nextTurn();
  const ids = JSON.stringify(slice.map(({ id }) => id));
  const known = await catalog.attempt(
    (cache) => knownIn(cache, place, ids),
    new Map<string, LogState>(),
  );
  const rows: SessionRow[] = [];
  for (const log of slice) {
    if (signal.aborted) break;
    const kept = known.get(log.id);
    if (kept !== undefined && (isFresh(kept, log) || isLeft(log))) continue;
    try {
      rows.push({ ...bareRow(log), ...(await summarise(log.id)) });
    } catch (cause) {
      onFailure(log.id, cause);
    }
  }
  if (rows.length > 0) await catalog.attempt((cache) => writeRows(cache, place, rows), undefined);
}

function knownIn(cache: Cache, { dialect, root }: Place, ids: string): Map<string, LogState> {
  const known = new Map<string, LogState>();
  for (const { id, size, mtime_us } of cache.all(KNOWN, dialect, root, ids)) {
    known.set(String(id), { size: Number(size), mtimeMs: Number(mtime_us) / 1000 });
  }
  return known;
}
