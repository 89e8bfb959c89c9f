/**
 * Whereabouts: where a session is whose log is no longer in its place: moved to another store of its
 * program, kept by the guard, or gone.
 */

import type { Host } from "../../core/base/host.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { type GuardState, guardState } from "../../dialects/files/guarded.ts";
import { lookAtLog } from "../../sessions/catalog/pages.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { isAbsence } from "../../sessions/list/session-window.ts";
import { Store } from "../../sessions/store/store.ts";

export interface Whereabouts<Place extends FoundStore> {
  /** `here`: in its place. `kept`: only the guard has it. `moved`: in another store. */
  readonly state: "here" | "kept" | "moved" | "gone";
  /** Where it can be read now; null if nowhere. */
  readonly store: Place | null;
  readonly deletedAt: string | null;
}

/** `stores` are those where it may be. Reads no log. */
export async function whereaboutsOf<Place extends FoundStore>(
  host: Host,
  place: Place,
  id: string,
  stores: readonly Place[],
): Promise<Whereabouts<Place>> {
  if ((await standingIn(host, place, id)) !== null) {
    return { state: "here", store: place, deletedAt: null };
  }
  const others = stores.filter(({ dialect, root }) => {
    return dialect === place.dialect && root !== place.root;
  });
  let kept: { readonly store: Place; readonly deletedAt: string | null } | null = null;
  for (const store of others) {
    const standing = await standingIn(host, store, id);
    if (standing === null) continue;
    if (!standing.isKept) return { state: "moved", store, deletedAt: null };
    kept ??= { store, deletedAt: standing.deletedAt };
  }
  return kept ? { state: "kept", ...kept } : { state: "gone", store: null, deletedAt: null };
}

/** What is known of a session in a store; null when it is not there. */
async function standingIn(
  host: Host,
  { dialect, root }: FoundStore,
  id: string,
): Promise<GuardState | null> {
  try {
    const { logId } = await new Store(host, { dialect, root, onWarning: () => {} }).open(id);
    const isThere = lookAtLog(root, logId, dialectNamed(dialect).naming.layout) !== null;
    return isThere ? guardState(dialect, root, logId) : null;
  } catch (cause) {
    if (isAbsence(cause)) return null;
    throw cause;
  }
}
