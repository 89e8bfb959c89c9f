/**
 * Guarded: presents the guard's store (docs/formats/guard.md) as logs, so that sessions whose source
 * is gone are read like any other.
 *
 * A guarded root is one more root of its dialect. It has the sessions that the program's own
 * directory no longer has. `<guarded root>/@<n>` has generation n of all of them.
 */

import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import type { Host } from "../../base/host.ts";
import { eachLog, type LookedAt } from "../../catalog/find.ts";
import type { FoundLog } from "../../catalog/session-row.ts";
import type { Dialect } from "../dialect.ts";
import { convertedHost } from "./converted-host.ts";
import { latestRows } from "./guard-rows.ts";
import {
  type GuardedRoot,
  generationBytes,
  generationFile,
  guardedPlace,
  guardedRootOf,
  type Kept,
  readGeneration,
  readGuardedRoot,
  statOf,
} from "./guard-store.ts";

/** Ids that a program has now; asked for each session, so they are remembered for a moment. */
let live: { readonly of: GuardedRoot; readonly atMs: number; readonly ids: Set<string> } | null =
  null;
const LIVE_MS = 1000;

/** Whether the program no longer has a session, neither there nor under another name. */
export function isSourceGone(root: GuardedRoot, kept: Kept, { layout }: Dialect): boolean {
  if (kept.mode === null) return kept.deletedAt !== null; // Rows of a database.
  try {
    if (lstatSync(join(root.source, kept.path), { throwIfNoEntry: false })) return false;
  } catch (cause) {
    if (errnoOf(cause) !== "ENOTDIR") return false; // Not permitted: it may be there.
  }
  if (live?.of !== root || Date.now() - live.atMs > LIVE_MS) {
    const ids = new Set(Array.from(eachLog(root.source, layout), ({ id }) => id));
    live = { of: root, atMs: Date.now(), ids };
  }
  return !live.ids.has(kept.id);
}

type Place = NonNullable<ReturnType<typeof guardedPlace>>;

/** Sessions of a guarded root by id, or one. Of two files of one session, the plain one. */
function keptById(place: Place, dialect: Dialect, id?: string): Map<string, Kept> {
  const root = readGuardedRoot(place.at);
  const found = new Map<string, Kept>();
  for (const kept of root?.sessions.values() ?? []) {
    if ((id !== undefined && kept.id !== id) || found.get(kept.id)?.kind === "bytes") continue;
    if (place.generation === null && root && !isSourceGone(root, kept, dialect)) continue;
    found.set(kept.id, kept);
  }
  return found;
}

/** What the guard says about the log of a store. */
export interface KeptState {
  /** The log is the guard's copy: its source is gone. */
  readonly isKept: boolean;
  /** When the guard noticed that. */
  readonly deletedAt: string | null;
  /** An older generation that holds more than the newest. */
  readonly fullerGeneration: number | null;
}

export function keptState(dialect: string, root: string, path: string): KeptState {
  const guarded = guardOf(dialect, root);
  const kept = guarded?.sessions.get(path);
  const isKept = guardedPlace(root) !== null;
  const deletedAt = isKept ? (kept?.deletedAt ?? null) : null;
  const fuller = guarded && kept ? fullerGeneration(guarded, kept) : null;
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
export function fullerGeneration({ directory }: GuardedRoot, kept: Kept): number | null {
  const lossy = kept.losses.filter(({ lost }) => lost !== 0);
  const [largest] = lossy.toSorted((a, b) => b.bytes - a.bytes);
  if (largest === undefined || largest.generation === kept.generation) return null;
  return largest.bytes > generationBytes(directory, kept.path, kept.generation)
    ? largest.generation
    : null;
}

/** The sessions that only the guard has, as logs of its root. */
export function* goneLogs(place: Place, dialect: Dialect): Generator<FoundLog> {
  for (const { id, path, generation } of keptById(place, dialect).values()) {
    const found = generationFile(place.at, path, place.generation ?? generation);
    if (found === null) continue;
    const { size, mtimeMs } = found.stats;
    yield { id, path, size, mtimeMs };
  }
}

/** The state of one of them; null: it has none. */
export function goneLog({ at, generation }: Place, path: string): LookedAt | null {
  const kept = readGuardedRoot(at)?.sessions.get(path);
  const found = kept ? generationFile(at, path, generation ?? kept.generation) : null;
  return found && { size: found.stats.size, mtimeMs: found.stats.mtimeMs };
}

/** The state of a log that is one file. */
export function lookAtFile(root: string, path: string): LookedAt | null {
  const stats = statOf(join(root, path));
  return stats?.isFile() ? { size: stats.size, mtimeMs: stats.mtimeMs } : null;
}

/** Presents the copies in a guarded root as logs of their dialect. */
export function guardedHost(host: Host, place: Place, dialect: Dialect): Host {
  const { at, generation } = place;
  const inner = convertedHost(host, at, (_, segments) => {
    const id = dialect.idAt(segments);
    const kept = id === null ? undefined : keptById(place, dialect, id).get(id);
    if (kept === undefined) return null;
    const { path } = kept;
    const found = generationFile(at, path, generation ?? kept.generation);
    if (found === null) return null;
    const { file } = found;
    if (kept.kind === "bytes" && !found.isCompressed) return { plain: file };
    const bytes = readGeneration(at, path, generation ?? kept.generation) ?? Buffer.alloc(0);
    return { bytes: kept.kind === "rows" ? latestRows(bytes, dialect) : bytes, source: file };
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
