/**
 * Session ids: the path below `projects`.
 *
 *     projects/<project>/chats/<session>.jsonl
 *     projects/<project>/chats/archive/<session>.jsonl
 *     projects/<project>/subagents/<session>/agent-<id>.jsonl
 */

import { eitherPathIds, lastSegment, pathIds } from "../path-ids.ts";

const [under, ending] = [["projects"], ".jsonl"];
/**
 * Mostly a UUID, but any name is a session's. Other logs in the directory
 * have an ending more, such as `<session>.ledger.jsonl`.
 */
const isName = (name: string) => !name.includes(".");
const chats = pathIds({ under, levels: [null, "chats"], ending, isName });
const archived = pathIds({ under, levels: [null, "chats", "archive"], ending, isName });
const subagents = pathIds({ under, levels: [null, "subagents", null], ending });

export const nameOf = lastSegment;
export const { logPath, idAt, layout } = eitherPathIds([chats, archived, subagents], (id) => {
  if (isSubagent(id)) return subagents;
  return id.split("/").length > 3 ? archived : chats;
});

export function isSubagent(id: string): boolean {
  return id.split("/")[1] === "subagents";
}

/** The session that started this one; `said` is the one that a row names. */
export function parentOf(id: string, said: string | null): string | null {
  const [project, , session] = id.split("/");
  if (isSubagent(id)) return `${project}/chats/${session}`;
  return said === null ? null : `${project}/chats/${said}`;
}
