/**
 * Gone sessions: sessions with a pinned head whose log is missing, also if the store or its
 * directory is gone. A listing names them, so that the loss of a signed session is noticed; but not
 * those that were deleted, as a tombstone says that one of the user's own keys signed.
 *
 * Reads the user's pins and checks whether files exist. Judges nothing: session-verifier.ts does.
 */

import { lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errnoOf } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { DIALECT_NAMES, isWritten, registryEntry } from "../../dialects/registry.ts";
import type { SessionRow } from "../../dialects/session-row.ts";
import { Heads } from "../../trust/heads/heads.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import type { Pin } from "../../trust/proof/pin.ts";
import type { PinBook } from "../../trust/proof/pins.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import type { Trust } from "../../trust/trusted-keys/trust.ts";
import { bareRow } from "../catalog/table.ts";
import { projectFacts, projectOfStore } from "../summary/project.ts";
import { type FoundStore, isStore, type StoreLookup } from "./find-stores.ts";
import { rememberedStores } from "./remembered-stores.ts";

/** A missing session: where it was, and its row in a listing. */
export interface GoneSession {
  readonly store: FoundStore;
  /** Its times are those of the pinned checkpoint; nothing else is known. */
  readonly row: SessionRow;
}

/** The missing sessions of the stores that `where` names, or that are or were found from there. */
export async function goneSessions(
  host: Host,
  wheres: readonly StoreLookup[],
): Promise<GoneSession[]> {
  const { stateDirectory } = userPaths();
  const heads = new Heads({ host, stateDirectory, onWarning: () => {} });
  const { found: book } = await heads.read();
  const pinned = book.current();
  const gone = new Map<string, GoneSession>();
  const isOwn = ownTombstones();
  for (const where of pinned.length === 0 ? [] : wheres.flatMap(withRemembered)) {
    for (const { store, places } of await storesOrPinned(host, where, book)) {
      for (const { pin, deleted } of pinned) {
        if (!places.includes(pin.place)) continue;
        const log = goneIn(store, pin.id);
        if (log === null || isThere(`${log.root}/${log.logId}`)) continue;
        if (deleted && (await isOwn(deleted))) continue;
        const at = { id: pin.id, path: log.logId, size: 0, mtimeMs: Date.parse(pin.ts) };
        const project = projectFacts({}, projectOfStore(log.dialect, log.root));
        const row = { ...bareRow(at), ...project, updatedAt: pin.ts };
        gone.set(`${places[0]}\0${pin.id}`, { store, row });
      }
    }
  }
  return [...gone.values()];
}

/** Loads the user's keys only if there is a tombstone. */
function ownTombstones(): (tombstone: Pin) => Promise<boolean> {
  let trust: Promise<Trust> | null = null;
  return async (tombstone) => {
    const [{ isOwnTombstone }, { Trust }] = await Promise.all([
      import("../../trust/heads/tombstones.ts"),
      import("../../trust/trusted-keys/trust.ts"),
    ]);
    trust ??= Trust.load(userPaths());
    return isOwnTombstone(tombstone, await trust);
  };
}

function withRemembered(where: StoreLookup): StoreLookup[] {
  if (where.root !== undefined) return [where];
  const { cwd, dialect: wanted = null } = where;
  const others = rememberedStores().filter(({ dialect }) => (wanted ?? dialect) === dialect);
  return [where, ...others.map((store) => ({ cwd, ...store }))];
}

/** The stores that `where` names or that are found from there, and missing ones; by all names. */
export async function storesOrPinned(
  host: Host,
  where: StoreLookup,
  book: PinBook,
): Promise<{ readonly store: FoundStore; readonly places: readonly string[] }[]> {
  const pinned = new Set(book.current().map(({ pin }) => pin.place));
  const stores: { store: FoundStore; places: string[] }[] = [];
  for (const candidates of lookedAt(where)) {
    for (const store of candidates) {
      const isStanding = isStore(store.dialect, store.root);
      const { place, others } = await rootNames(host, store);
      const places = [place, ...others];
      if (isStanding || places.some((each) => pinned.has(each))) stores.push({ store, places });
      if (isStanding) break;
    }
  }
  await loadDialects(stores.map(({ store }) => store.dialect));
  return stores;
}

/** For each dialect, the possible places of its store, the nearest first. */
export function lookedAt({ cwd, root, dialect }: StoreLookup): FoundStore[][] {
  // Missing streams have their own verdicts (evidence/verify/verify-directory.ts).
  if (dialect !== undefined && !isWritten(dialect)) return [];
  const names = dialect === undefined ? DIALECT_NAMES : [dialect];
  const roots = root === undefined ? upwardsFrom(resolve(cwd)) : [resolve(cwd, root)];
  return names.map((name) => {
    const home = root === undefined ? registryEntry(name).usersRoot?.() : undefined;
    return (home === undefined ? roots : [home]).map((each) => ({ dialect: name, root: each }));
  });
}

/** A directory and all its ancestors. */
export function upwardsFrom(directory: string): string[] {
  const above = dirname(directory);
  return above === directory ? [directory] : [directory, ...upwardsFrom(above)];
}

/** Where the log of a session would be; null if the id is invalid in that dialect. */
export function goneIn({ dialect, root }: FoundStore, id: string): SessionLog | null {
  const { logPath } = dialectNamed(dialect).naming;
  try {
    return { dialect, root, id, logId: logPath(id).join("/") };
  } catch {
    return null;
  }
}

/** A path that cannot be read counts as existing. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (cause) {
    return errnoOf(cause) !== "ENOTDIR";
  }
}
