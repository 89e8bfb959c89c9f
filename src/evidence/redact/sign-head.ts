/**
 * Sign head: adds a checkpoint to a session that has only its first, which no copy shows whole.
 *
 * `recovery`, because it may follow another checkpoint without new lines, and states lines that were
 * found unsigned.
 */

import type { Host } from "../../core/base/host.ts";
import { Store } from "../../sessions/store/store.ts";
import type { SessionLog } from "../../trust/session-log.ts";

/** Returns whether a checkpoint was added: only to a session that the user's own key signs. */
export async function signHead(
  host: Host,
  { dialect, root, id }: SessionLog & { readonly id: string },
  onWarning: (warning: string) => void,
): Promise<boolean> {
  const store = new Store(host, { dialect, root, sign: true, onWarning });
  const session = store.session(id);
  let isAdded = false;
  try {
    await session.addCheckpoints(async ({ isOurs }) => {
      isAdded = isOurs;
      return isOurs ? ["recovery"] : [];
    });
  } finally {
    await session.release(); // Not closed: the session may continue.
    await store.close();
  }
  return isAdded;
}
