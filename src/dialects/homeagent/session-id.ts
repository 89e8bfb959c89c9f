/**
 * Session ids: maps agent and session to a log, and back.
 *
 *     agent "cook", session "s1"   <->   "cook/s1"   <->   agents/cook/sessions/s1.jsonl
 *
 * Each of the two ids is exactly one path segment, so the only `/` in a neutral id is the
 * separator: ("a/b", "c") and ("a", "b/c") are both refused, and cannot share a log.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { idSegments } from "../../core/base/ids.ts";
import { ID_SEGMENT_BYTES_MAX } from "../../core/base/limits.ts";
import type { Recording } from "../facets/writing.ts";

const ENDING = ".jsonl";

/** Matches most ids. A listing checks thousands, and the full check costs ten times more. */
const PLAIN = /^[\w-]+(?:\.[\w-]+)*$/;

/**
 * The neutral id of an agent's session; throws BAD_ID, which says which of the two is wrong.
 *
 * @example sessionIdOf("cook", "2026-11-15") // "cook/2026-11-15"
 */
export function sessionIdOf(agentId: string, sessionId: string): string {
  const agentFault = segmentFault(agentId);
  if (agentFault !== null) throw badId(agentId, `agentId: ${agentFault}`);
  const sessionFault = segmentFault(sessionId);
  if (sessionFault !== null) throw badId(sessionId, `sessionId: ${sessionFault}`);
  return `${agentId}/${sessionId}`;
}

export function logPath(id: string): readonly string[] {
  const [agentId, sessionId, ...rest] = id.split("/");
  if (agentId === undefined || sessionId === undefined || rest.length > 0) {
    throw badId(id, "it is not <agentId>/<sessionId>");
  }
  sessionIdOf(agentId, sessionId);
  return ["agents", agentId, "sessions", sessionId + ENDING];
}

export function idAt(path: readonly string[]): string | null {
  const [agents, agentId, sessions, name, ...rest] = path;
  if (agents !== "agents" || agentId === undefined || sessions !== "sessions") return null;
  if (name === undefined || !name.endsWith(ENDING) || rest.length > 0) return null;
  const sessionId = name.slice(0, -ENDING.length);
  const isGood = segmentFault(agentId) === null && segmentFault(sessionId) === null;
  return isGood ? `${agentId}/${sessionId}` : null;
}

/** Why an id cannot be one segment of a path, or null when it can. */
function segmentFault(id: string): string | null {
  if (typeof id !== "string") return "it is not text";
  if (id.length <= ID_SEGMENT_BYTES_MAX && PLAIN.test(id)) return null;
  if (id.includes("/")) return "it holds /";
  try {
    idSegments(id);
    return null;
  } catch (error) {
    if (!(error instanceof VerbatimError) || error.code !== "BAD_ID") throw error;
    return (error as VerbatimError<"BAD_ID">).details.reason;
  }
}

function badId(id: string, reason: string): VerbatimError<"BAD_ID"> {
  return new VerbatimError(
    "BAD_ID",
    `the id ${JSON.stringify(id)} is refused: ${reason}; choose one plain path segment for each`,
    { id, reason },
  );
}

/** `verbatim record --dialect homeagent`. */
export const recording: Recording = {
  options: [{ name: "agent", flags: "--agent <id>", summary: "id of the agent" }],
  async session({ agent, session = crypto.randomUUID() }) {
    if (agent === undefined) return { missing: "homeagent needs --agent" };
    return { id: sessionIdOf(agent, session) };
  },
};
