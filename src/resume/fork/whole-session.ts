/**
 * Whole session: a new session that is there with all it is to hold, or not at all.
 *
 * For sessions that begin with what another one says: a part of that would look like a conversation
 * that ended there.
 *
 * WS1  When anything fails, what was written is taken back, with its pin, and the failure is told. Who
 *      is killed meanwhile leaves the beginning, which says by its first entry what it was to be.
 */

import type { Host } from "../../base/host.ts";
import type { Session } from "../../store/session.ts";
import type { BeginOptions, Store } from "../../store/store.ts";
import { Traces } from "../handoff/install.ts";

export interface WholeSession<Filled> {
  /** Open to append. */
  readonly session: Session;
  readonly filled: Filled;
}

/** Begins a session and appends what it is to hold; refuses with SESSION_EXISTS, and what `fill` does. */
export async function createWhole<Filled>(
  host: Host,
  store: Store,
  options: BeginOptions,
  fill: (session: Session) => Promise<Filled>,
): Promise<WholeSession<Filled>> {
  const { dialect, root } = store;
  const placeOf = (id: string) => ({ dialect, root, path: store.pathOf(id) });
  const { id } = options;
  const before = id === undefined ? null : await Traces.before(host, placeOf(id));
  const session = await store.begin(options);
  try {
    await session.openToAppend();
    return { session, filled: await fill(session) };
  } catch (cause) {
    await session.close().catch(() => {}); // The first failure is the one to be told.
    await (before ?? Traces.ofNew(host, placeOf(session.id))).remove();
    await store.forget(session);
    throw cause;
  }
}
