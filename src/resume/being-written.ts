/**
 * Being written: whether another process is writing a session, for code that continues from it.
 *
 * Between two appends only `exclusive` writers are visible: a `shared` writer holds the lock only
 * during each append.
 */

import { relative } from "node:path";
import type { LockHolder } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { writerOf } from "../log/lock.ts";
import { openPlace } from "../log/place.ts";

/**
 * The writer of the log, as its lock file names it; null when there is none, or it is this process.
 */
export async function otherWriterOf(
  host: Host,
  { root, path }: { readonly root: string; readonly path: string },
): Promise<LockHolder | null> {
  const place = await openPlace(host, relative(root, path), { create: false, root });
  try {
    const holder = await writerOf(place.directory, place.name);
    const { pid, started } = host.process;
    const isOurs = holder !== null && holder !== "unknown" && holder.pid === pid;
    return isOurs && holder.started === started ? null : holder;
  } finally {
    place.directory.close();
  }
}
