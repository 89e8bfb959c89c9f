/** Threads: the subagents that calls of a session started, and the call that started a session. */

import type { SessionRow } from "../../../dialects/session-row.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { readPage } from "../../catalog/page-rows.ts";
import type { FoundStore } from "../../list/find-stores.ts";
import { programIdOf } from "../../list/whose.ts";
import type { Session } from "../../store/session.ts";
import type { Outlines } from "../outlines.ts";
import { type AgentCall, recognisable } from "./agent-calls.ts";

/** Children of a session that are looked at, the last changed ones. */
const CHILDREN_MAX = 2_000;

export interface ThreadCalls {
  readonly calls: readonly AgentCall[];
  /** The sessions that they started. */
  readonly sessions: ReadonlyMap<AgentCall, SessionRow>;
  readonly isComplete: boolean;
}

export async function threadsOf(
  catalog: Catalog,
  outlines: Outlines,
  { dialect, root }: FoundStore,
  session: Session,
): Promise<ThreadCalls> {
  const { agents, isComplete } = await outlines.agentCalls(session);
  const { calls } = agents;
  if (calls.length === 0) return { calls, sessions: new Map(), isComplete };
  const options = { parent: session.id, from: null, limit: CHILDREN_MAX };
  const children = await readPage(catalog, dialect, root, options);
  // The earliest first, as their calls are.
  const rows = children.map(({ row }) => row).sort((a, b) => compare(a.createdAt, b.createdAt));
  const sessions = sessionsOf(calls, rows, (child) => programIdOf(dialect, child));
  return { calls, sessions, isComplete };
}

function compare(a: string | null, b: string | null): number {
  return (a ?? "") < (b ?? "") ? -1 : 1;
}

/** A session that this one started. */
interface Child {
  readonly id: string;
  readonly title: string | null;
}

/**
 * The sessions that calls started: as their rows name it, else the ones whose title is the
 * beginning of what a call asked, in order.
 */
export function sessionsOf<C extends Child>(
  calls: readonly AgentCall[],
  children: readonly C[],
  nameOf: (id: string) => string,
): Map<AgentCall, C> {
  const named = new Map(
    children.flatMap((child) => [
      [child.id, child],
      [nameOf(child.id), child],
    ]),
  );
  const found = new Map<AgentCall, C>();
  for (const call of calls) {
    const child = call.name === null ? undefined : named.get(call.name);
    if (child) found.set(call, child);
  }
  const taken = new Set(found.values());
  const others = children
    .filter((child) => !taken.has(child))
    .map((child) => ({ child, title: recognisable(child.title ?? "") }));
  for (const call of calls) {
    if (call.name !== null || call.prompt === null) continue;
    const at = others.findIndex(({ title }) => title === call.prompt);
    const [other] = at < 0 ? [] : others.splice(at, 1);
    if (other) found.set(call, other.child);
  }
  return found;
}
