/**
 * Listing row: what a listing says about one session, from the catalog, or from its log if that is
 * short enough to be read while a user waits.
 */

import type { Host } from "../../core/base/host.ts";
import { notesPath } from "../../core/base/node-paths.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { FoundLog, SessionRow } from "../../dialects/session-row.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { keepRow, lookAtLog, readRow } from "../catalog/pages.ts";
import { bareRow, isFresh } from "../catalog/table.ts";
import { type FoundStore, statOf } from "./find-stores.ts";

/** A longer one is read by `ls`, which shows its progress. */
const READ_BYTES_MAX = 16 * 2 ** 20;

/** Null if it cannot be read. */
export async function knownRow(
  host: Host,
  catalog: Catalog,
  { dialect, root }: FoundStore,
  log: FoundLog,
): Promise<SessionRow | null> {
  const storedRow = await readRow(catalog, dialect, root, log.id);
  if (storedRow !== null && (isFresh(storedRow, log) || log.size > READ_BYTES_MAX))
    return storedRow;
  if (log.size > READ_BYTES_MAX) return bareRow(log);
  return readNow(host, { dialect, root }, log, catalog);
}

async function readNow(
  host: Host,
  { dialect, root }: FoundStore,
  log: FoundLog,
  catalog: Catalog | null,
): Promise<SessionRow | null> {
  const { Store } = await import("../store/store.ts");
  const store = new Store(host, { dialect, root, onWarning: () => {} });
  try {
    const { children = [], ...summary } = await store.summaries().summarise(log.id);
    const row = { ...bareRow(log), ...summary };
    return catalog ? await keepRow(catalog, dialect, root, { ...row, children }) : row;
  } catch {
    return null; // `ls` says why.
  }
}

/**
 * The same by the session's id, however long its log is: indexing it took longer. With the user's
 * notes.
 */
export async function knownRowOf(
  host: Host,
  catalog: Catalog,
  store: FoundStore,
  id: string,
): Promise<SessionRow | null> {
  const row = await recordedRow(host, catalog, store, id);
  if (row === null || statOf(notesPath()) === undefined) return row;
  const { currentNotes } = await import("../notes/notes-file.ts");
  return currentNotes().row(store, row);
}

async function recordedRow(
  host: Host,
  catalog: Catalog,
  store: FoundStore,
  id: string,
): Promise<SessionRow | null> {
  const storedRow = await readRow(catalog, store.dialect, store.root, id);
  if (storedRow !== null) return storedRow;
  const path = dialectNamed(store.dialect).naming.logPath(id).join("/");
  // A row of a database has no file of its own; the catalog then keeps nothing.
  const state = lookAtLog(store.root, path);
  const log = { id, path, ...(state ?? { size: 0, mtimeMs: 0 }) };
  return readNow(host, store, log, state === null ? null : catalog);
}
