/**
 * Guarded: presents the guard's store (docs/formats/guard.md) as logs, so that sessions whose source
 * is gone are read like any other.
 *
 * A guarded root is one more root of its dialect. It has the sessions that the program's own
 * directory no longer has. `<guarded root>/@<n>` has generation n of all of them.
 *
 * Guarded dialect: lists and reads the guard's copies of a program's sessions, here or received,
 * like those that the program has.
 */

import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import type { Dialect } from "../dialect.ts";
import { type FindLogsOptions, iterateLogs, type LookedAt } from "../find.ts";
import type { FoundLog } from "../session-row.ts";
import { convertedHost } from "./converted-host.ts";
import { isRowsRoot, latestRows, rowsHost, rowsLogs } from "./guard-rows.ts";
import {
  type GuardedRoot,
  type GuardRecord,
  generationBytes,
  generationFile,
  guardedPlace,
  guardedRootOf,
  readGeneration,
  readGuardedRoot,
  statOf,
} from "./guard-store.ts";
import { followingHost } from "./moved-directories.ts";

/** Ids that a program has now; asked for each session, so they are remembered for a moment. */
let live: { readonly of: GuardedRoot; readonly atMs: number; readonly ids: Set<string> } | null =
  null;

const LIVE_MS = 1000;

/** Whether the program no longer has a session, neither there nor under another name. */
export function isSourceGone(
  root: GuardedRoot,
  kept: GuardRecord,
  { naming: { layout } }: Dialect,
): boolean {
  if (kept.mode === null) return kept.deletedAt !== null; // Rows of a database.
  try {
    if (lstatSync(join(root.source, kept.path), { throwIfNoEntry: false })) return false;
  } catch (cause) {
    if (errnoOf(cause) !== "ENOTDIR") return false; // Not permitted: it may be there.
  }
  if (live?.of !== root || Date.now() - live.atMs > LIVE_MS) {
    const ids = new Set(Array.from(iterateLogs(root.source, layout), ({ id }) => id));
    live = { of: root, atMs: Date.now(), ids };
  }
  return !live.ids.has(kept.id);
}

type Place = NonNullable<ReturnType<typeof guardedPlace>>;

/** Sessions of a guarded root by id, or one. Of two files of one session, the plain one. */
function keptById(place: Place, dialect: Dialect, id?: string): Map<string, GuardRecord> {
  const root = readGuardedRoot(place.at);
  const sessions = new Map<string, GuardRecord>();
  for (const kept of root?.sessions.values() ?? []) {
    if ((id !== undefined && kept.id !== id) || sessions.get(kept.id)?.kind === "bytes") continue;
    if (place.generation === null && root && !isSourceGone(root, kept, dialect)) continue;
    sessions.set(kept.id, kept);
  }
  return sessions;
}

/** What the guard says about the log of a store. */
export interface GuardState {
  /** The log is the guard's copy: its source is gone. */
  readonly isKept: boolean;
  /** When the guard noticed that. */
  readonly deletedAt: string | null;
  /** An older generation that holds more than the newest. */
  readonly fullerGeneration: number | null;
}

export function guardState(dialect: string, root: string, path: string): GuardState {
  const guarded = guardOf(dialect, root);
  const session = guarded?.sessions.get(path);
  const isKept = guardedPlace(root) !== null;
  const deletedAt = isKept ? (session?.deletedAt ?? null) : null;
  const fuller = guarded && session ? fullerGeneration(guarded, session) : null;
  return { isKept, deletedAt, fullerGeneration: fuller };
}

/** What is guarded of a program's directory, or of a guarded root; null: nothing. */
export function guardOf(dialect: string, root: string): GuardedRoot | null {
  const place = guardedPlace(root);
  if (place) return readGuardedRoot(place.at);
  try {
    return readGuardedRoot(guardedRootOf(dialect, realpathSync(root)));
  } catch {
    return null; // The directory is gone.
  }
}

/** The largest closed generation that has lost lines and more bytes than the newest; else null. */
export function fullerGeneration({ directory }: GuardedRoot, kept: GuardRecord): number | null {
  const lossy = kept.losses.filter(({ lost }) => lost !== 0);
  const [largest] = lossy.toSorted((a, b) => b.bytes - a.bytes);
  if (largest === undefined || largest.generation === kept.generation) return null;
  return largest.bytes > generationBytes(directory, kept.path, kept.generation)
    ? largest.generation
    : null;
}

/** The sessions that only the guard has, as logs of its root. */
function* goneLogs(place: Place, dialect: Dialect): Generator<FoundLog> {
  for (const { id, path, generation } of keptById(place, dialect).values()) {
    const log = generationFile(place.at, path, place.generation ?? generation);
    if (log === null) continue;
    const { size, mtimeMs } = log.stats;
    yield { id, path, size, mtimeMs };
  }
}

/** The state of one of them; null: it has none. */
function goneLog({ at, generation }: Place, path: string): LookedAt | null {
  const session = readGuardedRoot(at)?.sessions.get(path);
  const log = session ? generationFile(at, path, generation ?? session.generation) : null;
  return log && { size: log.stats.size, mtimeMs: log.stats.mtimeMs };
}

/** The state of a log that is one file. */
function lookAtFile(root: string, path: string): LookedAt | null {
  const stats = statOf(join(root, path));
  return stats?.isFile() ? { size: stats.size, mtimeMs: stats.mtimeMs } : null;
}

/** Presents the copies in a guarded root as logs of their dialect. */
function guardedHost(host: Host, place: Place, dialect: Dialect): Host {
  const { at, generation } = place;
  const inner = convertedHost(host, at, (_, segments) => {
    const id = dialect.naming.idAt(segments);
    const session = id === null ? undefined : keptById(place, dialect, id).get(id);
    if (session === undefined) return null;
    const { path } = session;
    const log = generationFile(at, path, generation ?? session.generation);
    if (log === null) return null;
    const { file } = log;
    if (session.kind === "bytes" && !log.isCompressed) return { plain: file };
    const bytes = readGeneration(at, path, generation ?? session.generation) ?? Buffer.alloc(0);
    return { bytes: session.kind === "rows" ? latestRows(bytes, dialect) : bytes, source: file };
  });
  const real = (path: string) => {
    const virtual = generation === null ? at : `${at}/@${generation}`;
    return path.startsWith(virtual) ? `${at}${path.slice(virtual.length)}` : path;
  };
  const { openDirectory } = inner.files;
  const files = {
    ...inner.files,
    openDirectory: (path: string, options: Parameters<typeof openDirectory>[1]) =>
      openDirectory(real(path), { ...options, ...(options.root ? { root: at } : {}) }),
  };
  return { ...inner, files };
}

export function withGuarded<Name extends string>(dialect: Dialect<Name>): Dialect<Name> {
  const logsIn = (root: string, options: FindLogsOptions) => {
    if (isRowsRoot(root, dialect)) return rowsLogs(root, dialect);
    const place = guardedPlace(root);
    return place === null
      ? (dialect.naming.layout.logsIn?.(root, options) ?? null)
      : goneLogs(place, dialect);
  };
  const lookAt = (root: string, path: string) => {
    if (isRowsRoot(root, dialect)) return lookAtFile(root, path);
    const place = guardedPlace(root);
    return place === null
      ? (dialect.naming.layout.lookAt ?? lookAtFile)(root, path)
      : goneLog(place, path);
  };
  const hostFor = (host: Host, root: string) => {
    const place = guardedPlace(root);
    if (place !== null) return guardedHost(host, place, dialect);
    if (isRowsRoot(root, dialect)) return rowsHost(host, root, dialect);
    const following = followingHost(host, dialect.name, root);
    return dialect.files?.hostFor?.(following, root) ?? following;
  };
  const { naming, files } = dialect;
  return {
    ...dialect,
    naming: { ...naming, layout: { ...naming.layout, logsIn, lookAt } },
    files: { ...files, hostFor },
  };
}
