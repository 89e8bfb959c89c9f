/** Usage report: all sums and lists of a choice, as JSON for the API. */

import type { UsageReport as Report } from "../../client/usage-shapes.ts";
import type { LedgerFile } from "../../usage/ledger/pack.ts";
import { TABLE, TABLE_DATE } from "../../usage/prices/price-book.ts";
import {
  byCost,
  dearestPrompts,
  PromptRows,
  type SessionUsageFiles,
  sessionsOf,
} from "../../usage/prompts/prompt-rows.ts";
import { agentNameOf } from "../../usage/report/agent-choice.ts";
import type { CountedUsage, UsageRowChoice } from "../../usage/report/counted-usage.ts";
import { type Days, dayNumber, dayText, periodsBetween } from "../../usage/report/days.ts";
import {
  byFile,
  byModel,
  byPeriod,
  type Group,
  type Grouping,
  groupBy,
  totalOf,
} from "../../usage/report/groups.ts";
import { Slices } from "../../usage/slices.ts";
import type { LiveCounts, LiveUsage } from "./live-usage.ts";
import { groupItem, hitRateOf, seriesOf, sumsItem, timeItem } from "./sums.ts";

/** A longer time is not shown day by day. */
const DAYS_MAX = 1_500;
const CALENDAR_DAYS = 371;
/** Sessions that are read to find the most expensive prompts. */
const READ_MAX = 300;

export interface UsageRequest {
  readonly days: Days;
  /** The number of the day. */
  readonly today: number;
  readonly choice: UsageRowChoice;
  readonly by: Report["by"];
  /** Sessions and prompts. */
  readonly limit: number;
  /** Agents, projects and models, each. */
  readonly groupsMax: number;
  /** The id of a session in the API; null: it has none. */
  readonly linkTo: (file: LedgerFile) => string | null;
}

export async function usageReport(live: LiveUsage, wanted: UsageRequest): Promise<Report> {
  const untilMs = live.deadlineMs;
  const now = await live.now();
  const { opened, counting, unreadable } = now;
  if (opened === null) return { ...nothing(wanted), counting, isComplete: false, unreadable };
  return reportOf(live, wanted, now, opened, untilMs);
}

function nothing({ days, today, choice, by }: UsageRequest): Report {
  const none = sumsItem(totalOf([]));
  return {
    zone: days.zone,
    today: dayText(today),
    total: none,
    days: [],
    outside: none,
    by,
    since: choice.since ?? null,
    until: choice.until ?? null,
    cacheHitRate: null,
    agents: [],
    projects: [],
    models: [],
    series: [],
    calendar: [],
    sessions: [],
    prompts: [],
    prices: { table: TABLE, date: TABLE_DATE, models: [] },
    counting: null,
    isComplete: true,
    isCut: false,
    unreadable: 0,
  };
}

function groupingsOf(usage: CountedUsage): Record<Report["by"], Grouping> {
  return {
    agent: byFile(usage, ({ dialect }) => agentNameOf(dialect)),
    project: byFile(usage, (file) => usage.projectOf(file)),
    model: byModel(usage),
  };
}

async function reportOf(
  live: LiveUsage,
  wanted: UsageRequest,
  { counting, unreadable }: LiveCounts,
  { usage, book }: NonNullable<LiveCounts["opened"]>,
  untilMs: number,
): Promise<Report> {
  const { days, choice, by, groupsMax } = wanted;
  const rows = usage.chosen(days, choice);
  const groupings = groupingsOf(usage);
  // Other requests are answered between these: each goes through all rows.
  const slices = new Slices();
  const grouped = async (grouping: Grouping) => {
    await slices.pause();
    return groupBy(usage, rows, grouping).sort(byCost);
  };
  const agents = await grouped(groupings.agent);
  const projects = await grouped(groupings.project);
  const models = await grouped(groupings.model);
  const sessions = await grouped(byFile(usage, (file) => usage.sessionOf(file)));
  const daily = await grouped(byPeriod(usage, days, "day"));
  const axis = axisOf(daily, wanted);
  const onAxis = new Map(daily.map((group) => [group.key, group]));
  const none = totalOf([]);
  const ofBy = { agent: agents, project: projects, model: models }[by];
  await slices.pause();
  const range = { days, first: axis.first, last: axis.last };
  const series = seriesOf({ usage, rows, ...range, grouping: groupings[by], groups: ofBy });
  await slices.pause();
  const calendar = calendarOf(usage, wanted);
  await slices.pause();
  const listed = await listedOf({ live, usage, rows, groups: sessions, untilMs, slices }, wanted);
  const cut = <T>(all: readonly T[]) => all.slice(0, groupsMax);
  return {
    ...nothing(wanted),
    total: sumsItem(totalOf(agents)),
    days: axis.days.map((day) => groupItem({ ...(onAxis.get(day) ?? none), key: day })),
    outside: sumsItem(totalOf(daily.filter(({ key }) => !axis.days.includes(key)))),
    agents: cut(agents).map(groupItem),
    projects: cut(projects).map(groupItem),
    models: cut(models).map(groupItem),
    series,
    calendar,
    sessions: listed.sessions,
    prompts: listed.prompts,
    cacheHitRate: hitRateOf(totalOf(agents)),
    prices: { table: TABLE, date: TABLE_DATE, models: pricesOf(cut(models), book) },
    counting,
    isComplete: counting === null && listed.isComplete,
    isCut: [agents, projects, models].some(({ length }) => length > groupsMax),
    unreadable,
  };
}

function pricesOf(
  models: readonly Group[],
  book: NonNullable<LiveCounts["opened"]>["book"],
): Report["prices"]["models"] {
  return models.map(({ key: model }) => {
    const { table = null, hash = null, at = null } = book.sourceOf(model) ?? {};
    return { model, table, hash, at };
  });
}

/** Every day from the first of the range, or with usage, to today or the last of the range. */
function axisOf(daily: readonly Group[], { choice: { since, until }, today }: UsageRequest) {
  const used = daily.map(({ key }) => dayNumber(key)).filter((day) => day <= today);
  const last = Math.min(today, until === undefined ? today : dayNumber(until));
  const begun = since === undefined ? Math.min(last, ...used) : dayNumber(since);
  const first = Math.max(begun, last - DAYS_MAX + 1);
  return { first, last, days: periodsBetween(first, last, "day") };
}

function calendarOf(
  usage: CountedUsage,
  { days, today, choice }: UsageRequest,
): Report["calendar"] {
  const range = { since: dayText(today - CALENDAR_DAYS), until: dayText(today) };
  const rows = usage.chosen(days, { ...choice, ...range });
  const groups = groupBy(usage, rows, byPeriod(usage, days, "day"));
  const used = groups.map(({ key, cost, total }) => ({ day: key, cost, total }));
  return used.sort((a, b) => (a.day < b.day ? -1 : 1));
}

interface Listing {
  readonly live: LiveUsage;
  readonly usage: CountedUsage;
  readonly rows: Uint32Array;
  /** A group per session. */
  readonly groups: readonly Group[];
  readonly untilMs: number;
  readonly slices: Slices;
}

/** The most expensive sessions and prompts, as far as they are known in time. */
async function listedOf(
  { live, usage, rows, groups, untilMs, slices }: Listing,
  { limit, linkTo }: UsageRequest,
): Promise<Pick<Report, "sessions" | "prompts" | "isComplete">> {
  const linkOf = (files: SessionUsageFiles["own"]) => {
    return files.map(linkTo).find((link) => link !== null) ?? null;
  };
  const all = sessionsOf(usage);
  const traceOf = async (session: SessionUsageFiles) => {
    const own = session.own.filter((file) => linkTo(file) !== null);
    return own.length === 0 ? null : live.traceOf({ ...session, own }, untilMs);
  };
  await slices.pause();
  const ofRows = new PromptRows(usage, rows);
  const found = await dearestPrompts({
    groups,
    sessions: all,
    rows: ofRows,
    limit,
    sessionsMax: READ_MAX,
    traceOf,
    pause: () => slices.pause(),
  });
  const prompts = found.prompts.flatMap((group) => {
    const { prompt, subagents, agents, project, session } = group;
    const link = linkOf(session.own);
    if (prompt === null || link === null) return [];
    const at = timeItem(Number.isNaN(prompt.at) ? null : prompt.at);
    const about = { session: link, start: prompt.start, at, agent: agentOf(agents), project };
    return [{ text: prompt.text, ...sumsItem(group), ...about, subagents }];
  });
  let { isComplete } = found;
  const sessions: Report["sessions"][number][] = [];
  for (const group of groups.slice(0, limit)) {
    const session = all.get(group.key);
    const trace = session && (await traceOf(session));
    if (session && trace === undefined) isComplete = false;
    const { agents, project, lastAt, key: name } = group;
    const about = { agent: agentOf(agents), project, lastAt: timeItem(lastAt) };
    const title = trace?.prompts[0]?.text ?? null;
    const link = linkOf(session?.own ?? []);
    sessions.push({ name, ...sumsItem(group), session: link, title, ...about });
  }
  return { sessions, prompts, isComplete };
}

function agentOf(dialects: readonly string[]): string {
  return dialects.map(agentNameOf).join(", ");
}
