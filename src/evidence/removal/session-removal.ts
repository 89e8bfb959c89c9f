/**
 * Session removal: what removing a session of this user needs: which files are its own, the user's
 * key, pins and caches.
 *
 * An agent's own file is never named here: only those of our stores, and copies of the guard.
 */

import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { nodeSurroundings } from "../../core/base/node-surroundings.ts";
import { LogLock } from "../../core/log/lock.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import { isReceived } from "../../sessions/list/whose.ts";
import { removeNoteLines, returnNoteLines } from "../../sessions/notes/notes-file.ts";
import { Heads } from "../../trust/heads/heads.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import { signTombstones } from "../../trust/heads/tombstones.ts";
import { loadSigner } from "../../trust/keys/keys.ts";
import type { Pin } from "../../trust/proof/pin.ts";
import {
  byLog,
  derivedKind,
  isOurs,
  loadOwnFiles,
  logNameOf,
  storeFiles,
} from "../doctor/own-names.ts";
import { cleanCaches } from "../erase/clean-caches.ts";
import type { Locked, Removing, SessionFiles, SessionName } from "./open-sessions.ts";
import { settleTrash } from "./removals.ts";
import { hasTrash } from "./trash.ts";

/** Days in the trash, unless the user set others. */
export const TRASH_DAYS = 30;

export type OwnSession = FoundSession & { readonly id: string };

/** Whether a session is in a store of ours. */
export async function isOwnSession({ dialect, root, id, path }: FoundSession): Promise<boolean> {
  await loadOwnFiles();
  const { writing, program } = dialectNamed(dialect);
  if (id === null || !writing || program || isReceived(root)) return false;
  if (!derivedKind(dialect)?.isOurs) return true; // Without a look at all files of the store.
  const files = byLog(dialect, nodeSurroundings.list(dirname(path)));
  return isOurs(dialect, files.get(basename(path)) ?? []);
}

/** Removing and restoring in one store. */
export async function removingIn(
  host: Host,
  root: string,
  onWarning: (warning: string) => void,
): Promise<Removing> {
  await loadOwnFiles();
  return {
    host,
    root,
    agentFile: null,
    filesOf: (session) => [ownFiles(session)],
    ...outsideRecords(host, root, onWarning),
    lock: (folder, logName) => lockLog(host, folder, logName),
    clean: async (removals) => {
      await cleanCaches(removals.map((removal) => cachedAs(removal, root)));
      for (const { dialect, id } of removals) await storeFiles(dialect)?.forget({ root }, id);
    },
  };
}

function ownFiles({ dialect, id }: SessionName): SessionFiles {
  const path = dialectNamed(dialect).naming.logPath(id).join("/");
  const logName = basename(path);
  const isOwn = (name: string) => logNameOf(dialect, name) === logName;
  return { folder: dirname(path), logName, isOwn, signed: [{ dialect, id }] };
}

/** As a writer locks a log. */
async function lockLog(host: Host, folder: Directory, logName: string): Promise<Locked> {
  const lock = new LogLock(host, folder, logName);
  let log: OpenFile | null = null;
  const close = () => {
    log?.close();
    lock.close();
  };
  try {
    await lock.acquire(0);
    const isThere = existsSync(join(folder.path, logName));
    log = isThere ? folder.open(logName, "append") : null;
    if (log?.tryLock("exclusive") === false) throw await lock.lockedError(); // lock.ts, L2
    return { close };
  } catch (cause) {
    close();
    throw cause;
  }
}

/** The session of a removal as the caches have it, for one of the roots that list it. */
export function cachedAs({ dialect, id }: SessionName, root: string) {
  return { dialect, root, id, logId: dialectNamed(dialect).naming.logPath(id).join("/") };
}

/** Tombstones and notes: what is kept of a session outside of its store. */
export function outsideRecords(
  host: Host,
  root: string,
  onWarning: (warning: string) => void,
): Pick<Removing, "sign" | "bury" | "exhume"> {
  const heads = new Heads({ host, stateDirectory: userPaths().stateDirectory, onWarning });
  return {
    sign: async (signed, burial) => {
      const pins: Pin[] = [];
      for (const { dialect, id } of signed) {
        pins.push(...(await heads.pinsOf(await rootNames(host, { dialect, root }), id)));
      }
      if (pins.length === 0) return [];
      return signTombstones(pins, burial, await loadSigner(host, userPaths()));
    },
    bury: async (removals) => {
      await heads.bury(removals.flatMap(({ tombstones }) => tombstones));
      await removeNoteLines(
        host,
        removals.flatMap(({ notes }) => notes),
      );
    },
    exhume: async ({ tombstones, notes }) => {
      await heads.exhume(tombstones);
      await returnNoteLines(host, notes);
    },
  };
}

/**
 * Finishes and empties the trash of those of these stores that have one, and returns them; one that
 * fails is reported.
 */
export async function settleTrashes(
  removingAt: (root: string) => Promise<Removing>,
  roots: Iterable<string>,
  nowMs: number,
  onWarning: (warning: string) => void,
): Promise<Removing[]> {
  const stores: Removing[] = [];
  for (const root of new Set(roots)) {
    if (!hasTrash(root)) continue;
    try {
      const removing = await removingAt(root);
      stores.push(removing);
      await settleTrash(removing, nowMs, onWarning);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      onWarning(`the trash of ${root} is not emptied: ${reason}`);
    }
  }
  return stores;
}
