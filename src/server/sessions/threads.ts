/** Threads: the subagents that calls of a session started, and the call that started a session. */

import { readPage } from "../../catalog/page-rows.ts";
import type { SessionRow } from "../../catalog/session-row.ts";
import type { SessionThreads } from "../../client/session-shapes.ts";
import { type AgentCall, sessionsOf } from "../../listing/agent-calls.ts";
import { isAbsence } from "../../listing/session-window.ts";
import { nameIn } from "../../listing/whose.ts";
import { urlIdOf } from "./roots.ts";
import type { ServedSession, SessionService } from "./service.ts";

/** Children of a session that are looked at, the last changed ones. */
const CHILDREN_MAX = 2_000;

export async function threadsAnswer(
  service: SessionService,
  served: ServedSession,
): Promise<SessionThreads> {
  const { store } = served;
  const { calls, sessions, isComplete } = await startedBy(service, served);
  const started = calls.map((call) => {
    const { start, callId, rows } = call;
    const child = sessions.get(call);
    return {
      ...{ start, callId, rows: rows.length, from: rows[0] ?? null, to: rows.at(-1) ?? null },
      session: child === undefined ? null : urlIdOf(store, child.id),
      title: child?.title ?? null,
    };
  });
  return { started, parent: await parentOf(service, served), isComplete };
}

interface StartedBy {
  readonly calls: readonly AgentCall[];
  readonly sessions: ReadonlyMap<AgentCall, SessionRow>;
  readonly isComplete: boolean;
}

async function startedBy(service: SessionService, served: ServedSession): Promise<StartedBy> {
  const { dialect, root } = served.store;
  const { id } = served.session;
  const { agents, isComplete } = await service.outlines.agentCalls(served.session);
  const { calls } = agents;
  if (calls.length === 0) return { calls, sessions: new Map(), isComplete };
  const options = { parent: id, from: null, limit: CHILDREN_MAX };
  const children = await readPage(await service.catalog(), dialect, root, options);
  // The earliest first, as their calls are.
  const rows = children.map(({ row }) => row).sort((a, b) => compare(a.createdAt, b.createdAt));
  const sessions = sessionsOf(calls, rows, (child) => nameIn(dialect, child));
  return { calls, sessions, isComplete };
}

function compare(a: string | null, b: string | null): number {
  return (a ?? "") < (b ?? "") ? -1 : 1;
}

/** The session that began this one, and the line with the call that did. */
async function parentOf(
  service: SessionService,
  served: ServedSession,
): Promise<SessionThreads["parent"]> {
  const { store, session } = served;
  const { row } = await service.known(served);
  if (row.parent === null || row.parent === session.id) return null;
  try {
    const id = urlIdOf(store, row.parent);
    const { sessions } = await startedBy(service, await service.open(id));
    const call = [...sessions].find(([, child]) => child.id === session.id)?.[0];
    return { id, start: call?.start ?? null };
  } catch (cause) {
    if (isAbsence(cause)) return null; // Its log is gone.
    throw cause;
  }
}
