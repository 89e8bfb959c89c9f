/**
 * Locked directory: changes to a user's small files, one process at a time. Files are read with the
 * lock held, so no concurrent change is lost.
 */

import { errnoOf, ioError } from "../../base/errors.ts";
import type { Directory } from "../../base/files.ts";
import type { Host } from "../../base/host.ts";
import { LogLock } from "../../log/lock.ts";

/** Changes take milliseconds; a longer wait means that the holder hangs. */
const LOCK_WAIT_MS = 10_000;

/** Runs `work` with `<name>.lock` held in the directory, which is created if missing. */
export async function withLockedDirectory<T>(
  host: Host,
  path: string,
  name: string,
  work: (directory: Directory) => Promise<T>,
): Promise<T> {
  try {
    const directory = await host.files.openDirectory(path, { create: true });
    try {
      const lock = new LogLock(host, directory, name);
      try {
        await lock.acquire(LOCK_WAIT_MS);
        lock.sayHeld(); // So that a process that waits in vain can name the holder.
        return await work(directory);
      } finally {
        lock.close();
      }
    } finally {
      directory.close();
    }
  } catch (cause) {
    throw errnoOf(cause) === "UNKNOWN" ? cause : ioError(path, "changing", cause);
  }
}
