/** Filters: the filters of the list, in the route and in the request. */

import type { SessionFilter } from "../../../src/client/sessions.ts";
import type { ListFilter } from "../route.ts";

export const STATUSES = ["running", "completed", "error", "paused"] as const;
const DAY_MS = 86_400_000;

/** The filter for the server; an unknown value matches everything. */
export function wantedBy({ dialect, status, since }: ListFilter): SessionFilter {
  const state = STATUSES.find((each) => each === status);
  const from = sinceOf(since);
  return {
    ...(dialect !== "" && { dialect }),
    ...(state && { status: state }),
    ...(from !== null && { since: from }),
  };
}

export function sinceOf(days: string): string | null {
  return /^\d{1,4}$/.test(days) ? new Date(Date.now() - Number(days) * DAY_MS).toISOString() : null;
}
