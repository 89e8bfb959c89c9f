/**
 * Session ids: the path below `session-state`, without the ending.
 *
 *     session-state/<uuid>/events.jsonl
 *     session-state/<uuid>.jsonl           older versions
 */

import { eitherPathIds, pathIds } from "../path-ids.ts";

const [under, ending] = [["session-state"], ".jsonl"];
const nested = pathIds({ under, levels: [null], ending, isName: (name) => name === "events" });
const flat = pathIds({ under, levels: [], ending });

export const { logPath, idAt, layout } = eitherPathIds([nested, flat], (id) =>
  id.includes("/") ? nested : flat,
);

/** The session's uuid. */
export function nameOf(id: string): string {
  return id.split("/")[0] ?? id;
}
