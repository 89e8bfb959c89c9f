/** Group hits: the hits of a search by session, in the order of each session's first hit. */

import type { SearchHit, SearchPage } from "../../../src/client/search-shapes.ts";
import type { SessionItem } from "../../../src/client/session-shapes.ts";

export interface HitGroup {
  readonly session: SessionItem;
  readonly hits: readonly SearchHit[];
  /** How many more it has. */
  readonly more: number;
}

export function groupHits(
  hits: readonly SearchHit[],
  leftOut: SearchPage["leftOut"] = [],
): HitGroup[] {
  const groups = new Map<string, { session: SessionItem; hits: SearchHit[] }>();
  for (const hit of hits) {
    const group = groups.get(hit.session.id);
    if (group) group.hits.push(hit);
    else groups.set(hit.session.id, { session: hit.session, hits: [hit] });
  }
  const more = new Map<string, number>();
  for (const left of leftOut) {
    more.set(left.session, (more.get(left.session) ?? 0) + left.hits);
  }
  return Array.from(groups.values(), (group) => {
    return { ...group, more: more.get(group.session.id) ?? 0 };
  });
}
