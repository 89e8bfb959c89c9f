/**
 * Usage: the answers to `/v1/usage` and to a session's `costs`, and what OpenAPI says of them.
 *
 * Session costs: what a session cost, by prompt and by tool call, from the same count.
 *
 * A viewer requests many small ranges: what was last counted is kept until the count or the log
 * changes.
 */

import {
  INSIGHT_FIGURES,
  INSIGHT_SESSION,
  INSIGHT_SESSIONS,
  INSIGHTS,
} from "../../client/insight-shapes.ts";
import { TOOL_USAGE } from "../../client/search-shapes.ts";
import {
  COUNTED_GROUP,
  COUNTED_PROMPT,
  COUNTED_SESSION,
  COUNTED_SUMS,
  type CostRange,
  SERIES_GROUPS,
  type SessionCosts,
  USAGE_REPORT,
  type UsageReport,
} from "../../client/usage-shapes.ts";
import {
  type PromptGroup,
  PromptRows,
  type SessionUsageFiles,
  sessionAt,
} from "../../usage/prompts/prompt-rows.ts";
import type { Trace } from "../../usage/prompts/trace.ts";
import type { CountedUsage } from "../../usage/report/counted-usage.ts";
import { Days } from "../../usage/report/days.ts";
import { totalOf } from "../../usage/report/groups.ts";
import { Slices } from "../../usage/slices.ts";
import {
  get,
  json,
  limit,
  PROJECT_PARAMETER,
  parameter,
  SENDER_PARAMETERS,
  type SessionsOperation,
  text,
} from "../openapi/describe.ts";
import type { MountDescription, OpenMount, SharedParts } from "../router/mount.ts";
import { INSIGHTS_PATH, USAGE_PATH } from "../router/paths.ts";
import { overSessions } from "../sessions/all-sessions.ts";
import { Query } from "../sessions/query.ts";
import { type Sees, urlIdOf } from "../sessions/roots.ts";
import type { ServedSession, SessionService } from "../sessions/service.ts";
import { SESSION_LIMITS } from "../sessions/session-limits.ts";
import { figureAnswer } from "./figure-sessions.ts";
import { insightsAnswer } from "./insights.ts";
import type { LiveUsage } from "./live-usage.ts";
import { sumsItem, usageReport } from "./usage-report.ts";
import { usageRequest } from "./usage-request.ts";

const last = new WeakMap<LiveUsage, Last>();

export const USAGE_PARAMETERS = [
  "since",
  "until",
  "tz",
  "agent",
  "project",
  "machine",
  "user",
  "by",
  "limit",
] as const;

export async function usageMount({ sessions }: SharedParts): Promise<OpenMount> {
  return overSessions(sessions, {
    [USAGE_PATH]: usageAnswer,
    [INSIGHTS_PATH]: insightsAnswer,
    [`${INSIGHTS_PATH}/sessions`]: figureAnswer,
  });
}

function usageAnswer(service: SessionService, url: string, sees: Sees): Promise<UsageReport> {
  const query = new Query(url, USAGE_PARAMETERS);
  return usageReport(service.usage, usageRequest(service, query, sees));
}

export const COSTS_PARAMETERS = ["from", "limit", "columns"] as const;

export async function costsAnswer(
  service: SessionService,
  served: ServedSession,
  url: string,
): Promise<SessionCosts> {
  const { store, session } = served;
  const query = new Query(url, COSTS_PARAMETERS);
  const { dialect, root } = store;
  const id = session.id ?? "";
  const place = { dialect, root, session: id };
  const costs = await sessionCosts(service.usage, place, urlIdOf(store, id), {
    from: query.offset("from") ?? 0,
    limit: query.number("limit", 1, Number.MAX_SAFE_INTEGER) ?? Number.POSITIVE_INFINITY,
    columns: query.flag("columns", false),
  });
  const { total } = costs;
  if (total.responses > 0) return costs;
  const { row } = await service.known(served); // Nothing was counted: as in the list.
  return { ...costs, total: { ...total, cost: row.spend } };
}

const LISTED = [SESSION_LIMITS.usageListedMax, SESSION_LIMITS.usageListedDefault] as const;

const CHOICE = [
  parameter("since", "From this day on: 2026-11-15", text),
  parameter("until", "Up to and including this day", text),
  parameter("tz", "The time zone of days, such as Europe/Berlin; default: the server's", text),
  parameter("agent", "Only of this program or dialect", text),
  PROJECT_PARAMETER,
  ...SENDER_PARAMETERS,
];

const USAGE_OPERATION: SessionsOperation = {
  summary: "What all sessions used and what it cost, every response once",
  parameters: [
    ...CHOICE,
    parameter("by", "What `series` are grouped by", {
      enum: [...SERIES_GROUPS],
      default: "agent",
    }),
    limit("Maximum number of sessions, and of prompts", ...LISTED),
  ],
  ok: json("UsageReport", "Sums; while `isComplete` is false, ask again"),
  refused: [],
};

const INSIGHTS_OPERATION: SessionsOperation = {
  summary: "When, with which tools and on which files agents worked, and what took long",
  parameters: [...CHOICE, limit("Maximum number of sessions, and of prompts", ...LISTED)],
  ok: json("Insights", "While `isComplete` is false, ask again"),
  refused: [],
};

const FIGURE_OPERATION: SessionsOperation = {
  summary: "The sessions behind a figure of the insights",
  parameters: [
    ...CHOICE,
    {
      ...parameter("figure", "Of responses, of a tool's calls, or of a file's edits", {
        enum: Object.values(INSIGHT_FIGURES).flat(),
      }),
      required: true,
    },
    parameter("tool", "The calls of this tool", text),
    parameter("file", "The edits of this file", text),
    parameter("hour", "Responses in this hour of the week, such as `1 14`", text),
    parameter("model", "Responses of this model, by its whole name", text),
    limit("Maximum number of sessions", ...LISTED),
  ],
  ok: json("InsightSessions", "Their parts add up to the figure"),
  refused: [],
};

export const USAGE: MountDescription = {
  paths: {
    [USAGE_PATH]: get("sumUsage", USAGE_OPERATION),
    [INSIGHTS_PATH]: get("getInsights", INSIGHTS_OPERATION),
    [`${INSIGHTS_PATH}/sessions`]: get("listFigureSessions", FIGURE_OPERATION),
  },
  schemas: {
    CountedSums: COUNTED_SUMS,
    CountedGroup: COUNTED_GROUP,
    CountedSession: COUNTED_SESSION,
    CountedPrompt: COUNTED_PROMPT,
    UsageReport: USAGE_REPORT,
    Insights: INSIGHTS,
    InsightSession: INSIGHT_SESSION,
    InsightSessions: INSIGHT_SESSIONS,
    ToolUsage: TOOL_USAGE,
  },
};

/** `id` names it in the API. */
async function sessionCosts(
  live: LiveUsage,
  { dialect, root, session }: { dialect: string; root: string; session: string },
  id: string,
  range: Required<CostRange>,
): Promise<SessionCosts> {
  const untilMs = live.deadlineMs;
  const { opened, counting, version } = await live.now();
  const usage = opened?.usage;
  const found = usage && sessionAt(usage, dialect, root, session);
  const none = { total: sumsItem(totalOf([])), prompts: [], calls: [], subagents: 0 };
  if (usage === undefined || !found) return { id, ...within(none, range), counting };
  const { file } = found;
  const trace = await live.traceOf({ ...found, name: file.path, own: [file] }, untilMs);
  const known = last.get(live);
  const isKnown = known?.id === id && known.version === version && known.trace === trace;
  const counted = isKnown ? known.counted : await count(usage, found, trace);
  last.set(live, { id, version, trace, counted });
  const wait = counting ?? { done: 0, total: 1 };
  return { id, ...within(counted, range), counting: trace === undefined ? wait : counting };
}

type SessionFigures = Pick<SessionCosts, "total" | "prompts" | "calls" | "subagents">;

interface Last {
  readonly id: string;
  readonly version: number;
  readonly trace: Trace | null | undefined;
  readonly counted: SessionFigures;
}

async function count(
  usage: CountedUsage,
  found: SessionUsageFiles,
  trace: Trace | null | undefined,
): Promise<SessionFigures> {
  const slices = new Slices();
  const chosen = usage.chosen(new Days("UTC"));
  await slices.pause();
  const rows = new PromptRows(usage, chosen);
  const groups = rows.groups(found, trace ?? null);
  return {
    total: sumsItem(totalOf(groups)),
    prompts: groups.map(promptItem),
    calls: trace ? callsOf(usage, trace) : [],
    subagents: groups.reduce((sum, { subagents }) => sum + subagents, 0),
  };
}

/** Prompts and calls are in the order of the log; what is before all prompts is at 0. */
function within(
  { prompts, calls, ...sums }: SessionFigures,
  { from, limit, columns }: Required<CostRange>,
) {
  const startOf = (item: { readonly start: number | null } | undefined) =>
    item === undefined ? Infinity : (item.start ?? 0);
  const first = (items: readonly { readonly start: number | null }[]) => {
    const index = items.findIndex((item) => startOf(item) >= from);
    return index < 0 ? items.length : index;
  };
  const [a, b] = [first(prompts), first(calls)];
  let [i, j] = [a, b];
  for (let left = limit; left > 0 && (i < prompts.length || j < calls.length); left--) {
    if (startOf(prompts[i]) <= startOf(calls[j])) i++;
    else j++;
  }
  const next = Math.min(startOf(prompts[i]), startOf(calls[j]));
  const priced = columns
    ? prompts.filter(({ start, cost }) => start !== null && cost !== null)
    : [];
  return {
    ...sums,
    prompts: prompts.slice(a, i),
    calls: calls.slice(b, j),
    next: next === Infinity ? null : next,
    columns: columns
      ? {
          start: priced.map(({ start }) => start ?? 0),
          cost: priced.map(({ cost }) => Number((cost ?? 0).toPrecision(6))),
        }
      : null,
  };
}

function promptItem(group: PromptGroup): SessionCosts["prompts"][number] {
  const { prompt, subagents } = group;
  return { start: prompt?.start ?? null, ...sumsItem(group), subagents };
}

/**
 * A call costs its part of the response that made it: the one on the same line, or else the next one
 * before the next prompt, where usage is recorded after what was said.
 */
function callsOf(usage: CountedUsage, trace: Trace): SessionCosts["calls"] {
  const { ledger } = usage;
  const { responses, prompts, calls } = trace;
  let [next, prompt] = [0, 0];
  const found = calls.flatMap(({ start, count }) => {
    while ((responses[next]?.start ?? Infinity) < start) next++;
    while ((prompts[prompt]?.start ?? Infinity) <= start) prompt++;
    const response = responses[next];
    if (response === undefined || response.start >= (prompts[prompt]?.start ?? Infinity)) return [];
    const row = ledger.find(response.keyHigh, response.keyLow, response.request);
    return row < 0 ? [] : [{ start, count, row }];
  });
  const shared = new Map<number, number>();
  for (const { row, count } of found) shared.set(row, (shared.get(row) ?? 0) + count);
  return found.map(({ start, row }) => {
    const cost = usage.costOf(row);
    const total = usage.tokensOf(row);
    const price = Number.isNaN(cost) ? null : cost;
    return { start, calls: shared.get(row) ?? 1, total, cost: price };
  });
}
