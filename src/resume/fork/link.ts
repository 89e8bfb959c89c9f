/**
 * Link: a signed session names the session that continues it, in a checkpoint of kind `link`.
 *
 * - Only if we may write the session: its newest checkpoint is by one of the user's own keys, it is
 *   verified to its end, and no other process holds its lock.
 * - It never fails its caller: the new session exists, and names its parent itself. Returns why
 *   there is no link.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { Store } from "../../sessions/store/store.ts";
import type { Due, LinkTo } from "../../trust/signer/dues.ts";

/** Adds the link; returns null, or why the session could not be linked. */
export async function linkSession(
  store: Store,
  id: string,
  to: LinkTo["linkTo"],
  /** The expected log; null: any. */
  log: string | null,
): Promise<string | null> {
  if (!store.isSigning) return "the store does not sign";
  let reason: string | null = null;
  try {
    if (!(await store.has(id))) return `there is no session ${id} in ${store.root}`;
  } catch (cause) {
    return reasonOf(cause);
  }
  const session = store.sessionBy(id, { isBrief: true });
  try {
    await session.addCheckpoints(async (signer): Promise<readonly Due[]> => {
      if (log !== null && signer.log !== log) reason = "another log is in its place";
      else if (!signer.isOurs) reason = "it is not signed by your own key";
      else if (signer.mustState) reason = "not all of it is signed";
      return reason === null ? [{ linkTo: to }] : [];
    });
  } catch (cause) {
    reason = reasonOf(cause);
  }
  try {
    await session.release();
  } catch {
    // Opening it failed, which is reported above.
  }
  return reason;
}

function reasonOf(cause: unknown): string {
  return cause instanceof VerbatimError ? `${cause.message} (${cause.code})` : String(cause);
}
