/**
 * Removals: removes a session, restores it, empties the trash; and finishes what a killed process
 * left of that, from whatever point it reached. Every step can be repeated.
 *
 *   copies in the trash · record · tombstone, notes · the log · the other files · indexes · record
 *
 * - Until its record is durable a removal changes nothing. From then on it is carried out by
 *   whichever process looks next.
 * - A file is removed only if it has the bytes that the record states. If the log has others, the
 *   session was continued meanwhile: it stays, and the removal is undone.
 * - A file is restored only where none is.
 */

import { rmdirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { fileFacts, type Removal, removeIfThere, Trash, type TrashEntry } from "./trash.ts";

/** Records that are written at once: a disk syncs several in about the time of one. */
const SYNCS_AT_ONCE = 8;

/** What removing and restoring sessions of one store needs. */
export interface Removing {
  readonly host: Host;
  readonly root: string;
  /** Keeps writers from the session of this log; refuses with LOG_LOCKED. */
  readonly lock: (folder: Directory | null, logName: string) => Promise<Locked>;
  /** Says outside of the store that a session is removed, and takes it back. */
  readonly bury: (removal: Removal) => Promise<void>;
  readonly exhume: (removal: Removal) => Promise<void>;
  /** Whether a file may belong to the session: a planted record names others. */
  readonly isOwn: (removal: Removal, name: string) => Promise<boolean>;
  /** Removes the sessions from the indexes that have text of them. */
  readonly clean: (removals: readonly Removal[]) => Promise<void>;
}

export interface Locked {
  close(): void | Promise<void>;
}

/** What is to be removed; the caller holds the session's lock. */
export type Intended = Omit<Removal, "state" | "files"> & { readonly names: readonly string[] };

/**
 * Removes a session's files; `finishRemovals` does the rest. Refuses, and changes nothing, if there
 * is no room in the trash.
 */
export async function removeFiles(
  removing: Removing,
  key: string,
  { names, ...facts }: Intended,
): Promise<TrashEntry> {
  const { host, root } = removing;
  return Trash.locked(host, root, async (trash) => {
    const folder = await host.files.openDirectory(join(root, facts.folder), {
      create: false,
      root,
    });
    try {
      const files: Removal["files"][number][] = [];
      try {
        for (const [n, name] of names.entries()) {
          const isKept = facts.until !== null;
          const file = isKept ? trash.takeIn(folder, name, key, n) : fileFacts(folder, name);
          files.push((await file) ?? { name, bytes: 0, sha256: "0".repeat(64) });
        }
        await trash.sync();
        await trash.write({ key, removal: { state: "removing", ...facts, files } });
      } catch (cause) {
        await trash.drop(key);
        throw cause;
      }
      const removal: Removal = { state: "removing", ...facts, files };
      await carryOut(removing, trash, { key, removal });
      return { key, removal };
    } finally {
      folder.close();
    }
  });
}

/** Cleans the indexes once for all of these removals, whose files are gone. */
export async function finishRemovals(
  removing: Removing,
  removals: readonly TrashEntry[],
): Promise<void> {
  if (removals.length === 0) return;
  await removing.clean(removals.map(({ removal }) => removal));
  await Trash.locked(removing.host, removing.root, (trash) => finish(trash, removals));
}

/** Another process may have finished some, and restored them. */
async function finish(trash: Trash, removals: readonly TrashEntry[]): Promise<void> {
  const entries = await trash.entries();
  const states = new Map(entries.map(({ entry }) => [entry?.key, entry?.removal.state]));
  const left = removals.filter(({ key }) => states.get(key) === "removing").values();
  const finishRest = async () => {
    for (const { key, removal } of left) {
      if (removal.until === null) await trash.drop(key);
      else await trash.write({ key, removal: { ...removal, state: "trash" } });
    }
  };
  await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, finishRest));
}

/**
 * Removes the files that the record states; the caller holds the locks of trash and session. False:
 * the session was continued, and the removal is undone.
 */
async function carryOut(
  { host, root, bury }: Removing,
  trash: Trash,
  { key, removal }: TrashEntry,
): Promise<boolean> {
  const folder = await openIfAny(host, root, removal.folder);
  try {
    const [log] = removal.files;
    const present = folder && log ? await fileFacts(folder, log.name) : null;
    if (present && present.sha256 !== log?.sha256) {
      await trash.drop(key);
      return false;
    }
    await bury(removal);
    for (const { name, sha256 } of folder ? removal.files : []) {
      const facts = await fileFacts(folder as Directory, name);
      if (facts?.sha256 === sha256) removeIfThere(folder as Directory, name);
    }
    await folder?.sync();
    if (folder && log) removeLeftDirectory(folder, log.name, removal.id);
    return true;
  } finally {
    folder?.close();
  }
}

/** The lock file, and the directory if it was the session's own. Nothing depends on either. */
function removeLeftDirectory(folder: Directory, logName: string, id: string): void {
  try {
    removeIfThere(folder, `${logName}.lock`);
    if (folder.path.endsWith(`/${id}`)) rmdirSync(folder.path);
  } catch {
    // Other sessions are in it, or other files.
  }
}

/** Restores a removed session; refuses with SESSION_EXISTS if there is one again. */
export async function restoreFiles(removing: Removing, key: string): Promise<Removal> {
  const { host, root } = removing;
  return Trash.locked(host, root, async (trash) => {
    const entry = (await trash.entries()).find(({ entry }) => entry?.key === key)?.entry;
    if (entry?.removal.state !== "trash" || !trash.isWhole(entry)) {
      const path = join(root, entry?.removal.id ?? key);
      const reason = "the trash does not have all of it";
      throw new VerbatimError("RESTORE_REFUSED", `${path} is not restored: ${reason}`, {
        path,
        reason,
      });
    }
    const removal: Removal = { ...entry.removal, state: "restoring" };
    await refuseForeign(removing, removal);
    if (await carryBack(removing, trash, { key, removal }, true)) return removal;
    const message = `${removal.id} is not restored: there is a session of this id again; move it away`;
    throw new VerbatimError("SESSION_EXISTS", message, { session: removal.id });
  });
}

/** Copies the files back, the log last. False, and nothing is changed, if others are in the way. */
async function carryBack(
  { host, root, lock, exhume }: Removing,
  trash: Trash,
  { key, removal }: TrashEntry,
  isFirst: boolean,
): Promise<boolean> {
  const [log] = removal.files;
  const path = join(root, removal.folder);
  const folder = await host.files.openDirectory(path, { create: true, root });
  let locked: Locked | undefined;
  try {
    locked = await lock(folder, log?.name ?? "");
    const present = log ? await fileFacts(folder, log.name) : null;
    if (present && (isFirst || present.sha256 !== log?.sha256)) return false;
    const names = new Set(folder.names());
    if (isFirst && removal.files.some(({ name }) => names.has(name))) return false;
    if (isFirst) await trash.write({ key, removal });
    for (const [n, { name }] of [...removal.files.entries()].reverse()) {
      if ((await fileFacts(folder, name)) === null) await trash.giveBack(key, n, folder, name);
    }
    await folder.sync();
    await exhume(removal);
    await trash.drop(key);
    return true;
  } finally {
    await locked?.close();
    folder.close();
  }
}

/** Removes a removed session from the trash. */
export async function purgeFiles(host: Host, root: string, key: string): Promise<void> {
  await Trash.locked(host, root, (trash) => trash.drop(key));
}

/**
 * Finishes what was interrupted, and removes from the trash what was there for long enough. Returns
 * what was finished and emptied; what another process works on is left to it.
 */
export async function settleTrash(
  removing: Removing,
  nowMs: number,
  onWarning: (warning: string) => void,
): Promise<readonly Removal[]> {
  const { host, root } = removing;
  return Trash.locked(host, root, async (trash) => {
    const settled: Removal[] = [];
    const removed: TrashEntry[] = [];
    for (const { path, entry } of await trash.entries()) {
      try {
        if (entry === null) throw new Error("it is not a record of a removal");
        if (!(await settle(removing, trash, entry, nowMs))) continue;
        settled.push(entry.removal);
        if (entry.removal.state === "removing") removed.push(entry);
      } catch (cause) {
        if (cause instanceof VerbatimError && cause.code === "LOG_LOCKED") continue;
        const reason = cause instanceof Error ? cause.message : String(cause);
        onWarning(`${path} is left as it is: ${reason}`);
      }
    }
    if (removed.length > 0) await removing.clean(removed.map(({ removal }) => removal));
    await finish(trash, removed);
    await trash.dropUnrecorded();
    return settled;
  });
}

async function settle(
  removing: Removing,
  trash: Trash,
  entry: TrashEntry,
  nowMs: number,
): Promise<boolean> {
  const { key, removal } = entry;
  if (removal.state === "trash") {
    if (removal.until === null || Date.parse(removal.until) > nowMs) return false;
    await trash.drop(key);
    return true;
  }
  await refuseForeign(removing, removal);
  if (removal.state === "restoring") {
    const isBack = await carryBack(removing, trash, entry, false);
    // It was restored, and continued since: only its files in the trash were still to be removed.
    if (!isBack && !trash.isWhole(entry)) await trash.drop(key);
    else if (!isBack) await trash.write({ key, removal: { ...removal, state: "trash" } });
    return isBack;
  }
  const { host, root } = removing;
  const folder = await openIfAny(host, root, removal.folder);
  let locked: Locked | undefined;
  try {
    locked = await removing.lock(folder, removal.files[0]?.name ?? "");
    return await carryOut(removing, trash, entry);
  } finally {
    await locked?.close();
    folder?.close();
  }
}

/** A record that we did not write could name any file of the store. */
async function refuseForeign({ isOwn }: Removing, removal: Removal): Promise<void> {
  for (const { name } of removal.files) {
    if (await isOwn(removal, name)) continue;
    throw new Error(`${JSON.stringify(name)} is no file of ${JSON.stringify(removal.id)}`);
  }
}

async function openIfAny(host: Host, root: string, folder: string): Promise<Directory | null> {
  try {
    return await host.files.openDirectory(join(root, folder), { create: false, root });
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return null;
    throw cause;
  }
}
