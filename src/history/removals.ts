/** Removals: sessions that are removed, restored and held. */

import { errnoOf, VerbatimError } from "../core/base/errors.ts";
import { dataDirectory } from "../core/base/node-paths.ts";
import { addHold, releaseHold } from "../evidence/removal/holds.ts";
import {
  type Consent,
  refuseForked,
  refuseHeld,
  removalRefused,
  sharesToRevoke,
} from "../evidence/removal/obstacles.ts";
import { purgeFiles, restoreFiles } from "../evidence/removal/removals.ts";
import {
  isOwnSession,
  type OwnSession,
  removedPath,
  removeSession,
  removingIn,
  settleTrashes,
  TRASH_DAYS,
} from "../evidence/removal/session-removal.ts";
import { type Removal, Trash } from "../evidence/removal/trash.ts";
import { FileShares } from "../evidence/share/share-files.ts";
import { thisSender } from "../guard/remote/remote-url.ts";
import type { RestoredFile } from "../guard/restore.ts";
import { findStores } from "../sessions/list/find-stores.ts";
import { listPage } from "../sessions/list/list-page.ts";
import { summaryOf } from "../sessions/store/list.ts";
import type { RemoveOptions, RestoreOptions } from "./options.ts";
import type { Places } from "./places.ts";

/** A session that was removed. */
export interface RemovedSession {
  readonly session: string;
  readonly dialect: string;
  /** Of its store. */
  readonly root: string;
  /** Of its log, as it was. */
  readonly path: string;
  /** Of all its files. */
  readonly bytes: number;
  readonly at: string;
  /** Until when it can be restored; null: it was removed for good. */
  readonly until: string | null;
  readonly by: string;
  readonly reason: string;
  /** A signed tombstone says that it was deleted. */
  readonly hasTombstone: boolean;
  /** Shares that were revoked, by their ids. */
  readonly revokedShares: readonly string[];
}

const DAYS_VARIABLE = "VERBATIM_TRASH_DAYS";

export async function removeSessionNamed(
  places: Places,
  name: string,
  options: RemoveOptions,
): Promise<RemovedSession> {
  const { host, onWarning } = places;
  const { purge = false, reason = "", dryRun = false, signal } = options;
  const consent = {
    revokeShares: options.revokeShares === true,
    leaveForks: options.leaveForks === true,
  };
  const days = purge ? null : trashDays();
  const dropped = purge && !dryRun ? await purgeTrashed(places, name) : null;
  if (!purge) await settleAll(places);
  const found = await places.find(name).catch((cause: unknown) => {
    if (dropped === null || errnoOf(cause) !== "SESSION_NOT_FOUND") throw cause;
    return null;
  });
  if (found === null && dropped !== null) return dropped;
  if (found === null) throw new TypeError("a session is found, or refused");
  const { id } = found;
  if (id === null || !(await isOwnSession(found))) {
    const why = `${found.path} is not in a store of yours; its agent keeps it, delete it there`;
    throw removalRefused(id ?? name, "not ours", why);
  }
  const own: OwnSession = { ...found, id };
  refuseHeld(own);
  refuseForked(id, consent.leaveForks ? [] : await forksOf(places, own), consent);
  const nowMs = Date.now();
  const shares = new FileShares(host, dataDirectory(), () => nowMs);
  try {
    await sharesToRevoke(id, shares, consent, nowMs);
    signal?.throwIfAborted();
    if (dryRun) return notRemoved(own, reason, nowMs);
    let revokedShares: readonly string[] = [];
    const begin = async () => {
      revokedShares = await revokeAll(own, shares, consent, nowMs);
    };
    const removal = await removeSession(host, own, {
      by: whoIsHere(),
      reason,
      days,
      nowMs,
      begin,
      onWarning,
    });
    return { ...factsOf(own.root, removal), revokedShares };
  } finally {
    await shares.close();
  }
}

/** With the session's lock held: a refused removal has revoked nothing. */
async function revokeAll(
  own: OwnSession,
  shares: FileShares,
  consent: Consent,
  nowMs: number,
): Promise<readonly string[]> {
  refuseHeld(own);
  const ids = await sharesToRevoke(own.id, shares, consent, nowMs);
  for (const id of ids) await shares.revoke(id);
  return ids;
}

/** Sessions that name this one as the one they come from. */
async function forksOf(places: Places, { dialect, root, id }: OwnSession): Promise<string[]> {
  const page = await listPage(await places.stores(), {
    host: places.host,
    limit: Number.POSITIVE_INFINITY,
    isShown: (line) => {
      const session = summaryOf(line);
      const isItself = session.id === id && session.dialect === dialect && session.root === root;
      return session.parent === id && !isItself;
    },
    onWarning: places.onWarning,
  });
  return page?.sessions.map((line) => line.id) ?? [];
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
  const exact = all.filter(({ removal }) => removal.id === name);
  const named = exact.length > 0 ? exact : all.filter(({ removal }) => removal.id.startsWith(name));
  const last = named.at(-1);
  if (!last) return null;
  if (new Set(named.map(({ root, removal }) => `${root}\0${removal.id}`)).size > 1) {
    const ids = named.map(({ root, removal }) => `  ${removal.id}  (${root})`);
    const message = [`${name} may be one of these in the trash:`, ...ids].join("\n");
    throw new VerbatimError("SESSION_NOT_FOUND", message, { session: name });
  }
  signal?.throwIfAborted();
  const { root, key } = last;
  const removal = await restoreFiles(removingIn(places.host, root, places.onWarning), key);
  const { path, bytes } = factsOf(root, removal);
  return { path, bytes, generation: 1, isSame: false, keptAs: null, isExport: false };
}

export async function holdSession(places: Places, name: string, reason: string): Promise<void> {
  const { dialect, id } = await identified(places, name);
  const at = new Date(Date.now()).toISOString();
  await addHold(places.host, { dialect, id, at, by: whoIsHere(), reason });
}

export async function releaseSession(places: Places, name: string): Promise<boolean> {
  return releaseHold(places.host, await identified(places, name));
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
  const all = (await inTrash(places)).filter(({ removal }) => removal.id === name);
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
  await settleTrashes(host, roots, Date.now(), onWarning);
  return roots;
}

function factsOf(root: string, removal: Removal): RemovedSession {
  const { id, dialect, files, at, until, by, reason, tombstones } = removal;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const path = removedPath(root, removal);
  const said = { at, until, by, reason, hasTombstone: tombstones.length > 0, revokedShares: [] };
  return { session: id, dialect, root, path, bytes, ...said };
}

function notRemoved(own: OwnSession, reason: string, nowMs: number): RemovedSession {
  const { id, dialect, root, path } = own;
  const at = new Date(nowMs).toISOString();
  const said = { at, until: at, by: whoIsHere(), reason, hasTombstone: false, revokedShares: [] };
  return { session: id, dialect, root, path, bytes: 0, ...said };
}

function whoIsHere(): string {
  const { user, machine } = thisSender();
  return `${user}@${machine}`;
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
