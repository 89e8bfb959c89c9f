/**
 * Session ids: which log belongs to which agent and session, and back.
 *
 *   agent "cook", session "s1"   <->   "cook/s1"   <->   agents/cook/sessions/s1.jsonl
 *
 * H1  Each of the two ids is exactly one path segment, so the one `/` in a neutral id is where
 *     they were joined: ("a/b", "c") and ("a", "b/c") are both refused, and cannot share a log.
 */

import { VerbatimError } from "../../base/errors.ts";
import { idSegments } from "../../base/ids.ts";
import { ID_SEGMENT_BYTES_MAX } from "../../base/limits.ts";

const ENDING = ".jsonl";

/** What most ids are like. A listing asks for thousands, and the full question costs ten times more. */
const PLAIN = /^[\w-]+(?:\.[\w-]+)*$/;

/**
 * The neutral id of an agent's session; refuses a bad one with BAD_ID, saying which of the two.
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
