/**
 * Row filter: which rows of which stores a list shows, as far as stores and SQLite can tell, and the
 * rows of sessions whose logs are gone: no catalog has those.
 */

import type { ListFilter } from "../catalog/page.ts";
import type { PageRow, PageSort, RowFilter } from "../catalog/page-rows.ts";
import type { SessionRow, SortKey } from "../catalog/session-row.ts";
import { dialectNamed } from "../dialects/all.ts";
import type { SessionStatus } from "../model/summary.ts";
import type { FoundStore } from "./find-stores.ts";
import { ownerOf, UNNAMED_AGENT } from "./whose.ts";

export interface AskedRows extends Omit<ListFilter, "title"> {
  readonly verdict: string | null;
  readonly withoutSubagents: boolean;
}

const NOT_ENDED = ["paused", "running", null] as const;

/** Whether a store may have sessions of an agent, by its label. */
export function mayHave({ dialect }: FoundStore, agent: string | null | undefined): boolean {
  const label = dialectNamed(dialect).program?.label;
  return !agent || label === undefined || label === agent;
}

export function rowFilterOf(store: FoundStore, asked: AskedRows): RowFilter {
  const { since, until, status, agent, project, model, verdict } = asked;
  const { program } = dialectNamed(store.dialect);
  const isOwn = agent && program === undefined;
  return {
    since,
    until,
    statuses: statusesOf(status ?? null),
    agent: isOwn ? (agent === UNNAMED_AGENT ? "" : agent) : null,
    project: project ?? null,
    ownProject: ownerOf(store, { agent: null, project: null }).project,
    model: model ?? null,
    verdict,
    // Other programs' children are sessions of their own, as `verbatim ls` has it.
    withoutSubagents: asked.withoutSubagents && program !== undefined && !program.hasForks,
  };
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
