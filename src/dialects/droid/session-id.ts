/**
 * Session ids: the path below `sessions`, without the ending.
 *
 *     sessions/-home-me-app/<uuid>.jsonl
 *     sessions/<uuid>.jsonl                older versions
 */

import { eitherPathIds, lastSegment, pathIds } from "../path-ids.ts";

const [under, ending] = [["sessions"], ".jsonl"];
const nested = pathIds({ under, levels: [null], ending });
const flat = pathIds({ under, levels: [], ending });

export const { logPath, idAt, layout } = eitherPathIds([nested, flat], (id) =>
  id.includes("/") ? nested : flat,
);

export const nameOf = lastSegment;

/** The id of a session in the same directory. */
export function siblingOf(id: string, name: string): string | null {
  return idAt(logPath(id).with(-1, `${name}${ending}`));
}
