/** Own names: which files in a log's directory are ours, by their names, and to which log they belong. */

import type { Seen } from "../base/node-surroundings.ts";
import { derivedKind } from "./derived-kinds.ts";

/** What the log, replacing and repair add to a file's name (docs/formats/log.md). */
const ENDINGS = /(\.(lock|checkpoints|torn-\d+|tmp|before-repair-\d+))+$/;

/** Whether a file belongs to the log of that name: itself, or what stands beside it. */
export function isBeside(logName: string, name: string): boolean {
  return name === logName || name.replace(ENDINGS, "") === logName;
}

/** The files of a directory by the name of the log that each belongs to; others are left out. */
export function byLog(dialect: string, entries: readonly Seen[]): Map<string, Seen[]> {
  const groups = new Map<string, Seen[]>();
  for (const seen of entries) {
    const logName = logNameOf(dialect, seen.name);
    if (logName === null) continue;
    const group = groups.get(logName);
    if (group) group.push(seen);
    else groups.set(logName, [seen]);
  }
  return groups;
}

/** Whether a file is made from the log. */
export function isDerived(dialect: string, name: string): boolean {
  return derivedKind(dialect)?.names.includes(name) ?? false;
}

/** Whether a session is one that we ever wrote into, by the files around its log. */
export function isOurs(dialect: string, files: readonly Seen[]): boolean {
  return derivedKind(dialect)?.isOurs?.(files) ?? true;
}

/** Left by a process that was killed while it replaced a file. */
export function isTemporary(name: string): boolean {
  return name.endsWith(".tmp");
}

/** The name of the log, in the same directory, that a file of this name belongs to; null: of none. */
export function logNameOf(dialect: string, name: string): string | null {
  const bare = name.replace(ENDINGS, "");
  const kind = derivedKind(dialect);
  if (kind) {
    const isOwn = bare === kind.logName || kind.names.includes(bare) || kind.isOwn?.(bare);
    return isOwn ? kind.logName : null;
  }
  return bare.endsWith(".jsonl") ? bare : null;
}
