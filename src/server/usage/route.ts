/** Usage: the answers to `/v1/usage` and to a session's `costs`. */

import { SERIES_GROUPS, type SessionCosts, type UsageReport } from "../../client/usage-shapes.ts";
import type { LedgerFile } from "../../usage/ledger/pack.ts";
import { fileFilter } from "../../usage/report/agent-choice.ts";
import { Days, dayNumber } from "../../usage/report/days.ts";
import { badRequest } from "../http/answer.ts";
import type { OpenMount, SharedParts } from "../router/mount.ts";
import { USAGE_PATH } from "../router/paths.ts";
import { overSessions } from "../sessions/all-sessions.ts";
import { Query } from "../sessions/query.ts";
import { type Sees, urlIdOf } from "../sessions/roots.ts";
import type { ServedSession, SessionService } from "../sessions/service.ts";
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
