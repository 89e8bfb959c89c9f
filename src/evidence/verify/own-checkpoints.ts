/**
 * Own checkpoints: adds checkpoints of the user's own key to a session.
 *
 * - Vouching: signs unsigned lines exactly as they were shown (VO1, displayed-log.ts).
 * - Signing the head of a session that has only its first checkpoint, which no copy shows whole. It
 *   is a `recovery`, because it may follow another checkpoint without new lines, and states lines
 *   that were found unsigned.
 */

import type { Host } from "../../core/base/host.ts";
import { Store } from "../../sessions/store/store.ts";
import type { DisplayedLog } from "../../trust/judge/displayed-log.ts";
import type { CheckpointProfile } from "../../trust/proof/envelopes.ts";
import type { SessionLog } from "../../trust/session-log.ts";

/** Signs the shown part of a session with the user's key; refuses with CHANGED_WHILE_READ. */
export async function vouchForSession(
  host: Host,
  { dialect, root, id }: SessionLog & { readonly id: string },
  shown: DisplayedLog,
  onWarning: (warning: string) => void,
  profile?: CheckpointProfile,
): Promise<void> {
  const options = { dialect, root, sign: true, onWarning, ...(profile && { profile }) };
  const store = new Store(host, options);
  const session = store.session(id);
  try {
    await session.addCheckpoints(async (signer) => {
      const earlier = (await shown.agreed(signer)).map((range) => ({ vouches: range }));
      const dues = signer.mustState ? [{ vouches: null }, ...earlier] : earlier;
      // No copy or proof can end with the first checkpoint (evidence/redact/redact.ts).
      return signer.isBeginning ? [...dues, "recovery"] : dues;
    });
    await session.release(); // Not closed: the session may continue.
  } catch (cause) {
    await session.abandon(); // Releasing it would sign what was refused, as found.
    throw cause;
  } finally {
    await store.close();
  }
}

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
