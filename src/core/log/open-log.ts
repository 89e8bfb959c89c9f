/** Open log: opens a log's file to append, with its lock: creates it when missing, repairs its tail. */

import { errnoOf, ioError } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import { refuseReservedName, refuseSharingOverNetwork } from "./admission.ts";
import { LogLock } from "./lock.ts";
import { type Durability, type LogMode, logChoices, type WriterOptions } from "./log-options.ts";
import { type LogPath, openLogPath } from "./log-path.ts";
import { type Recovery, recover } from "./repair.ts";

export interface OpenedLog {
  readonly place: LogPath;
  readonly file: OpenFile;
  readonly lock: LogLock;
  readonly recovery: Recovery;
  readonly durability: Durability;
  readonly mode: LogMode;
  readonly lockWaitMs: number;
  /** Its name in the directory is durable. */
  readonly isNameSynced: boolean;
}

export async function openLogFile(
  host: Host,
  path: string,
  options: WriterOptions,
): Promise<OpenedLog> {
  const { durability, mode, lockWaitMs } = logChoices(options);
  const place = await openLogPath(host, path, { create: true, root: options.root });
  const opened: { close(): void }[] = [place.directory];
  try {
    refuseReservedName(place);
    refuseSharingOverNetwork(place, options);
    const lock = new LogLock(host, place.directory, place.name);
    opened.push(lock);
    await lock.acquire(lockWaitMs, options.signal);
    const file = place.directory.open(place.name, "append");
    opened.push(file);
    narrowRights(file, place.path, options.onWarning);
    if (!file.tryLock("exclusive")) throw await lock.lockedError(); // lock.ts, L2
    const recovery = await recover(place, file, (await lock.hint()).synced);
    // With `os` a new log's name may wait for the first flush, but an end that opening reports
    // must stay.
    const isNameSynced = durability === "disk" || recovery.end > 0;
    if (isNameSynced) await place.directory.sync();
    if (isNameSynced && recovery.end === 0) await place.directory.syncAncestors();
    await options.companion?.caughtUp(recovery.end, recovery.cutBytes);
    if (mode === "exclusive") {
      lock.sayHeld();
    } else {
      lock.saySynced(recovery.end);
      file.unlock();
      lock.release();
    }
    return { place, file, lock, recovery, durability, mode, lockWaitMs, isNameSynced };
  } catch (cause) {
    for (const handle of opened.reverse()) handle.close();
    throw options.signal?.aborted ? cause : ioError(place.path, "opening", cause);
  }
}

/**
 * A log is private to its owner. One that others may read is made 0600 on opening to
 * append.
 *
 * Removes permissions beyond 0600 and warns; warns, too, when that fails.
 */
export function narrowRights(
  file: OpenFile,
  path: string,
  onWarning: (warning: string) => void = processWarning,
): void {
  try {
    const before = file.narrow();
    if (before !== null) onWarning(`${path} had mode ${octal(before)}; changed to 0600`);
  } catch (cause) {
    const why = errnoOf(cause);
    onWarning(`others may read ${path}, and its mode cannot be changed (${why}); make it 0600`);
  }
}

function octal(mode: number): string {
  return `0${mode.toString(8).padStart(3, "0")}`;
}

function processWarning(warning: string): void {
  process.emitWarning(warning, "VerbatimWarning");
}
