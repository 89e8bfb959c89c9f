/**
 * Session removal: what removing a session of this user needs: which files are its own, the user's
 * key, pins and caches.
 *
 * An agent's own file is never named here: only those of our stores, and copies of the guard.
 */

import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { nodeSurroundings } from "../../core/base/node-surroundings.ts";
import { holdLog } from "../../core/log/held-log.ts";
import { LogLock } from "../../core/log/lock.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import { isReceived } from "../../sessions/list/whose.ts";
import { removeNoteLines, returnNoteLines } from "../../sessions/notes/notes-file.ts";
import { Heads } from "../../trust/heads/heads.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import { type Burial, signTombstones } from "../../trust/heads/tombstones.ts";
import { loadSigner } from "../../trust/keys/keys.ts";
import type { Pin } from "../../trust/proof/pin.ts";
import { byLog, isOurs, loadOwnFiles, logNameOf, storeFiles } from "../doctor/own-names.ts";
import { cleanCaches } from "../erase/clean-caches.ts";
import { type Removing, removeFiles, settleTrash } from "./removals.ts";
import { hasTrash, newTrashKey, type Removal, type TrashEntry } from "./trash.ts";

/** Days in the trash, unless the user set others. */
export const TRASH_DAYS = 30;
const DAY_MS = 86_400_000;

export interface RemovalRequest {
  /** Who removes it, and why. */
  readonly by: string;
  readonly reason: string;
  /** Days in the trash; null: for good. */
  readonly days: number | null;
  readonly nowMs: number;
  /** Lines of the user's notes about it, which go with it. */
  readonly notes: readonly string[];
  /** Called with the session's lock held, before anything is changed; may refuse. */
  readonly begin: () => Promise<void>;
  readonly onWarning: (warning: string) => void;
}

export type OwnSession = FoundSession & { readonly id: string };

/** Whether a session is in a store of ours, and may be removed as it is. */
export async function isOwnSession({ dialect, root, id, path }: FoundSession): Promise<boolean> {
  await loadOwnFiles();
  const { writing, program } = dialectNamed(dialect);
  if (id === null || !writing || program || isReceived(root)) return false;
  const files = byLog(dialect, nodeSurroundings.list(dirname(path)));
  return isOurs(dialect, files.get(basename(path)) ?? []);
}

/**
 * Removes the files of a session of one of our stores; `finishRemovals` does the rest. Refuses with
 * LOG_LOCKED while it is written.
 */
export async function removeSession(
  removing: Removing,
  { dialect, root, id }: OwnSession,
  request: RemovalRequest,
): Promise<TrashEntry> {
  const { host } = removing;
  await loadOwnFiles();
  const logId = dialectNamed(dialect).naming.logPath(id).join("/");
  const logName = basename(logId);
  const held = await holdLog(host, logId, root);
  try {
    await request.begin();
    const names = held.place.directory.names().filter((name) => {
      return name !== logName && !name.endsWith(".lock") && logNameOf(dialect, name) === logName;
    });
    return await removeNamed(removing, request, {
      dialect,
      id,
      folder: dirname(logId),
      names: [logName, ...names],
      signed: [{ dialect, id }],
    });
  } finally {
    held.close();
  }
}

interface NamedFiles extends Pick<Removal, "dialect" | "id" | "folder"> {
  /** The log first. */
  readonly names: readonly string[];
  /** As pinned heads name what is removed. */
  readonly signed: readonly { readonly dialect: string; readonly id: string }[];
}

/** Removes files of a session that the caller has locked, with tombstones of its pinned heads. */
export async function removeNamed(
  removing: Removing,
  { onWarning, nowMs, by, reason, days, notes }: RemovalRequest,
  { signed, ...files }: NamedFiles,
): Promise<TrashEntry> {
  const { host, root } = removing;
  const heads = headsOf(host, onWarning);
  const pins: Pin[] = [];
  for (const { dialect, id } of signed) {
    pins.push(...(await heads.pinsOf(await rootNames(host, { dialect, root }), id)));
  }
  const at = new Date(nowMs).toISOString();
  const burial: Burial = { at, by, reason };
  const tombstones =
    pins.length === 0
      ? []
      : await signTombstones(pins, burial, await loadSigner(host, userPaths()));
  const until = days === null ? null : new Date(nowMs + days * DAY_MS).toISOString();
  const key = newTrashKey(nowMs, randomBytes(4).toString("hex"));
  return removeFiles(removing, key, { ...burial, until, ...files, tombstones, notes });
}

/** Removing and restoring in one store. */
export function removingIn(
  host: Host,
  root: string,
  onWarning: (warning: string) => void,
): Removing {
  return {
    host,
    root,
    ...outsideRecords(host, onWarning),
    lock: async (folder, logName) => {
      if (folder === null) return { close() {} };
      const lock = new LogLock(host, folder, logName);
      await lock.acquire(0).catch((cause: unknown) => {
        lock.close();
        throw cause;
      });
      return lock;
    },
    isOwn: (removal, name) => isOwnFile(removal, name),
    clean: async (removals) => {
      await loadOwnFiles();
      await cleanCaches(removals.map((removal) => cachedAs(removal, root)));
      for (const { dialect, id } of removals) await storeFiles(dialect)?.forget({ root }, id);
    },
  };
}

/** The session of a removal as the caches have it, for one of the roots that list it. */
export function cachedAs({ dialect, id }: Pick<Removal, "dialect" | "id">, root: string) {
  return { dialect, root, id, logId: dialectNamed(dialect).naming.logPath(id).join("/") };
}

/** Tombstones and notes: what is kept of a session outside of its store. */
export function outsideRecords(
  host: Host,
  onWarning: (warning: string) => void,
): Pick<Removing, "bury" | "exhume"> {
  const heads = headsOf(host, onWarning);
  return {
    bury: async ({ tombstones, notes }) => {
      await heads.bury(tombstones);
      await removeNoteLines(host, notes);
    },
    exhume: async ({ tombstones, notes }) => {
      await heads.exhume(tombstones);
      await returnNoteLines(host, notes);
    },
  };
}

function headsOf(host: Host, onWarning: (warning: string) => void): Heads {
  return new Heads({ host, stateDirectory: userPaths().stateDirectory, onWarning });
}

/** Whether a file may be one of the session that a record names. */
async function isOwnFile({ dialect, id, folder }: Removal, name: string): Promise<boolean> {
  await loadOwnFiles();
  const logId = dialectNamed(dialect).naming.logPath(id).join("/");
  return dirname(logId) === folder && logNameOf(dialect, name) === basename(logId);
}

/** Finishes and empties the trash of these stores; one that fails is reported. */
export async function settleTrashes(
  removingAt: (root: string) => Removing,
  roots: Iterable<string>,
  nowMs: number,
  onWarning: (warning: string) => void,
): Promise<void> {
  for (const root of new Set(roots)) {
    if (!hasTrash(root)) continue;
    try {
      await loadDialects();
      await settleTrash(removingAt(root), nowMs, onWarning);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      onWarning(`the trash of ${root} is not emptied: ${reason}`);
    }
  }
}

/** The path of a removed session's log. */
export function removedPath(root: string, { folder, files }: Removal): string {
  return join(root, folder, files[0]?.name ?? "");
}
