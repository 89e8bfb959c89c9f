/**
 * Session ids: the path of a rollout below Codex's directory, without its ending.
 *
 *     sessions/<year>/<month>/<day>/rollout-<time>-<uuid>.jsonl
 *     sessions/<year>/<month>/<day>/rollout-<time>-<uuid>_<uuid>.jsonl    after turns were reverted
 *     archived_sessions/rollout-<time>-<uuid>.jsonl
 *
 * Codex compresses old rollouts to `….jsonl.zst`: the same session, presented at its plain path.
 */

import { idSegments } from "../../base/ids.ts";
import { idIfValid, lastSegment, type PathIds, refusedId } from "../path-ids.ts";

export const ENDING = ".jsonl";
export const COMPRESSED_ENDING = `${ENDING}.zst`;

const NAME = /^rollout-.+?\.jsonl(?:\.zst)?$/;
const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const THREAD = new RegExp(`(${UUID})(?:_${UUID})?$`, "i");

function isRollout(name: string): boolean {
  return NAME.test(name);
}

/** In a directory that holds rollouts: one for each day, and one for archived ones. */
function isInPlace(path: readonly string[]): boolean {
  const depth = path[0] === "sessions" ? 5 : 2;
  return path.length === depth && (depth === 5 || path[0] === "archived_sessions");
}

export function idAt(path: readonly string[]): string | null {
  if (!isInPlace(path) || !isRollout(path.at(-1) ?? "")) return null;
  return idIfValid(stemOf(path.join("/")));
}

export function logPath(id: string): readonly string[] {
  const segments = idSegments(id);
  const path = [...segments.slice(0, -1), `${segments.at(-1)}${ENDING}`];
  if (idAt(path) === id) return path;
  throw refusedId(id, "it names no rollout below sessions or archived_sessions");
}

/** The id that Codex itself uses: the uuid at the end of the file's name; of a later file, both. */
export function nameOf(id: string): string {
  const name = stemOf(lastSegment(id));
  return THREAD.exec(name)?.[0] ?? name;
}

/** The uuid of a session's thread; null if the file's name has none. */
export function threadOf(id: string): string | null {
  return THREAD.exec(id)?.[1] ?? null;
}

function stemOf(name: string): string {
  return name.replace(/\.jsonl(?:\.zst)?$/, "");
}

const archived: PathIds["layout"] = {
  under: ["archived_sessions"],
  levels: [],
  isLog: isRollout,
  idAt,
};

/** Lists both files of a session that is being compressed; `files/rollouts.ts` keeps one. */
export const layout: PathIds["layout"] = {
  under: ["sessions"],
  levels: [null, null, null],
  isLog: isRollout,
  idAt,
  others: [archived],
};
