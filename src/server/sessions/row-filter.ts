/**
 * Row filter: which rows of which stores a list shows, as far as stores and SQLite can tell, and the
 * rows of sessions whose logs are gone: no catalog has those.
 */

import { SESSION_STATUSES, type SessionStatus } from "../../core/model/summary.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { labelOf } from "../../dialects/registry.ts";
import type { SessionRow, SortKey } from "../../dialects/session-row.ts";
import type { Catalog } from "../../sessions/catalog/catalog.ts";
import { isListed, type ListFilter, type ProjectFilter } from "../../sessions/catalog/page.ts";
import {
  type PageRow,
  type PageSort,
  type RowFilter,
  readIds,
  readTagged,
} from "../../sessions/catalog/page-rows.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { isSenderMeant, projectFilter, UNNAMED_AGENT } from "../../sessions/list/whose.ts";
import type { NotesBook } from "../../sessions/notes/notes-book.ts";
import { VERDICTS } from "../../trust/proof/verdict.ts";
import type { Query } from "./query.ts";
import type { Sees } from "./roots.ts";

export interface RowRequest extends Omit<ListFilter, "title">, StoreRequest {
  readonly verdict: string | null;
  readonly withoutSubagents: boolean;
  /** Sessions that are listed as another one, by `placeKey`: records of hooks. */
  readonly records?: ReadonlyMap<string, readonly string[]>;
  /** `tag` and `starred` need them. */
  readonly marked?: MarkedRows;
}

/** Sessions as the user's notes show them, by `placeKey` of their store. */
export type MarkedRows = ReadonlyMap<string, readonly Pick<PageRow, "row" | "cost">[]>;

/** Which sessions a list or a search is about. */
export function sessionFilterIn(query: Query, sees: Sees) {
  return {
    status: query.choice("status", SESSION_STATUSES),
    agent: query.text("agent"),
    project: projectFilterIn(query, sees),
    model: query.text("model"),
    verdict: query.choice("verdict", VERDICTS),
    machine: query.text("machine"),
    user: query.text("user"),
    tag: query.text("tag"),
    starred: query.flag("starred", false),
    withoutSubagents: !query.flag("subagents", true),
  };
}

/** Of what the sender sees; null: all. */
export function seenProject({ project: own }: Sees): ProjectFilter | null {
  return own === null ? null : ({ project }) => project === own;
}

/** What was asked for, of what the sender sees; null: all. */
export function projectFilterIn(query: Query, sees: Sees): ProjectFilter | null {
  const text = query.text("project");
  const isSeen = seenProject(sees);
  if (text === null) return isSeen;
  const isAsked = projectFilter(text, null);
  return (session) => isSeen?.(session) !== false && isAsked(session);
}

/** The sessions of these stores with tags of their own, or with notes of the user. */
export async function markedRows(
  catalog: Catalog,
  stores: readonly FoundStore[],
  book: NotesBook,
): Promise<MarkedRows> {
  const byStore = new Map<string, Pick<PageRow, "row" | "cost">[]>();
  for (const store of stores) {
    const { dialect, root } = store;
    const all = book.mayHave(store) ? await readIds(catalog, dialect, root, {}) : [];
    const ids = [...all].filter((id) => book.of(store, id) !== null);
    const hasOwn = dialectNamed(dialect).program === undefined;
    if (ids.length === 0 && !hasOwn) continue;
    const rows = await readTagged(catalog, dialect, root, { ids, hasOwn });
    const withNotes = rows.map(({ row, cost }) => ({ row: book.row(store, row), cost }));
    byStore.set(placeKey(store), withNotes);
  }
  return byStore;
}

const NOT_ENDED = ["paused", "running", null] as const;

/** What decides about all sessions of a store: its agent, by the label, and who sent them. */
export interface StoreRequest {
  readonly agent?: string | null | undefined;
  readonly machine?: string | null;
  readonly user?: string | null;
}

/** Whether a store may have such sessions. */
export function mayHave({ dialect, root }: FoundStore, asked: StoreRequest): boolean {
  const { agent } = asked;
  const label = labelOf(dialect);
  if (agent && label !== null && label !== agent) return false;
  return isSenderMeant(root, asked);
}

export function placeKey({ dialect, root }: FoundStore): string {
  return `${dialect}\0${root}`;
}

export function rowFilterOf(store: FoundStore, asked: RowRequest): RowFilter {
  const { since, until, status, agent, project, model, verdict, tag, starred } = asked;
  const rows = asked.marked?.get(placeKey(store)) ?? [];
  const withMarks = rows.filter(({ row }) => isListed({ tag, starred }, row));
  const { program } = dialectNamed(store.dialect);
  const isOwn = agent && program === undefined;
  return {
    since,
    until,
    statuses: statusesOf(status ?? null),
    agent: isOwn ? (agent === UNNAMED_AGENT ? "" : agent) : null,
    project: project ?? null,
    model: model ?? null,
    verdict,
    // Other programs' children are sessions of their own, as `verbatim ls` has it.
    withoutSubagents: asked.withoutSubagents && program !== undefined && !program.hasForks,
    without: asked.records?.get(placeKey(store)) ?? null,
    ids: tag || starred ? withMarks.map(({ row }) => row.id) : null,
  };
}

/** The stores that may have such sessions, and the ids of those in each. */
export async function idsThatFit<S extends FoundStore>(
  catalog: Catalog,
  stores: readonly S[],
  asked: RowRequest,
): Promise<Map<S, ReadonlySet<string>>> {
  const found = new Map<S, ReadonlySet<string>>();
  for (const store of stores.filter((each) => mayHave(each, asked))) {
    const { dialect, root } = store;
    // The status that is kept, not the one that a running session may have now.
    const filter = { ...rowFilterOf(store, asked), statuses: asked.status ? [asked.status] : null };
    const ids = await readIds(catalog, dialect, root, filter);
    if (ids.size > 0) found.set(store, ids);
  }
  return found;
}

/** A session that was running or had no status may have another status now. */
function statusesOf(status: SessionStatus | null): readonly (SessionStatus | null)[] | null {
  return status === "paused" || status === "running" ? NOT_ENDED : status && [status];
}

/** What verifying a session says whose head is pinned and whose log is gone. */
export const MISSING_VERDICT = "rollback";

const KEYS: Readonly<Record<PageSort, (row: SessionRow) => SortKey>> = {
  updated: ({ updatedAt }) => updatedAt ?? "",
  cost: ({ spend }) => spend,
  tokens: ({ totalTokens }) => totalTokens,
  duration: ({ durationMs }) => durationMs,
};

export function missingRow(row: SessionRow, sort: PageSort): PageRow {
  const { id, spend: cost } = row;
  return { id, key: KEYS[sort](row), row, cost, verdict: MISSING_VERDICT, judgedMs: Infinity };
}
