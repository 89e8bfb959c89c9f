/** Removals: sessions that are removed, restored and held. */

import { errnoOf, VerbatimError } from "../core/base/errors.ts";
import { guardedPlace } from "../dialects/files/guard-store.ts";
import { guardOf } from "../dialects/files/guarded.ts";
import { addHold, releaseHold } from "../evidence/removal/holds.ts";
import { purgeFiles, restoreFiles } from "../evidence/removal/removals.ts";
import { type OwnSession, settleTrashes, TRASH_DAYS } from "../evidence/removal/session-removal.ts";
import { type Removal, Trash } from "../evidence/removal/trash.ts";
import { releaseCopy, removingAt } from "../guard/removal.ts";
import type { RestoredFile } from "../guard/restore.ts";
import { findStores } from "../sessions/list/find-stores.ts";
import type { FoundSession } from "../sessions/list/session-place.ts";
import type { RemoveOptions, RestoreOptions } from "./options.ts";
import type { Places } from "./places.ts";
import { factsOf, RemovalBatch, type RemovedSession, whoIsHere } from "./removal-batch.ts";

const DAYS_VARIABLE = "VERBATIM_TRASH_DAYS";

export async function removeSessionNamed(
  places: Places,
  name: string,
  options: RemoveOptions,
): Promise<RemovedSession> {
  const all: RemovedSession[] = [];
  await removeSessions(places, [name], options, {
    onRemoved: (removed) => all.push(removed),
    onRefused: (cause) => {
      throw cause;
    },
  });
  return all[0] as RemovedSession;
}

/**
 * Removes sessions, in this order. `onRemoved` is called for each when nothing of them is left in
 * the indexes; `onRefused` ends it all if it throws.
 */
export async function removeSessions(
  places: Places,
  sessions: readonly (string | FoundSession)[],
  options: RemoveOptions,
  tell: {
    readonly onRemoved: (removed: RemovedSession) => unknown;
    readonly onRefused: (cause: unknown) => void;
  },
): Promise<void> {
  const batch = new RemovalBatch(places, options, options.purge === true ? null : trashDays());
  const removed: RemovedSession[] = [];
  try {
    await settleAll(places);
    for (const session of sessions) {
      try {
        removed.push(await removeOne(places, batch, session, options));
      } catch (cause) {
        tell.onRefused(cause);
      }
    }
  } finally {
    await batch.finish();
    for (const each of removed) await tell.onRemoved(each);
  }
}

async function removeOne(
  places: Places,
  batch: RemovalBatch,
  session: string | FoundSession,
  { purge = false, dryRun = false }: RemoveOptions,
): Promise<RemovedSession> {
  if (typeof session !== "string") return batch.remove(session);
  let dropped: RemovedSession | null = null;
  const mustDrop = purge && !dryRun;
  if (mustDrop) dropped = await purgeTrashed(places, session);
  try {
    const found = await places.find(session);
    if (mustDrop) dropped = (await purgeTrashed(places, found.id ?? session)) ?? dropped;
    return await batch.remove(found);
  } catch (cause) {
    if (dropped !== null && isNotThere(cause)) return dropped;
    throw cause;
  }
}

/** After its copy was purged from the trash, a session may be in no store, or its agent's only. */
function isNotThere(cause: unknown): boolean {
  if (errnoOf(cause) === "SESSION_NOT_FOUND") return true;
  if (!(cause instanceof VerbatimError) || cause.code !== "REMOVAL_REFUSED") return false;
  return "obstacle" in cause.details && cause.details.obstacle === "not ours";
}

export async function* removedSessions(places: Places): AsyncGenerator<RemovedSession> {
  for (const { root, removal } of await inTrash(places)) yield factsOf(root, removal);
}

/** Null: the trash has no session of this name. */
export async function restoreRemoved(
  places: Places,
  name: string,
  { signal }: RestoreOptions,
): Promise<RestoredFile | null> {
  const all = await inTrash(places);
  const exact = all.filter(({ removal }) => isNamed(removal, name));
  const begun = all.filter(({ removal: { id } }) => {
    return id.startsWith(name) || shortName(id).startsWith(name);
  });
  const named = exact.length > 0 ? exact : begun;
  const last = named.at(-1);
  if (!last) return null;
  if (new Set(named.map(({ root, removal }) => `${root}\0${removal.id}`)).size > 1) {
    const ids = named.map(({ root, removal }) => `  ${removal.id}  (${root})`);
    const message = [`${name} may be one of these in the trash:`, ...ids].join("\n");
    throw new VerbatimError("SESSION_NOT_FOUND", message, { session: name });
  }
  signal?.throwIfAborted();
  const { root } = last;
  // The guard has a copy of each file that the agent had of the session.
  const copies = guardedPlace(root) === null ? [last] : named;
  const removing = removingAt(places.host, root, places.onWarning);
  for (const { key } of copies) await restoreFiles(removing, key);
  const { path, bytes } = factsOf(root, last.removal);
  return { path, bytes, generation: 1, isSame: false, keptAs: null, isExport: false };
}

export async function holdSession(places: Places, name: string, reason: string): Promise<void> {
  const { dialect, id } = await identified(places, name);
  const at = new Date(Date.now()).toISOString();
  await addHold(places.host, { dialect, id, at, by: whoIsHere(), reason });
}

export async function releaseSession(places: Places, name: string): Promise<boolean> {
  const own = await identified(places, name);
  const isHeld = await releaseHold(places.host, own);
  const guarded = guardOf(own.dialect, own.root);
  if (guarded === null) return isHeld;
  if ((await inTrash(places)).some((each) => isCopyOf(each, guarded.directory, own.id))) {
    const back = `\`verbatim restore ${shortName(own.id)}\` brings it back`;
    const reason = `its copy is in the trash; ${back}`;
    const details = { path: own.path, reason };
    throw new VerbatimError("RESTORE_REFUSED", `${own.id} is not released: ${reason}`, details);
  }
  return (await releaseCopy(places.host, guarded, own.id)) || isHeld;
}

function isCopyOf({ root, removal }: Trashed, directory: string, id: string): boolean {
  return root === directory && removal.id === id;
}

/** Ids of agents' sessions may begin with a directory that their users do not name. */
function isNamed({ id }: Removal, name: string): boolean {
  return id === name || shortName(id) === name;
}

function shortName(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

async function identified(places: Places, name: string): Promise<OwnSession> {
  const found = await places.find(name);
  const { id } = found;
  if (id !== null) return { ...found, id };
  const message = `${found.path} is a file outside any store, which nothing removes`;
  throw new VerbatimError("SESSION_NOT_FOUND", message, { session: name });
}

/** Removes what the trash has of a session; null if it has none. */
async function purgeTrashed(places: Places, name: string): Promise<RemovedSession | null> {
  const all = (await inTrash(places)).filter(({ removal }) => isNamed(removal, name));
  for (const { root, key } of all) await purgeFiles(places.host, root, key);
  const last = all.at(-1);
  return last ? { ...factsOf(last.root, last.removal), until: null } : null;
}

interface Trashed {
  readonly root: string;
  readonly key: string;
  readonly removal: Removal;
}

/** What is in the trash of all stores, the oldest first, after what is due was done. */
async function inTrash(places: Places): Promise<Trashed[]> {
  const trashed: Trashed[] = [];
  for (const root of await settleAll(places)) {
    for (const { entry } of await Trash.read(places.host, root)) {
      if (entry?.removal.state === "trash") trashed.push({ root, ...entry });
    }
  }
  return trashed.sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** Finishes and empties the trash of every store; returns their roots. */
async function settleAll({ host, lookups, onWarning }: Places): Promise<Set<string>> {
  const roots = new Set((await findStores(lookups)).map(({ root }) => root));
  await settleTrashes((root) => removingAt(host, root, onWarning), roots, Date.now(), onWarning);
  return roots;
}

/** Days from 1 to ten years. */
function trashDays(): number {
  const text = process.env[DAYS_VARIABLE];
  if (!text) return TRASH_DAYS;
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= 3650) return days;
  const reason = "it is not a number of days from 1 to 3650";
  const details = { setting: DAYS_VARIABLE, from: "environment", reason };
  throw new VerbatimError("BAD_SETTING", `${DAYS_VARIABLE} is refused: ${reason}`, details);
}
