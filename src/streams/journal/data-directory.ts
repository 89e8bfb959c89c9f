/**
 * Data directory: its lock, its files, and opening them in the order that recovery needs.
 *
 * One process has it open. The kernel's lock ensures this and ends with its holder.
 */

import { errnoOf, ioError, VerbatimError } from "../../core/base/errors.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { LogLock } from "../../core/log/lock.ts";
import type { StreamIndex } from "../files/lookup/stream-index.ts";
import { CommitJournal } from "./journal.ts";
import { JournalMark } from "./journal-mark.ts";
import type { ScannedJournal } from "./journal-scan.ts";
import { MetaFile } from "./meta-file.ts";
import { recover } from "./recovery.ts";

export interface DataDirectoryOptions {
  readonly path: string;
  readonly indexPath: string;
  readonly host: Host;
  readonly newId: () => string;
  readonly onRebuild: (done: number, of: number) => void;
}

export interface DataDirectory {
  readonly path: string;
  readonly logs: Directory;
  readonly journals: Directory;
  readonly meta: MetaFile;
  readonly index: StreamIndex;
  readonly journal: CommitJournal;
  readonly mark: JournalMark;
  close(): void;
}

export interface OpenedDirectory {
  readonly directory: DataDirectory;
  /** The contents of the journal. All of it is in memory: do not keep it. */
  readonly scanned: ScannedJournal;
}

/** The lock of `streams.lock` is the lock of the directory. */
const LOCKED_NAME = "streams";
/** In a directory that is being copied to (streams/copy/directory-target.ts). */
export const COPYING = "copying";

export async function openDataDirectory(options: DataDirectoryOptions): Promise<OpenedDirectory> {
  const opened: { close(): void }[] = [];
  const close = () => {
    for (const part of opened.splice(0).reverse()) part.close();
  };
  const keep = <T extends { close(): void }>(part: T): T => {
    opened.push(part);
    return part;
  };
  try {
    return await openParts(options, keep, close);
  } catch (cause) {
    close();
    throw errnoOf(cause) === "UNKNOWN" ? cause : ioError(options.path, "opening", cause);
  }
}

async function openParts(
  { path, indexPath, host, newId, onRebuild }: DataDirectoryOptions,
  keep: <T extends { close(): void }>(part: T) => T,
  close: () => void,
): Promise<OpenedDirectory> {
  const directory = keep(await host.files.openDirectory(path, { create: true }));
  keep(await lockToWrite(host, directory));
  if (directory.names().includes(COPYING)) {
    const reason = "a copy to it is not finished; run the same `verbatim server copy` again";
    throw new VerbatimError("COPY_REFUSED", `${path} is not used: ${reason}`, { path, reason });
  }
  const logs = keep(await host.files.openDirectory(`${path}/logs`, { create: true }));
  const journals = keep(await host.files.openDirectory(`${path}/journal`, { create: true }));
  const meta = keep(await MetaFile.open(directory, newId()));
  const onProgress = onRebuild;
  const recovered = await recover({ directory, journals, logs, meta, indexPath, onProgress });
  const index = keep(recovered.index);
  const scanned = withoutSpent(journals, meta, recovered.journal);
  const next = scanned.lastLsn + 1;
  const journal = keep(await CommitJournal.begin(journals, meta.storeId, next, newId));
  takeIndex(index, meta, scanned.lastLsn);
  const mark = keep(new JournalMark(directory, meta.storeId));
  mark.set(scanned.lastLsn);
  return { directory: { path, logs, journals, meta, index, journal, mark, close }, scanned };
}

/** A new index records its store before anything is in it: an empty one was lost. */
function takeIndex(index: StreamIndex, { end, storeId }: MetaFile, lsn: number): void {
  if (index.applied().storeId === storeId) return;
  index.transaction(() => index.setApplied({ lsn, metaBytes: end, storeId }));
}

/**
 * Segments without new records are not needed: a write-back has it all. A segment without any
 * record has the name of the next one, so it must not be among those that a write-back deletes.
 */
function withoutSpent(
  journals: Directory,
  meta: MetaFile,
  scanned: ScannedJournal,
): ScannedJournal {
  const { segments, records, lastLsn } = scanned;
  const isRemoved =
    records.length === 0 &&
    meta.unlessHeld(() => {
      for (const { name } of segments) journals.remove(name);
    });
  if (isRemoved) return { ...scanned, segments: [], bytes: 0 };
  return { ...scanned, segments: segments.filter(({ firstLsn }) => firstLsn <= lastLsn) };
}

/** Makes sure that no other process writes to the directory. Throws LOG_LOCKED. */
export async function lockToWrite(host: Host, directory: Directory): Promise<LogLock> {
  const { path } = directory;
  const lock = new LogLock(host, directory, LOCKED_NAME);
  try {
    await lock.acquire(0);
  } catch (cause) {
    lock.close();
    if (!(cause instanceof VerbatimError && cause.code === "LOG_LOCKED")) throw cause;
    const { holder } = (cause as VerbatimError<"LOG_LOCKED">).details;
    const who = holder === "unknown" ? "another process" : `process ${holder.pid}`;
    throw new VerbatimError(
      "LOG_LOCKED",
      `${path} is in use by ${who}; stop it, or choose another data directory`,
      { path, holder },
      { cause },
    );
  }
  lock.sayHeld();
  return lock;
}

/**
 * A data directory that no server has open, for examining it.
 *
 * Until it is closed, no server can start there. Others may examine it
 * too.
 *
 * Throws LOG_LOCKED if it is in use; otherwise holds it until it is closed.
 */
export function lockUnused(root: Directory): { close(): void } {
  let file: OpenFile;
  try {
    file = root.open("streams.lock", "read");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return { close() {} }; // It was never opened.
    throw cause;
  }
  if (file.tryLock("shared")) return file;
  file.close();
  throw new VerbatimError(
    "LOG_LOCKED",
    `${root.path} is in use by a server, and cannot be examined now; stop it, or examine a ` +
      "backup",
    { path: root.path, holder: "unknown" },
  );
}
