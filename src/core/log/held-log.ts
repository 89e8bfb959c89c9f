/** Held log: an existing log, locked as its writer locks it, for changing files next to it. */

import type { Host } from "../base/host.ts";
import { LogLock } from "./lock.ts";
import { type LogPath, openLogPath, openToRead } from "./log-path.ts";

export interface HeldLog {
  readonly place: LogPath;
  /** Releases the lock. */
  close(): void;
}

/**
 * Refuses with LOG_LOCKED when another process writes it, and with LOG_NOT_FOUND when it is
 * missing.
 */
export async function holdLog(host: Host, logId: string, root: string): Promise<HeldLog> {
  const place = await openLogPath(host, logId, { create: false, root });
  const opened: { close(): void }[] = [place.directory];
  const close = () => {
    for (const handle of opened.reverse()) handle.close();
  };
  try {
    openToRead(place).close(); // Refuses a missing log, which opening to append would create.
    const lock = new LogLock(host, place.directory, place.name);
    opened.push(lock);
    await lock.acquire(0);
    const log = place.directory.open(place.name, "append");
    opened.push(log);
    if (!log.tryLock("exclusive")) throw await lock.lockedError(); // lock.ts, L2
    return { place, close };
  } catch (cause) {
    close();
    throw cause;
  }
}
