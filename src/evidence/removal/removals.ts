/**
 * Removals: removes sessions of a store, restores them, empties the trash; and finishes what a
 * killed process left of that, from whatever point it reached. Every step can be repeated.
 *
 *   copies in the trash · records · tombstones, notes · the files, logs first · indexes · records
 *
 * - Until its record is durable a removal changes nothing. From then on it is carried out by
 *   whichever process looks next.
 * - A file is removed only if it has the bytes that the record states. If the log has others, the
 *   session was continued meanwhile: it stays, and the removal is undone.
 * - A file is restored only where none is.
 * - A group of sessions goes through each step together, so that they wait for the disk together.
 */

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Burial } from "../../trust/heads/tombstones.ts";
import { OpenSessions, type Removing, type SessionName } from "./open-sessions.ts";
import {
  atOnce,
  fileFacts,
  newTrashKey,
  type Removal,
  removeIfThere,
  Trash,
  type TrashEntry,
} from "./trash.ts";

/** Sessions of a group: their logs and locks are open together. */
export const GROUP_MAX = 32;

/** What is to be removed, and what the records say. */
export interface RemovalRequest extends SessionName, Burial {
  /** Null: for good. */
  readonly until: string | null;
  /** Lines of the user's notes about it, which go with it. */
  readonly notes: readonly string[];
  /** Called with the session's lock held, before anything is changed; may refuse. */
  readonly begin: () => Promise<void>;
}

/**
 * Removes the files of a group of sessions; `finishRemovals` does the rest. Returns the removals, and
 * why others are refused. If there is no room in the trash it fails, and changes nothing.
 */
export async function removeGroup<Request extends RemovalRequest>(
  removing: Removing,
  requests: readonly Request[],
): Promise<{ removals: readonly TrashEntry[]; refusals: Map<Request, unknown> }> {
  return withTrash(removing, async (trash, open) => {
    const refusals = new Map<Request, unknown>();
    const intents: TrashEntry[] = [];
    for (const request of requests) {
      try {
        intents.push(...(await intended(removing, open, request)));
      } catch (cause) {
        refusals.set(request, cause);
      }
    }
    const removals = await carryOut(removing, trash, open, await record(trash, open, intents));
    for (const request of requests) {
      if (refusals.has(request) || removals.some(isOf(request))) continue;
      const { id } = request;
      const message = `${id} is not removed: another program writes it; stop that, and try again`;
      const details = { path: id, holder: "unknown" } as const;
      refusals.set(request, new VerbatimError("LOG_LOCKED", message, details));
    }
    return { removals, refusals };
  });
}

export function isOf({ dialect, id }: SessionName): (entry: TrashEntry) => boolean {
  return ({ removal }) => removal.id === id && removal.dialect === dialect;
}

/** Locks a session, and returns what its records will say; hashes are to be added. */
async function intended(
  removing: Removing,
  open: OpenSessions,
  { dialect, id, until, notes, begin, ...burial }: RemovalRequest,
): Promise<TrashEntry[]> {
  for (const { folder, logName } of removing.filesOf({ dialect, id })) {
    await open.lock(folder, logName);
  }
  await begin();
  const all: TrashEntry[] = [];
  for (const place of filesThere(removing, { dialect, id })) {
    const tombstones = await removing.sign(place.signed, burial);
    const key = newTrashKey(Date.parse(burial.at), randomBytes(4).toString("hex"));
    const { folder, files } = place;
    const facts = { ...burial, until, dialect, id, folder, files, tombstones };
    const own = all.length === 0 ? notes : [];
    all.push({ key, removal: { state: "removing", ...facts, notes: own } });
  }
  if (all.length > 0) return all;
  throw new VerbatimError("LOG_NOT_FOUND", `${id} is gone`, { path: join(removing.root, id) });
}

/** The files that there are of a session, logs first, with their lengths. */
export function filesThere({ root, filesOf }: Removing, session: SessionName) {
  return filesOf(session).flatMap(({ folder, logName, isOwn, signed }) => {
    const directory = join(root, folder);
    const own = existsSync(join(directory, logName)) ? readdirSync(directory).filter(isOwn) : [];
    if (own.length === 0) return [];
    const names = [logName, ...own.filter((name) => name !== logName && !name.endsWith(".lock"))];
    const files = names.map((name) => {
      return { name, bytes: statSync(join(directory, name)).size, sha256: "" };
    });
    return [{ folder, files, signed }];
  });
}

/** Copies the files, and writes the records: from then on any process carries them out. */
async function record(
  trash: Trash,
  open: OpenSessions,
  intents: readonly TrashEntry[],
): Promise<readonly TrashEntry[]> {
  try {
    const entries = await atOnce(intents, async ({ key, removal }) => {
      const folder = (await open.folder(removal.folder)) as Directory;
      const files: Removal["files"][number][] = [];
      for (const [n, file] of removal.files.entries()) {
        const isKept = removal.until !== null;
        const { name } = file;
        const hashed = isKept ? trash.takeIn(folder, name, key, n) : fileFacts(folder, name);
        files.push((await hashed) ?? { ...file, sha256: "0".repeat(64) });
      }
      return { key, removal: { ...removal, files } };
    });
    await trash.sync();
    await atOnce(entries, (entry) => trash.write(entry));
    return entries;
  } catch (cause) {
    await trash.drop(intents);
    throw cause;
  }
}

/** Cleans the indexes once for all of these removals, whose files are gone. */
export async function finishRemovals(
  removing: Removing,
  entries: readonly TrashEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await removing.clean(entries.map(({ removal }) => removal));
  await Trash.locked(removing.host, removing.root, (trash) => finish(trash, entries));
}

/** Another process may have finished some, and restored them. */
async function finish(trash: Trash, entries: readonly TrashEntry[]): Promise<void> {
  const states = new Map<string, Removal["state"]>();
  for (const { entry } of await trash.entries()) {
    if (entry) states.set(entry.key, entry.removal.state);
  }
  const left = entries.filter(({ key }) => states.get(key) === "removing");
  await trash.drop(left.filter(({ removal }) => removal.until === null));
  const restorable = left.filter(({ removal }) => removal.until !== null);
  await atOnce(restorable, ({ key, removal }) => {
    return trash.write({ key, removal: { ...removal, state: "trash" } });
  });
}

/**
 * Removes the files that the records state; the caller holds the locks. Returns the removals that
 * were carried out; one of a session that was continued is undone.
 */
async function carryOut(
  { bury }: Removing,
  trash: Trash,
  open: OpenSessions,
  entries: readonly TrashEntry[],
): Promise<readonly TrashEntry[]> {
  const carriedOut: TrashEntry[] = [];
  const undone: TrashEntry[] = [];
  const paths: (readonly [Directory, string])[] = [];
  for (const entry of entries) {
    const { files, folder: path } = entry.removal;
    const folder = await open.folder(path);
    const there = folder ? await atOnce(files, ({ name }) => fileFacts(folder, name)) : [];
    const isSame = (n: number) => there[n]?.sha256 === files[n]?.sha256;
    const isContinued = there[0] && !isSame(0);
    (isContinued ? undone : carriedOut).push(entry);
    if (folder === null || isContinued) continue;
    paths.push(...files.filter((_, n) => isSame(n)).map(({ name }) => [folder, name] as const));
  }
  await trash.drop(undone);
  await bury(carriedOut.map(({ removal }) => removal));
  for (const [folder, name] of paths) removeIfThere(folder, name);
  await open.sync();
  for (const { removal } of carriedOut) {
    const folder = await open.folder(removal.folder);
    if (folder) removeLeftDirectory(folder, removal);
  }
  return carriedOut;
}

/** The lock file, and the directory if it was the session's own. Nothing depends on either. */
function removeLeftDirectory(folder: Directory, { id, files: [log] }: Removal): void {
  try {
    removeIfThere(folder, `${log?.name}.lock`);
    if (folder.path.endsWith(`/${id}`)) rmdirSync(folder.path);
  } catch {
    // Other sessions are in it, or other files.
  }
}

/** Restores a removed session; refuses with SESSION_EXISTS if there is one again. */
export async function restoreFiles(removing: Removing, key: string): Promise<void> {
  await withTrash(removing, async (trash, open) => {
    const entry = (await trash.entries()).find(({ entry }) => entry?.key === key)?.entry;
    if (entry?.removal.state !== "trash" || !trash.isWhole(entry)) {
      const path = join(removing.root, entry?.removal.id ?? key);
      const reason = "the trash does not have all of it";
      const message = `${path} is not restored: ${reason}`;
      throw new VerbatimError("RESTORE_REFUSED", message, { path, reason });
    }
    const { id } = entry.removal;
    refuseForeign(removing, entry.removal);
    const removal: Removal = { ...entry.removal, state: "restoring" };
    if (await carryBack(removing, trash, open, { key, removal }, true)) return;
    const message = `${id} is not restored: there is a session of this id again; move it away`;
    throw new VerbatimError("SESSION_EXISTS", message, { session: id });
  });
}

/** Copies the files back, the log last. False, and nothing is changed, if others are in the way. */
async function carryBack(
  { exhume }: Removing,
  trash: Trash,
  open: OpenSessions,
  entry: TrashEntry,
  isFirst: boolean,
): Promise<boolean> {
  const { folder: path, files } = entry.removal;
  const [log] = files;
  const folder = await open.made(path);
  await open.lock(path, log?.name ?? "");
  const present = log ? await fileFacts(folder, log.name) : null;
  if (present && (isFirst || present.sha256 !== log?.sha256)) return false;
  const names = new Set(folder.names());
  if (isFirst && files.some(({ name }) => names.has(name))) return false;
  if (isFirst) await trash.write(entry);
  for (const [n, { name }] of [...files.entries()].reverse()) {
    if (!names.has(name)) await trash.giveBack(entry.key, n, folder, name);
  }
  await open.sync();
  await exhume(entry.removal);
  await trash.drop([entry]);
  return true;
}

/** Removes a removed session from the trash. */
export async function purgeFiles({ host, root }: Removing, key: string): Promise<void> {
  await Trash.locked(host, root, (trash) => trash.drop([{ key }]));
}

/**
 * Finishes what was interrupted, and removes from the trash what was there for long enough. What
 * another process works on is left to it.
 */
export async function settleTrash(
  removing: Removing,
  nowMs: number,
  onWarning: (warning: string) => void,
): Promise<void> {
  await withTrash(removing, async (trash, open) => {
    const due: TrashEntry[] = [];
    const interrupted: TrashEntry[] = [];
    for (const { path, entry } of await trash.entries()) {
      try {
        if (entry === null) throw new Error("it is not a record of a removal");
        const { state, until } = entry.removal;
        if (state !== "trash") refuseForeign(removing, entry.removal);
        if (state === "removing") interrupted.push(entry);
        else if (state === "trash" && until !== null && Date.parse(until) <= nowMs) due.push(entry);
        if (state !== "restoring" || (await carryBack(removing, trash, open, entry, false)))
          continue;
        await trash.write({ ...entry, removal: { ...entry.removal, state: "trash" } });
      } catch (cause) {
        if (errnoOf(cause) === "LOG_LOCKED") continue;
        const reason = cause instanceof Error ? cause.message : String(cause);
        onWarning(`${path} is left as it is: ${reason}`);
      }
    }
    await trash.drop(due);
    const carriedOut: TrashEntry[] = [];
    for (let at = 0; at < interrupted.length; at += GROUP_MAX) {
      const group: TrashEntry[] = [];
      for (const entry of interrupted.slice(at, at + GROUP_MAX)) {
        const { folder, files } = entry.removal;
        const locking = open.lock(folder, files[0]?.name ?? "");
        if (await locking.then(() => true, ifLocked)) group.push(entry);
      }
      carriedOut.push(...(await carryOut(removing, trash, open, group)));
      await open.close();
    }
    if (carriedOut.length > 0) await removing.clean(carriedOut.map(({ removal }) => removal));
    await finish(trash, carriedOut);
    await trash.dropUnrecorded();
  });
}

function ifLocked(cause: unknown): false {
  if (errnoOf(cause) === "LOG_LOCKED") return false;
  throw cause;
}

/** A record that we did not write could name any file of the store. */
function refuseForeign({ filesOf }: Removing, removal: Removal): void {
  const places = filesOf(removal).filter(({ folder }) => folder === removal.folder);
  for (const { name } of removal.files) {
    if (places.some(({ isOwn }) => isOwn(name))) continue;
    throw new Error(`${JSON.stringify(name)} is no file of ${JSON.stringify(removal.id)}`);
  }
}

async function withTrash<T>(
  removing: Removing,
  work: (trash: Trash, open: OpenSessions) => Promise<T>,
): Promise<T> {
  return Trash.locked(removing.host, removing.root, async (trash) => {
    const open = new OpenSessions(removing);
    try {
      return await work(trash, open);
    } finally {
      await open.close();
    }
  });
}
