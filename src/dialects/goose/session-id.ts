/**
 * Session ids: where a session is, in Goose's data directory.
 *
 *     sessions/sessions.db, row `20260101_3`   <->  "20260101_3"
 *     sessions/20250101_120000.jsonl           <->  "20250101_120000.jsonl"     older versions
 *
 * A row has a path as if its database were a directory.
 */

import { idSegments } from "../../base/ids.ts";
import { isSegment, refusedId } from "../path-ids.ts";

export const FOLDER = "sessions";
export const DATABASE = "sessions.db";
export const ENDING = ".jsonl";

export function logPath(id: string): readonly string[] {
  if (idSegments(id).length === 1) {
    return id.endsWith(ENDING) ? [FOLDER, id] : [FOLDER, DATABASE, id];
  }
  throw refusedId(id, "Goose has no session of this name");
}

export function idAt(path: readonly string[]): string | null {
  const [folder, second = "", third = "", ...more] = path;
  if (folder !== FOLDER || more.length > 0) return null;
  const isRow = path.length === 3 && second === DATABASE && !third.endsWith(ENDING);
  const isFile = path.length === 2 && second.endsWith(ENDING);
  if (!isRow && !isFile) return null;
  const id = isRow ? third : second;
  return isSegment(id) ? id : null;
}

/** The id in Goose itself. */
export function nameOf(id: string): string {
  return id.endsWith(ENDING) ? id.slice(0, -ENDING.length) : id;
}
