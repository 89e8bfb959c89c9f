/**
 * Gone sessions: those whose head is pinned and whose log is not there, also when the store or its
 * directory went with it. A listing names them: what was signed and is gone must not go unnoticed.
 *
 * Reads the user's pins and asks whether files are there. Judges nothing: session-verifier.ts does.
 */

import { lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errnoOf } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { userPlaces } from "../base/node-places.ts";
import type { SessionRow } from "../catalog/session-row.ts";
import { bareRow } from "../catalog/table.ts";
import { DIALECT_NAMES, dialectNamed } from "../dialects/all.ts";
import type { PinBook } from "../proof/pins.ts";
import { Heads } from "../signing/heads/heads.ts";
import { rootNames } from "../signing/heads/root-names.ts";
import type { SessionLog } from "../signing/session-log.ts";
import { type FoundStore, isStore, type Where } from "./find-stores.ts";

/** A session that is gone: where it was, and the row that a listing has for it. */
export interface GoneSession {
  readonly store: FoundStore;
  /** Its times are those of the pinned checkpoint; nothing else is known. */
  readonly row: SessionRow;
}

/** The gone sessions of the stores that `where` names, or that are or were found from there. */
export async function goneSessions(host: Host, wheres: readonly Where[]): Promise<GoneSession[]> {
  const { stateDirectory } = userPlaces();
  const heads = new Heads({ host, stateDirectory, onWarning: () => {} });
  const { found: book } = await heads.read();
  const pinned = book.current();
  const gone = new Map<string, GoneSession>();
  for (const where of pinned.length === 0 ? [] : wheres) {
    for (const { store, places } of await storesOrPinned(host, where, book)) {
      for (const { pin } of pinned) {
        if (!places.includes(pin.place)) continue;
        const log = goneIn(store, pin.id);
        if (log === null || isThere(`${log.root}/${log.logId}`)) continue;
        const at = { id: pin.id, path: log.logId, size: 0, mtimeMs: Date.parse(pin.ts) };
        const row = { ...bareRow(at), updatedAt: pin.ts };
        gone.set(`${places[0]}\0${pin.id}`, { store, row });
      }
    }
  }
  return [...gone.values()];
}

/** The stores that `where` names or that are found from there, and those that were; by all names. */
export async function storesOrPinned(
  host: Host,
  where: Where,
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
  return stores;
}

/** Of each dialect, where its store may be, the nearest place first. */
export function lookedAt({ cwd, root, dialect }: Where): FoundStore[][] {
  // Which streams are gone is for their own verdicts (verifying/verify-directory.ts).
  if (dialect !== undefined && dialectNamed(dialect).isReadOnly) return [];
  const names = dialect === undefined ? DIALECT_NAMES : [dialect];
  const roots = root === undefined ? upwardsFrom(resolve(cwd)) : [resolve(cwd, root)];
  return names.map((name) => {
    const home = root === undefined ? dialectNamed(name).usersRoot?.() : undefined;
    return (home === undefined ? roots : [home]).map((each) => ({ dialect: name, root: each }));
  });
}

/** A directory, and all above it. */
export function upwardsFrom(directory: string): string[] {
  const above = dirname(directory);
  return above === directory ? [directory] : [directory, ...upwardsFrom(above)];
}

/** Where the log of a session would be; null for what can be no id of that dialect. */
export function goneIn({ dialect, root }: FoundStore, id: string): SessionLog | null {
  try {
    return { dialect, root, id, logId: dialectNamed(dialect).logPath(id).join("/") };
  } catch {
    return null;
  }
}

/** What cannot be looked at is there, as far as a listing knows. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (cause) {
    return errnoOf(cause) !== "ENOTDIR";
  }
}
