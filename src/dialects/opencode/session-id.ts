/**
 * Session ids: where a session is, in OpenCode's data directory.
 *
 *     opencode.db, row `ses_1`                   <->  "ses_1"
 *     opencode-dev.db, row `ses_1`               <->  "opencode-dev.db/ses_1"    other databases
 *     storage/session/<project>/ses_1.json       <->  "<project>/ses_1"          older versions
 *
 * A row has a path as if its database were a directory.
 */

import { idSegments } from "../../base/ids.ts";
import { isSegment, lastSegment, refusedId } from "../path-ids.ts";

const MAIN = "opencode.db";
const STORAGE = ["storage", "session"] as const;
const ENDING = ".json";

export function isDatabase(name: string): boolean {
  return name.endsWith(".db");
}

export function logPath(id: string): readonly string[] {
  const [first = "", second, ...more] = idSegments(id);
  if (second === undefined) return [MAIN, first];
  if (first === MAIN || more.length > 0) {
    throw refusedId(id, "OpenCode has no session of this name");
  }
  return isDatabase(first) ? [first, second] : [...STORAGE, first, `${second}${ENDING}`];
}

export function idAt(path: readonly string[]): string | null {
  const [first = "", second = "", third = "", name = ""] = path;
  const isRow = path.length === 2 && isDatabase(first);
  const isFile = path.length === 4 && first === STORAGE[0] && second === STORAGE[1];
  if (!isRow && !(isFile && name.endsWith(ENDING) && !isDatabase(third))) return null;
  const own = isRow ? second : name.slice(0, -ENDING.length);
  return isSegment(own) && (isRow || isSegment(third)) ? prefixAt(path) + own : null;
}

/** What the ids of all sessions in the same place begin with. */
export function prefixAt([first = "", , third = ""]: readonly string[]): string {
  if (first === MAIN) return "";
  return isDatabase(first) ? `${first}/` : `${third}/`;
}

/** The id in OpenCode itself. */
export const nameOf = lastSegment;
