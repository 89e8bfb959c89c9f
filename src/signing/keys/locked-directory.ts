/**
 * Locked directory: changes to a user's small files, one process at a time.
 *
 * LD1  What is changed is read with the lock held, so that no change is lost to another's.
 */

import { errnoOf, ioError } from "../../base/errors.ts";
import type { Directory } from "../../base/files.ts";
import type { Host } from "../../base/host.ts";
import { LogLock } from "../../log/lock.ts";

/** Changes take milliseconds; whoever waits longer waits for a process that hangs. */
const LOCK_WAIT_MS = 10_000;

/** Runs `work` with `<name>.lock` held in the directory, which is made when missing. */
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
        lock.sayHeld(); // So that whoever waits in vain is told for whom.
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
