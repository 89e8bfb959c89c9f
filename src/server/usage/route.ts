/** Usage: the answers to `/v1/usage` and to a session's `costs`, and what OpenAPI says of them. */

import {
  COUNTED_GROUP,
  COUNTED_PROMPT,
  COUNTED_SESSION,
  COUNTED_SUMS,
  SERIES_GROUPS,
  type SessionCosts,
  USAGE_REPORT,
  type UsageReport,
} from "../../client/usage-shapes.ts";
import type { LedgerFile } from "../../usage/ledger/pack.ts";
import { fileFilter } from "../../usage/report/agent-choice.ts";
import { Days, dayNumber } from "../../usage/report/days.ts";
import { badRequest } from "../http/answer.ts";
import { get, json, limit, parameter, type SessionsOperation, text } from "../openapi/describe.ts";
import type { MountDescription, OpenMount, SharedParts } from "../router/mount.ts";
import { USAGE_PATH } from "../router/paths.ts";
import { overSessions } from "../sessions/all-sessions.ts";
import { Query } from "../sessions/query.ts";
import { type Sees, urlIdOf } from "../sessions/roots.ts";
import type { ServedSession, SessionService } from "../sessions/service.ts";
import { SESSION_LIMITS } from "../sessions/session-limits.ts";
import { sessionCosts } from "./session-costs.ts";
import { usageReport } from "./usage-report.ts";

export const USAGE_PARAMETERS = [
  "since",
  "until",
  "tz",
  "agent",
  "project",
  "by",
  "limit",
] as const;

export async function usageMount({ sessions }: SharedParts): Promise<OpenMount> {
  return overSessions(sessions, { [USAGE_PATH]: usageAnswer });
}

function usageAnswer(service: SessionService, url: string, sees: Sees): Promise<UsageReport> {
  const { limits, roots, nowMs } = service;
  const query = new Query(url, USAGE_PARAMETERS);
  const days = daysIn(query.text("tz"));
  const isNamed = fileFilter(query.text("agent") ?? undefined, query.text("project") ?? undefined);
  const range = { since: dayIn(query, "since"), until: dayIn(query, "until") };
  const keyOf = ({ dialect, root }: { dialect: string; root: string }) => `${dialect}\0${root}`;
  const seen = roots.stores().filter(sees);
  const stores = new Map(seen.map((store) => [keyOf(store), store]));
  // The ledger also has files of stores that are gone: only who sees every path sees them.
  const isSeen = (file: LedgerFile) => sees({}) || stores.has(keyOf(file));
  const isWanted = (file: LedgerFile) => isSeen(file) && (isNamed?.(file) ?? true);
  return usageReport(service.usage, {
    days,
    today: days.numberOf(nowMs()),
    choice: { ...range, isWanted },
    by: query.choice("by", SERIES_GROUPS) ?? "agent",
    limit: query.number("limit", 1, limits.usageListedMax) ?? limits.usageListedDefault,
    groupsMax: limits.usageGroupsMax,
    linkTo: (file) => {
      const store = stores.get(keyOf(file));
      return store === undefined ? null : urlIdOf(store, file.id);
    },
  });
}

export const COSTS_PARAMETERS = ["from", "limit", "columns"] as const;

export function costsAnswer(
  service: SessionService,
  { store, session }: ServedSession,
  url: string,
): Promise<SessionCosts> {
  const query = new Query(url, COSTS_PARAMETERS);
  const { dialect, root } = store;
  const id = session.id ?? "";
  return sessionCosts(service.usage, { dialect, root, session: id }, urlIdOf(store, id), {
    from: query.offset("from") ?? 0,
    limit: query.number("limit", 1, Number.MAX_SAFE_INTEGER) ?? Number.POSITIVE_INFINITY,
    columns: query.flag("columns", false),
  });
}

function dayIn(query: Query, name: string): string | undefined {
  const text = query.text(name);
  if (text === null) return undefined;
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(dayNumber(text))) return text;
  throw badRequest(name, "must be a day such as 2026-11-15");
}

function daysIn(zone: string | null): Days {
  try {
    return zone === null ? new Days() : new Days(zone);
  } catch {
    throw badRequest("tz", "must be a time zone such as Europe/Berlin");
  }
}

const USAGE_OPERATION: SessionsOperation = {
  summary: "What all sessions used and what it cost, every response once",
  parameters: [
    parameter("since", "From this day on: 2026-11-15", text),
    parameter("until", "Up to and including this day", text),
    parameter("tz", "The time zone of days, such as Europe/Berlin; default: the server's", text),
    parameter("agent", "Only of this program or dialect", text),
    parameter(
      "project",
      "Only of this directory and below, or of directories with this name",
      text,
    ),
    parameter("by", "What `series` are grouped by", {
      enum: [...SERIES_GROUPS],
      default: "agent",
    }),
    limit(
      "Maximum number of sessions, and of prompts",
      SESSION_LIMITS.usageListedMax,
      SESSION_LIMITS.usageListedDefault,
    ),
  ],
  ok: json("UsageReport", "Sums; while `isComplete` is false, ask again"),
  refused: [],
};

export const USAGE: MountDescription = {
  paths: { [USAGE_PATH]: get("sumUsage", USAGE_OPERATION) },
  schemas: {
    CountedSums: COUNTED_SUMS,
    CountedGroup: COUNTED_GROUP,
    CountedSession: COUNTED_SESSION,
    CountedPrompt: COUNTED_PROMPT,
    UsageReport: USAGE_REPORT,
  },
};
