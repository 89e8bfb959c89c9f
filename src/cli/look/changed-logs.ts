/**
 * Changed logs: compares the logs of stores with those that were kept with a text
 * (catalog/text-cache.ts). Runs for short commands on histories that hardly changed, so it does little
 * for each log: the id of one that is unchanged is not made.
 */

import { dialectNamed } from "../../dialects/all.ts";
import { iterateLogs } from "../../dialects/find.ts";
import type { FoundLog } from "../../dialects/session-row.ts";
import type { CachedLogs } from "../../sessions/catalog/text-cache.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";

export interface ChangedLog {
  readonly store: FoundStore;
  readonly log: FoundLog;
}

/**
 * The logs that changed, at most `changedMax`; null if more did, if logs came or went, or if
 * something could not be read.
 */
export function changedLogs(
  kept: CachedLogs,
  stores: readonly FoundStore[],
  changedMax: number,
): ChangedLog[] | null {
  const changed: ChangedLog[] = [];
  let isReadable = true;
  const onUnreadable = () => {
    isReadable = false;
  };
  const { isKnown } = kept;
  for (const store of stores) {
    const { layout } = dialectNamed(store.dialect).naming;
    for (const log of iterateLogs(store.root, layout, { onUnreadable, isKnown })) {
      if (isKnown(log.path, log.size, log.mtimeMs)) continue; // The layout did not ask.
      if (changed.length === changedMax || !kept.isNext(log)) return null;
      changed.push({ store, log });
    }
  }
  return isReadable && kept.isDone ? changed : null;
}
