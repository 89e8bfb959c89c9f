/**
 * Session ids: the path below `agents`, without the ending.
 *
 *     agents/<agent>/sessions/<session>.jsonl
 *     agents/<agent>/sessions/<session>.jsonl.reset.<time>      after /new and /reset
 *     agents/<agent>/sessions/<session>.jsonl.deleted.<time>
 */

import { eitherPathIds, pathIds } from "../path-ids.ts";

const where = { under: ["agents"], levels: [null, "sessions"] };
/** Copies of a session at a compaction, and traces, are not sessions. */
const isSession = (name: string) => !/\.checkpoint\.|\.trajectory$/.test(name);
const live = pathIds({ ...where, ending: ".jsonl", isName: isSession });
const ARCHIVED = /\.jsonl\.(?:reset|deleted)\.[^/]+$/;
const archived = pathIds({ ...where, ending: "", isName: (name) => ARCHIVED.test(name) });

export const { logPath, idAt, layout } = eitherPathIds([live, archived], (id) =>
  ARCHIVED.test(id) ? archived : live,
);

/** The session's own id, and for an archived one what follows it. */
export function nameOf(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

export function agentOf(id: string): string | null {
  return id.split("/")[0] ?? null;
}

/** The session that a header of session `id` names, by its path or by its own id. */
export function parentOf(id: string, named: string): string | null {
  const segments = named.split(/[/\\]/);
  const [agents, agent = "", folder, file = ""] = segments.slice(-4);
  if (segments.length === 1)
    return idAt(["agents", agentOf(id) ?? "", "sessions", `${named}.jsonl`]);
  return agents === "agents" && folder === "sessions" ? idAt([agents, agent, folder, file]) : null;
}
