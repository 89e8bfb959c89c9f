/**
 * Pages: brings a catalog up to date in slices, for a long-running program with other work to do.
 * `Catalog.freshen` does it all at once, for a listing; page-rows.ts reads pages.
 *
 * - Memory does not grow with the number of sessions: one slice is held.
 * - Rows of deleted logs stay until they are examined: the program that shows a page removes them.
 */

import { lstatSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Cache } from "../../core/sqlite/sqlite.ts";
import type { Layout } from "../../dialects/find.ts";
import type { FoundLog, SessionRow } from "../../dialects/session-row.ts";
import { type Catalog, realRoot, type Summarise } from "./catalog.ts";
import {
  bareRow,
  type CatalogRoot,
  isFresh,
  type LogState,
  type ReadRow,
  ROOT,
  removeRows,
  writeRows,
} from "./table.ts";

const KNOWN = `
SELECT id, size, mtime_us FROM sessions
WHERE root = ${ROOT} AND id IN (SELECT value FROM json_each(?))`;

const ONE = `SELECT json FROM sessions WHERE root = ${ROOT} AND id = ?`;

/** Logs examined before other work gets a turn. */
const SLICE_LOGS = 128;
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

/** Stores a row whose log was examined before it was read; returns it with its parent. */
export async function keepRow(
  catalog: Catalog,
  dialect: string,
  root: string,
  read: ReadRow,
): Promise<SessionRow> {
  const place: CatalogRoot = { dialect, root: realRoot(root) };
  await catalog.attempt((cache) => writeRows(cache, place, [read]), undefined);
  const { children: _, ...row } = read;
  return (await readRow(catalog, dialect, root, row.id)) ?? row;
}

export async function forgetRows(
  catalog: Catalog,
  dialect: string,
  root: string,
  ids: readonly string[],
): Promise<void> {
  const place: CatalogRoot = { dialect, root: realRoot(root) };
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
  logs: Iterable<FoundLog>,
  options: SliceOptions,
): Promise<void> {
  const place: CatalogRoot = { dialect, root: realRoot(root) };
  let slice: FoundLog[] = [];
  for (const log of logs) {
    if (slice.push(log) < SLICE_LOGS) continue;
    await freshenSlice(catalog, place, slice, options);
    if (options.signal.aborted) return;
    slice = [];
  }
  await freshenSlice(catalog, place, slice, options);
}

async function freshenSlice(
  catalog: Catalog,
  place: CatalogRoot,
  slice: readonly FoundLog[],
  { summarise, isLeft, onFailure, signal }: SliceOptions,
): Promise<void> {
  await nextTurn();
  const ids = JSON.stringify(slice.map(({ id }) => id));
  const storedStates = await catalog.attempt(
    (cache) => knownIn(cache, place, ids),
    new Map<string, LogState>(),
  );
  const rows: ReadRow[] = [];
  for (const log of slice) {
    if (signal.aborted) break;
    const storedState = storedStates.get(log.id);
    if (storedState !== undefined && (isFresh(storedState, log) || isLeft(log))) continue;
    try {
      rows.push({ ...bareRow(log), ...(await summarise(log.id)) });
    } catch (cause) {
      onFailure(log.id, cause);
    }
  }
  if (rows.length > 0) await catalog.attempt((cache) => writeRows(cache, place, rows), undefined);
}

function knownIn(cache: Cache, { dialect, root }: CatalogRoot, ids: string): Map<string, LogState> {
  const states = new Map<string, LogState>();
  for (const { id, size, mtime_us } of cache.all(KNOWN, dialect, root, ids)) {
    states.set(String(id), { size: Number(size), mtimeMs: Number(mtime_us) / 1000 });
  }
  return states;
}
