/**
 * Session ids: the path below `sessions`, without `wire.jsonl`.
 *
 *     sessions/<directory>/<session>/agents/<agent>/wire.jsonl       Kimi Code; `main` is the session's own
 *     sessions/<directory>/<session>/wire.jsonl                      Kimi CLI
 *     sessions/<directory>/<session>/subagents/<agent>/wire.jsonl    its subagents
 */

import { directoryIds, eitherPathIds } from "../path-ids.ts";

const place = { under: ["sessions"], logName: "wire.jsonl" };
const agents = directoryIds({ ...place, levels: [null, null, "agents", null] });
const sessions = directoryIds({ ...place, levels: [null, null] });
const subagents = directoryIds({ ...place, levels: [null, null, "subagents", null] });

/** The id alone decides the path of all three. */
export const { logPath, idAt, layout } = eitherPathIds([agents, sessions, subagents], () => agents);

/** The program's id of a session; of a subagent, with its own after it. */
export function nameOf(id: string): string {
  const [, session = id, , agent = "main"] = id.split("/");
  return agent === "main" ? session : `${session}/${agent}`;
}

export interface Place {
  readonly directory: string;
  readonly session: string;
  /** Null: the session itself. */
  readonly agent: string | null;
}

export function placeOf(id: string): Place {
  const [directory = "", session = "", , agent = "main"] = id.split("/");
  return { directory, session, agent: agent === "main" ? null : agent };
}

/** The session of a subagent; `parent` is another agent of it that started this one. */
export function parentOf(id: string, parent: string | null): string | null {
  const [directory, session, kind] = id.split("/");
  if (placeOf(id).agent === null) return null;
  const own = `${directory}/${session}`;
  return kind === "agents" ? `${own}/agents/${parent ?? "main"}` : own;
}
