/**
 * Session ids: the path below `tmp`, for files of both formats.
 *
 *     tmp/<project>/chats/session-<time>-<id>.jsonl     <project>/chats/session-<time>-<id>
 *     tmp/<project>/chats/session-<time>-<id>.json      the same, with ".json": older versions
 *     tmp/<project>/chats/<session>/<subagent>.jsonl    a subagent's, below the session's whole id
 *
 * A session that an older version began and a later one continued has both files.
 */

import { eitherPathIds, lastSegment, pathIds } from "../path-ids.ts";

const under = ["tmp"];
const DOCUMENT = ".json";

const isSession = (name: string) => name.startsWith("session-");
const chats = [null, "chats"];
const logs = pathIds({ under, levels: chats, ending: ".jsonl", isName: isSession });
const documents = pathIds({
  ...{ under, levels: chats, ending: "" },
  isName: (name) => isSession(name) && name.endsWith(DOCUMENT),
});
const subagents = pathIds({ under, levels: [...chats, null], ending: ".jsonl" });

export const nameOf = lastSegment;
export const { logPath, idAt, layout } = eitherPathIds([logs, documents, subagents], (id) => {
  if (id.split("/").length > 3) return subagents;
  return id.endsWith(DOCUMENT) ? documents : logs;
});

export function isDocument(path: readonly string[]): boolean {
  return documents.idAt(path) !== null;
}

/** The project's directory below `tmp`, and the id of the session that started a subagent. */
export function placeOf(id: string): { readonly project: string; readonly parent: string | null } {
  const [project = "", , session = "", subagent] = id.split("/");
  return { project, parent: subagent === undefined ? null : session };
}
