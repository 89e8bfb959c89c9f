/**
 * Session ids: `<project>/<session>`, and subagents below their session.
 *
 *     projects/<project>/<session>.jsonl
 *     projects/<project>/<session>/subagents/agent-<id>.jsonl
 *     projects/<project>/agent-<id>.jsonl                        older versions
 */

import { eitherPathIds, lastSegment, pathIds } from "../path-ids.ts";

const under = ["projects"];
const ending = ".jsonl";
const sessions = pathIds({ under, levels: [null], ending });
const subagents = pathIds({ under, levels: [null, null, "subagents"], ending });

export const { logPath, idAt, layout } = eitherPathIds([sessions, subagents], (id) =>
  id.split("/").length > 2 ? subagents : sessions,
);

export const nameOf = lastSegment;

export function isSubagent(id: string): boolean {
  return id.startsWith("agent-", id.lastIndexOf("/") + 1);
}

/** The session that started a subagent; `said` is the session that its rows name. */
export function parentOf(id: string, said: string | null): string | null {
  if (!isSubagent(id)) return null;
  const [project, session, folder] = id.split("/");
  if (folder !== undefined) return `${project}/${session}`;
  return said === null ? null : `${project}/${said}`;
}
