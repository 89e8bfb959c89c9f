/**
 * Obstacles: why a session is not removed, and what to do about it. A writer that holds the
 * session's lock is one more reason (`removeGroup`).
 */

import { type HistoryErrors, VerbatimError } from "../../core/base/errors.ts";
import { isShareOf, type Shares, shareState } from "../share/share.ts";
import { holdOn } from "./holds.ts";

/** What a person decided about obstacles. */
export interface Consent {
  /** Its shares are revoked. */
  readonly revokeShares: boolean;
  /** Sessions that it started, or that are forks of it, stay, and name a session that is gone. */
  readonly leaveForks: boolean;
}

export function removalRefused(
  session: string,
  obstacle: HistoryErrors["REMOVAL_REFUSED"]["obstacle"],
  why: string,
): VerbatimError<"REMOVAL_REFUSED"> {
  const message = `${session} is not removed: ${why}`;
  return new VerbatimError("REMOVAL_REFUSED", message, { session, obstacle });
}

/** Refuses with REMOVAL_REFUSED a session that is held. */
export function refuseHeld(session: { readonly dialect: string; readonly id: string }): void {
  const hold = holdOn(session);
  if (hold === null) return;
  const why = `it is held by ${hold.by} since ${hold.at}${hold.reason && `: ${hold.reason}`}`;
  const next = `\`verbatim rm --release ${session.id}\` releases it`;
  throw removalRefused(session.id, "held", `${why}; ${next}`);
}

/** Refuses a session that others name as the one they come from, unless they may be left. */
export function refuseForked(id: string, forks: readonly string[], { leaveForks }: Consent): void {
  const [first, ...more] = forks;
  if (first === undefined || leaveForks) return;
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  const why = `${first}${others} began from it, and would name a session that is gone`;
  throw removalRefused(id, "forked", `${why}; --leave-forks removes it anyway, and leaves them`);
}

/** The ids of its valid shares; refuses if there are some that may not be revoked. */
export async function sharesToRevoke(
  session: { readonly dialect: string; readonly id: string; readonly path: string },
  shares: Shares,
  { revokeShares }: Consent,
  nowMs: number,
): Promise<string[]> {
  const valid = (await shares.list()).filter((share) => {
    return isShareOf(share, session) && shareState(share, nowMs) === "valid";
  });
  if (valid.length === 0 || revokeShares) return valid.map((share) => share.id);
  const count = valid.length === 1 ? "1 share shows it" : `${valid.length} shares show it`;
  throw removalRefused(
    session.id,
    "shared",
    `${count}; --revoke-shares revokes them, and removes it`,
  );
}
