/** Filters: the filters and the order of the list, in the route and in the request. */

import type { SearchOptions } from "../../../src/client/search-shapes.ts";
import { VERDICTS } from "../../../src/trust/proof/verdict.ts";
import type { ListQuery } from "../route.ts";

export const STATUSES = ["running", "completed", "error", "paused"] as const;
export const SORTS = ["updated", "cost", "tokens", "duration"] as const;
export type Sort = (typeof SORTS)[number];

/** The filters that the rail has, in the order of the rail. */
export const FACETS = [
  ...(["starred", "tag", "agent", "project"] as const),
  ...(["model", "verdict", "machine", "user"] as const),
] as const;

const DAY_MS = 86_400_000;

export function sortOf({ sort }: ListQuery): Sort {
  return SORTS.find((each) => each === sort) ?? "updated";
}

/** The filter for the server; an unknown value matches everything. */
export function serverFilter(filter: ListQuery) {
  const { agent, project, model, verdict, machine, user, tag, starred, status, since } = filter;
  const state = STATUSES.find((each) => each === status);
  const judged = VERDICTS.find((each) => each === verdict);
  const from = sinceOf(since);
  return {
    ...(agent !== "" && { agent }),
    ...(project !== "" && { project: `=${project}` }),
    ...(model !== "" && { model }),
    ...(judged && { verdict: judged }),
    ...(machine !== "" && { machine }),
    ...(user !== "" && { user }),
    ...(tag !== "" && { tag }),
    ...(starred === "true" && { starred: true }),
    ...(state && { status: state }),
    ...(from !== null && { since: from }),
    subagents: filter.subagents === "all",
    ...(filter.live === "true" && { live: true }),
    sort: sortOf(filter),
  };
}

export const KINDS = ["prompts", "answers", "tools"] as const;

/** The same for a search, which also finds what subagents said. */
export function soughtBy(filter: ListQuery): SearchOptions {
  const { sort: _, subagents: __, live: ___, ...wanted } = serverFilter(filter);
  const kind = KINDS.find((each) => each === filter.kind);
  return { ...wanted, ...(kind && { kind }) };
}

/** Whether anything is left out. */
export function isFiltered({ sort: _, subagents: __, kind: ___, ...filter }: ListQuery): boolean {
  return Object.values(filter).some((value) => value !== "");
}

export function sinceOf(days: string): string | null {
  return /^\d{1,4}$/.test(days) ? new Date(Date.now() - Number(days) * DAY_MS).toISOString() : null;
}
