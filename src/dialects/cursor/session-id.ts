/**
 * Session ids: the path below `projects`, without the ending.
 *
 *     projects/<project>/agent-transcripts/<id>/<id>.jsonl
 *     projects/<project>/agent-transcripts/<id>/subagents/<id>.jsonl
 *     projects/<project>/agent-transcripts/<id>.jsonl                   older versions
 */

import { eitherPathIds, lastSegment, type PathIds, pathIds } from "../path-ids.ts";

const FOLDER = "agent-transcripts";
const at = (...deeper: readonly (string | null)[]): PathIds =>
  pathIds({ under: ["projects"], levels: [null, FOLDER, ...deeper], ending: ".jsonl" });
const [nested, subagents, flat] = [at(null), at(null, "subagents"), at()];

export const { logPath, idAt, layout } = eitherPathIds([nested, subagents, flat], (id) => {
  const depth = id.split("/").length;
  return depth > 4 ? subagents : depth === 4 ? nested : flat;
});

export const nameOf = lastSegment;

/** The session that started a subagent. */
export function parentOf(id: string): string | null {
  const [project, folder, session, below] = id.split("/");
  const isSubagents = below === "subagents" && id.split("/").length === 5;
  return isSubagents ? `${project}/${folder}/${session}/${session}` : null;
}

/**
 * The directory of a session's project, where a path in it is known: the directory's name in
 * `projects` is the path with `-` for all but letters and digits, so the path says which they were.
 */
export function projectAbove(id: string, path: string): string | null {
  const wanted = plain(id.split("/")[0] ?? "");
  if (!path.startsWith("/") || path.length > PATH_CHARS_MAX || wanted === "") return null;
  const segments = path.split("/");
  for (let end = segments.length; end > 1; end--) {
    const above = segments.slice(0, end).join("/");
    if (plain(above) === wanted) return above;
  }
  return null;
}

const PATH_CHARS_MAX = 4096;

function plain(path: string): string {
  return path.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "");
}
