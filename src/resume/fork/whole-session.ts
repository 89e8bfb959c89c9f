/**
 * Whole session: creates a session with all its first lines, or not at all.
 *
 * For sessions that begin with lines of another one: a part of them would look like a conversation
 * that ended there.
 *
 * - When anything fails, the session is removed, with its pin, and the failure is thrown. A process
 *   that is killed meanwhile leaves the beginning, whose first entry says what it was to be.
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

/**
 * Creates a session and appends its first lines; refuses with SESSION_EXISTS, and the errors of
 * `fill`.
 */
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
    await session.close().catch(() => {}); // The first failure is the one to throw.
    await (before ?? Traces.ofNew(host, placeOf(session.id))).remove();
    await store.forget(session);
    throw cause;
  }
}
