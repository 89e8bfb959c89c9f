/** Group hits: the hits of a search by session, in the order of each session's first hit. */

import type { SearchHit } from "../../../src/client/search-shapes.ts";
import type { SessionItem } from "../../../src/client/session-shapes.ts";
import type { ListFilter } from "../route.ts";
import { projectKeyOf } from "./session-words.ts";

export interface HitGroup {
  readonly session: SessionItem;
  readonly hits: readonly SearchHit[];
}

export function groupHits(hits: readonly SearchHit[]): HitGroup[] {
  const groups = new Map<string, { session: SessionItem; hits: SearchHit[] }>();
  for (const hit of hits) {
    const group = groups.get(hit.session.id);
    if (group) group.hits.push(hit);
    else groups.set(hit.session.id, { session: hit.session, hits: [hit] });
  }
  return [...groups.values()];
}

/** The filters of the list that the search's own syntax does not have. */
export function isWanted({ session }: SearchHit, filter: ListFilter): boolean {
  const facts = {
    agent: session.agentLabel,
    project: projectKeyOf(session),
    model: session.model,
    verdict: session.verdict,
    status: session.status,
  };
  return Object.entries(facts).every(([name, value]) => {
    const wanted = filter[name as keyof typeof facts];
    return wanted === "" || wanted === value;
  });
}
