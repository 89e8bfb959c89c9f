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
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import { isReceived } from "../../sessions/list/whose.ts";
import { Heads } from "../../trust/heads/heads.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import { signTombstones } from "../../trust/heads/tombstones.ts";
import { loadSigner } from "../../trust/keys/keys.ts";
import { byLog, isOurs, loadOwnFiles, logNameOf, storeFiles } from "../doctor/own-names.ts";
import { cleanCaches } from "../erase/clean-caches.ts";
import { type Removing, removeFiles, settleTrash } from "./removals.ts";
import { hasTrash, newTrashKey, type Removal } from "./trash.ts";

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

/** Removes a session of one of our stores. Refuses with LOG_LOCKED while it is written. */
export async function removeSession(
  host: Host,
  { dialect, root, id }: OwnSession,
  request: RemovalRequest,
): Promise<Removal> {
  const { onWarning, nowMs, by, reason, days } = request;
  await loadOwnFiles();
  const logId = dialectNamed(dialect).naming.logPath(id).join("/");
  const logName = basename(logId);
  const held = await holdLog(host, logId, root);
  try {
    await request.begin();
    const names = held.place.directory.names().filter((name) => {
      return name !== logName && !name.endsWith(".lock") && logNameOf(dialect, name) === logName;
    });
    const heads = headsOf(host, onWarning);
    const pins = await heads.pinsOf(await rootNames(host, { dialect, root }), id);
    const burial = { at: new Date(nowMs).toISOString(), by, reason };
    const tombstones =
      pins.length === 0
        ? []
        : await signTombstones(pins, burial, await loadSigner(host, userPaths()));
    return await removeFiles(removingIn(host, root, onWarning), newKey(nowMs), {
      ...burial,
      until: untilOf(nowMs, days),
      dialect,
      id,
      folder: dirname(logId),
      names: [logName, ...names],
      tombstones,
    });
  } finally {
    held.close();
  }
}

export function untilOf(nowMs: number, days: number | null): string | null {
  return days === null ? null : new Date(nowMs + days * DAY_MS).toISOString();
}

export function newKey(nowMs: number): string {
  return newTrashKey(nowMs, randomBytes(4).toString("hex"));
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
    heads: headsOf(host, onWarning),
    isOwn: (removal, name) => isOwnFile(removal, name),
    clean: async ({ dialect, id }) => {
      await loadOwnFiles();
      const logId = dialectNamed(dialect).naming.logPath(id).join("/");
      await cleanCaches({ dialect, root, logId, id });
      await storeFiles(dialect)?.forget({ root }, id);
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
  host: Host,
  roots: Iterable<string>,
  nowMs: number,
  onWarning: (warning: string) => void,
): Promise<void> {
  for (const root of new Set(roots)) {
    if (!hasTrash(root)) continue;
    try {
      await loadDialects();
      await settleTrash(removingIn(host, root, onWarning), nowMs, onWarning);
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
