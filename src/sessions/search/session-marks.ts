/** Session marks: the tags and stars that `tag:` and `starred:` of a query ask for. */

import type { Host } from "../../core/base/host.ts";
import type { FoundStore } from "../list/find-stores.ts";
import { listPage } from "../list/list-page.ts";
import { summaryOf } from "../store/list.ts";
import type { SessionSummary } from "../store/store-api.ts";
import type { SearchQuery } from "./query.ts";

type MarkedSession = Pick<SessionSummary, "dialect" | "root" | "id" | "tags" | "starred">;

/** Of sessions that have any, the user's and their own, by `markKey`. */
export type SessionMarks = ReadonlyMap<string, Pick<MarkedSession, "tags" | "starred">>;

export function needsMarks({ filters }: SearchQuery): boolean {
  return filters.some(({ by }) => by === "tag" || by === "starred");
}

/** By the sessions as they are listed now; undefined if the query does not ask. */
export async function listedMarks(
  host: Host,
  query: SearchQuery,
  places: readonly FoundStore[],
  options: { readonly signal?: AbortSignal; readonly onWarning: (warning: string) => void },
): Promise<SessionMarks | undefined> {
  if (!needsMarks(query)) return undefined;
  const page = await listPage(places, { host, limit: Number.POSITIVE_INFINITY, ...options });
  return marksOf((page?.sessions ?? []).map(summaryOf));
}

export function marksOf(sessions: readonly MarkedSession[]): SessionMarks {
  const marked = sessions.filter(({ tags, starred }) => tags.length > 0 || starred);
  return new Map(marked.map((each) => [markKey(each, each.id), each]));
}

export function markKey({ dialect, root }: FoundStore, id: string): string {
  return `${dialect}\0${root}\0${id}`;
}
