/**
 * Facets: how many of the listed sessions are of each agent, project, model and verdict, and what
 * they cost. Each facet counts what its own filter leaves out, so that a reader sees the other
 * choices; all other filters apply to it.
 */

import type { SessionRow } from "../../dialects/session-row.ts";
import type { Catalog } from "../../sessions/catalog/catalog.ts";
import { isListed, type ListFilter } from "../../sessions/catalog/page.ts";
import { countRows, type RowCount } from "../../sessions/catalog/page-rows.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { ownerOf } from "../../sessions/list/whose.ts";
import { MISSING_VERDICT, type RowRequest, rowFilterOf } from "./row-filter.ts";

/** Choices of one facet; the largest ones. */
export const FACET_CHOICES_MAX = 200;

/** Sessions with one value. */
export interface Facet {
  /** What the filter takes. */
  readonly value: string;
  readonly sessions: number;
  /** US dollars, where known. */
  readonly cost: number | null;
}

type Name = "agents" | "projects" | "models" | "verdicts";
export type Facets = Readonly<Record<Name, readonly Facet[]>>;

export interface FacetFilter extends RowRequest, Pick<ListFilter, "title"> {}

/** A count with the values that the facets are about. */
interface Counted extends Record<"agent" | "project" | "model" | "verdict", string | null> {
  readonly count: Pick<RowCount, "sessions" | "cost">;
}

const FIELDS = {
  agents: "agent",
  projects: "project",
  models: "model",
  verdicts: "verdict",
} as const satisfies Record<Name, keyof Counted>;

export async function facetsOf(
  catalog: Catalog,
  stores: readonly FoundStore[],
  missing: readonly { readonly store: FoundStore; readonly row: SessionRow }[],
  filter: FacetFilter,
): Promise<Facets> {
  const { title, status } = filter;
  const open = { ...filter, agent: null, project: null, model: null, verdict: null };
  const byTitle = Boolean(title);
  const counted: Counted[] = [];
  for (const store of stores) {
    // The status that is kept, not the one that a running session may have now.
    const rows = { ...rowFilterOf(store, open), statuses: status ? [status] : null, byTitle };
    for (const count of await countRows(catalog, store.dialect, store.root, rows)) {
      if (title && !count.title?.toLowerCase().includes(title)) continue;
      const { agent, project } = ownerOf(store, count);
      const { model, verdict } = count;
      counted.push({ agent, project: count.repository ?? project, model, verdict, count });
    }
  }
  for (const { store, row } of missing) {
    if (!isListed(open, row)) continue;
    const { agent, project } = ownerOf(store, row);
    const { model, repository, spend: cost } = row;
    const facts = { agent, project: repository ?? project, model, verdict: MISSING_VERDICT };
    counted.push({ ...facts, count: { sessions: 1, cost } });
  }
  const facet = (name: Name) => choicesOf(counted, filter, FIELDS[name]);
  return {
    agents: facet("agents"),
    projects: facet("projects"),
    models: facet("models"),
    verdicts: facet("verdicts"),
  };
}

function choicesOf(
  counted: readonly Counted[],
  filter: FacetFilter,
  field: (typeof FIELDS)[Name],
): Facet[] {
  const others = Object.values(FIELDS).filter((each) => each !== field);
  const choices = new Map<string, { value: string; sessions: number; cost: number | null }>();
  for (const each of counted) {
    const value = each[field];
    if (value === null || others.some((name) => filter[name] && filter[name] !== each[name])) {
      continue;
    }
    const choice = choices.get(value) ?? { value, sessions: 0, cost: null };
    const { sessions, cost } = each.count;
    choice.sessions += sessions;
    if (cost !== null) choice.cost = (choice.cost ?? 0) + cost;
    choices.set(value, choice);
  }
  const sorted = [...choices.values()].sort(
    (a, b) => b.sessions - a.sessions || (a.value < b.value ? -1 : 1),
  );
  return sorted.slice(0, FACET_CHOICES_MAX);
}
