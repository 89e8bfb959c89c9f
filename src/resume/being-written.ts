/**
 * Being written: whether another process is at work on a session, for those who go on from it.
 *
 * Only `exclusive` writers show while they are between two appends: who shares a session holds its
 * lock for the moment of each.
 */

import { relative } from "node:path";
import type { LockHolder } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { writerOf } from "../log/lock.ts";
import { openPlace } from "../log/place.ts";

/** Who writes the log, as far as its lock tells; null when nobody does, or we do. */
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
