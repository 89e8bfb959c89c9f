/**
 * Two files: a program may have a session in two files next to each other, whose names differ in
 * their endings. It is listed once, with the ending that the program itself prefers.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { type FindLogsOptions, iterateLogs, type Layout } from "../find.ts";
import type { FoundLog } from "../session-row.ts";

export interface Endings {
  readonly preferred: string;
  readonly other: string;
}

/** Lists the logs of a layout, without those that have a preferred one. */
export function logsOnce(layout: Layout, { preferred, other }: Endings) {
  return function* logsIn(root: string, options: FindLogsOptions): Generator<FoundLog> {
    for (const log of iterateLogs(root, layout, options)) {
      const isOther = log.path.endsWith(other);
      const instead = isOther ? log.path.slice(0, -other.length) + preferred : "";
      if (!isOther || !isThere(join(root, instead))) yield log;
    }
  };
}

/** Links count: opening the file refuses them. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // Below a file, or not permitted: opening it reports that.
  }
}
