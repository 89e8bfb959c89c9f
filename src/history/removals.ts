/** Removals: sessions that are removed, restored and held. */

import { errnoOf, VerbatimError } from "../core/base/errors.ts";
import { guardOf } from "../dialects/files/guarded.ts";
import { addHold, releaseHold } from "../evidence/removal/holds.ts";
import type { Removing } from "../evidence/removal/open-sessions.ts";
import { purgeFiles, restoreFiles } from "../evidence/removal/removals.ts";
import { type OwnSession, settleTrashes, TRASH_DAYS } from "../evidence/removal/session-removal.ts";
import { type Removal, Trash, type TrashEntry } from "../evidence/removal/trash.ts";
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
    onRemoved: (removal) => all.push(removal),
    onRefused: (refusal) => {
      throw refusal;
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
    readonly onRemoved: (removal: RemovedSession) => unknown;
    readonly onRefused: (refusal: unknown) => void;
  },
): Promise<void> {
  const days = options.purge === true ? null : trashDays();
  const batch = new RemovalBatch(places, options, days, tell.onRefused);
  try {
    await settleAll(places);
    for (const session of sessions) {
      await removeOne(places, batch, session, options).catch(tell.onRefused);
    }
  } finally {
    try {
      await batch.finish();
    } finally {
      for (const each of batch.removals) await tell.onRemoved(each);
    }
  }
}

/** With `purge`, also what the trash has of the session. */
async function removeOne(
  places: Places,
  batch: RemovalBatch,
  session: string | FoundSession,
  { purge = false, dryRun = false }: RemoveOptions,
): Promise<void> {
  if (typeof session !== "string") return batch.add(session);
  const mustDrop = purge && !dryRun;
  let purged = mustDrop ? await purgeTrashed(places, session) : null;
  try {
    const target = await places.find(session);
    if (mustDrop) purged = (await purgeTrashed(places, target.id ?? session)) ?? purged;
    await batch.add(target);
  } catch (cause) {
    if (purged === null || !isNotThere(cause)) throw cause;
    batch.removals.push(purged);
  }
}

/** After its copy was purged from the trash, a session may be in no store, or its agent's only. */
function isNotThere(cause: unknown): boolean {
  if (errnoOf(cause) === "SESSION_NOT_FOUND") return true;
  if (!(cause instanceof VerbatimError) || cause.code !== "REMOVAL_REFUSED") return false;
  return "obstacle" in cause.details && cause.details.obstacle === "not ours";
}

export async function* removedSessions(places: Places): AsyncGenerator<RemovedSession> {
  for (const { removing, removal } of await trashed(places)) yield factsOf(removing, [removal]);
}

/** Null: the trash has no session of this name. */
export async function restoreRemoved(
  places: Places,
  name: string,
  { signal }: RestoreOptions,
): Promise<RestoredFile | null> {
  const all = await trashed(places);
  const exact = all.filter(({ removal }) => isNamed(removal, name));
  const begun = all.filter(({ removal: { id } }) => {
    return id.startsWith(name) || shortName(id).startsWith(name);
  });
  const choice = exact.length > 0 ? exact : begun;
  const last = choice.at(-1);
  if (!last) return null;
  const { removing, removal } = last;
  if (choice.some((each) => each.removal.id !== removal.id || each.removing !== removing)) {
    const ids = choice.map((each) => `  ${each.removal.id}  (${each.removing.root})`);
    const message = [`${name} may be one of these in the trash:`, ...ids].join("\n");
    throw new VerbatimError("SESSION_NOT_FOUND", message, { session: name });
  }
  signal?.throwIfAborted();
  // The guard has a copy of each file that the agent had of the session.
  for (const { key } of removing.agentFile ? choice : [last]) await restoreFiles(removing, key);
  const { path, bytes } = factsOf(removing, [removal]);
  return { path, bytes, generation: 1, isSame: false, keptAs: null, isExport: false };
}

export async function holdSession(places: Places, name: string, reason: string): Promise<void> {
  const { dialect, id } = await identified(places, name);
  const at = new Date(Date.now()).toISOString();
  await addHold(places.host, { dialect, id, at, by: whoIsHere(), reason });
}

export async function releaseSession(places: Places, name: string): Promise<boolean> {
  const target = await identified(places, name);
  const isHeld = await releaseHold(places.host, target);
  const guarded = guardOf(target.dialect, target.root);
  if (guarded === null) return isHeld;
  const isCopy = ({ removing, removal }: TrashedSession) => {
    return removing.root === guarded.directory && removal.id === target.id;
  };
  if ((await trashed(places)).some(isCopy)) {
    const back = `\`verbatim restore ${shortName(target.id)}\` brings it back`;
    const reason = `its copy is in the trash; ${back}`;
    const details = { path: target.path, reason };
    throw new VerbatimError("RESTORE_REFUSED", `${target.id} is not released: ${reason}`, details);
  }
  return (await releaseCopy(places.host, guarded, target.id)) || isHeld;
}

/** Ids of agents' sessions may begin with a directory that their users do not name. */
function isNamed({ id }: Removal, name: string): boolean {
  return id === name || shortName(id) === name;
}

function shortName(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

async function identified(places: Places, name: string): Promise<OwnSession> {
  const session = await places.find(name);
  const { id } = session;
  if (id !== null) return { ...session, id };
  const message = `${session.path} is a file outside any store, which nothing removes`;
  throw new VerbatimError("SESSION_NOT_FOUND", message, { session: name });
}

/** Removes what the trash has of a session; null if it has none. */
async function purgeTrashed(places: Places, name: string): Promise<RemovedSession | null> {
  const all = (await trashed(places)).filter(({ removal }) => isNamed(removal, name));
  for (const { removing, key } of all) await purgeFiles(removing, key);
  const last = all.at(-1);
  return last ? { ...factsOf(last.removing, [last.removal]), until: null } : null;
}

interface TrashedSession extends TrashEntry {
  readonly removing: Removing;
}

/** What is in the trash of all stores, the oldest first, after what is due was done. */
async function trashed(places: Places): Promise<TrashedSession[]> {
  const sessions: TrashedSession[] = [];
  for (const removing of await settleAll(places)) {
    for (const { entry } of await Trash.read(removing.host, removing.root)) {
      if (entry?.removal.state === "trash") sessions.push({ removing, ...entry });
    }
  }
  return sessions.sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** Finishes and empties the trash of every store that has one. */
async function settleAll({ host, lookups, onWarning }: Places): Promise<Removing[]> {
  const roots = (await findStores(lookups)).map(({ root }) => root);
  return settleTrashes((root) => removingAt(host, root, onWarning), roots, Date.now(), onWarning);
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
