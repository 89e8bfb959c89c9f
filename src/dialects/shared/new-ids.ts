/** New ids: ways of naming a new session that several dialects share. */

import { badOption } from "../../core/base/choice.ts";
import type { NewIds } from "../facets/writing.ts";

/** `YYYY-MM-DD-<uuid v4>`, the date in UTC. */
export const datedIds: NewIds = { make: (_, nowMs, uuid) => datedId(nowMs, uuid) };

/** @example datedId(Date.now(), randomUUID()) // "2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890" */
export function datedId(nowMs: number, uuid: string): string {
  return `${new Date(nowMs).toISOString().slice(0, 10)}-${uuid}`;
}

/** `<agent>/<uuid>`. */
export const perAgent: NewIds = { make: (agent, _, uuid) => `${requireAgent(agent)}/${uuid}` };

/** The agent in an id of `perAgent`. */
export function agentBefore(id: string): string {
  return id.slice(0, id.indexOf("/"));
}

/** The agent; throws BAD_SETTING if there is none. */
export function requireAgent(agent: string | null): string {
  if (agent !== null) return agent;
  throw badOption("agent", "is missing: a new session needs it (rye: a directive), or an id");
}
