/** Threads of a session, as the API has them (listing/threads). */

import type { SessionThreads } from "../../client/session-shapes.ts";
import { isAbsence } from "../../sessions/list/session-window.ts";
import { threadsOf } from "../../sessions/outline/threads/threads.ts";
import { urlIdOf } from "./roots.ts";
import type { ServedSession, SessionService } from "./service.ts";

export async function threadsAnswer(
  service: SessionService,
  served: ServedSession,
): Promise<SessionThreads> {
  const { calls, sessions, isComplete } = await known(service, served);
  const started = calls.map((call) => {
    const { start, callId, rows } = call;
    const own = { rows: rows.length, from: rows[0] ?? null, to: rows.at(-1) ?? null };
    const child = sessions.get(call);
    const session = child === undefined ? null : urlIdOf(served.store, child.id);
    return { start, callId, session, title: child?.title ?? null, ...own };
  });
  return { started, parent: await parentOf(service, served), isComplete };
}

async function known(service: SessionService, { store, session }: ServedSession) {
  return threadsOf(await service.catalog(), service.outlines, store, session);
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
    const { sessions } = await known(service, await service.open(id, () => true)); // The same store.
    const call = [...sessions].find(([, child]) => child.id === session.id)?.[0];
    return { id, start: call?.start ?? null };
  } catch (cause) {
    if (isAbsence(cause)) return null; // Its log is gone.
    throw cause;
  }
}
