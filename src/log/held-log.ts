/** Held log: a log that is there, held as its one writer holds it, for who mends what lies beside it. */

import type { Host } from "../base/host.ts";
import { LogLock } from "./lock.ts";
import { openPlace, openToRead, type Place } from "./place.ts";

export interface HeldLog {
  readonly place: Place;
  /** Gives it back. */
  close(): void;
}

/** Refuses with LOG_LOCKED one that another writes, and with LOG_NOT_FOUND one that is gone. */
export async function holdLog(host: Host, logId: string, root: string): Promise<HeldLog> {
  const place = await openPlace(host, logId, { create: false, root });
  const opened: { close(): void }[] = [place.directory];
  const close = () => {
    for (const handle of opened.reverse()) handle.close();
  };
  try {
    openToRead(place).close(); // Refuses when the log is gone, which opening to append would make.
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
