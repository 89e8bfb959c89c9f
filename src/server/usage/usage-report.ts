/**
 * Usage report: all sums and lists of a choice, as JSON for the API.
 *
 * Sums: groups of usage as JSON, and usage for each day.
 */

import type {
  CountedGroup,
  CountedSums,
  UsageReport as Report,
  UsageSeries,
} from "../../client/usage-shapes.ts";
import { senderOf } from "../../sessions/list/whose.ts";
import type { LedgerFile } from "../../usage/ledger/pack.ts";
import { TABLE, TABLE_DATE } from "../../usage/prices/price-book.ts";
import {
  byCost,
  dearestPrompts,
  PromptRows,
  type SessionUsageFiles,
  sessionsOf,
} from "../../usage/prompts/prompt-rows.ts";
import { agentNameOf, machineNameOf, userNameOf } from "../../usage/report/agent-choice.ts";
import {
  type CountedUsage,
  sessionNameIn,
  type UsageRowChoice,
} from "../../usage/report/counted-usage.ts";
import { type Days, dayNumber, dayText, periodsBetween } from "../../usage/report/days.ts";
import {
  byFile,
  byModel,
  byPeriod,
  bySession,
  type Group,
  type Grouping,
  groupBy,
  type Sums,
  totalOf,
} from "../../usage/report/groups.ts";
import { Slices } from "../../usage/slices.ts";
import type { LiveCounts, LiveUsage } from "./live-usage.ts";

/** Groups with a series of their own; the rest is one more. */
const SERIES_MAX = 5;
/** A longer time is not shown day by day. */
const DAYS_MAX = 1_500;
const CALENDAR_DAYS = 371;
/** Sessions in which the most expensive prompts are looked for. */
export const READ_MAX = 300;

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
  const now = await live.now();
  const { opened, counting, unreadable } = now;
  if (opened === null) return { ...nothing(wanted), counting, isComplete: false, unreadable };
  return reportOf(live, wanted, now, opened);
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
    machines: [],
    users: [],
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
    machine: byFile(usage, machineNameOf),
    user: byFile(usage, userNameOf),
  };
}

async function reportOf(
  live: LiveUsage,
  wanted: UsageRequest,
  { counting, unreadable }: LiveCounts,
  { usage, book }: NonNullable<LiveCounts["opened"]>,
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
  const isSent = usage.ledger.files.some(({ root }) => senderOf(root) !== null);
  const machines = isSent ? await grouped(groupings.machine) : [];
  const users = isSent ? await grouped(groupings.user) : [];
  const sessions = await grouped(bySession(usage));
  const daily = await grouped(byPeriod(usage, days, "day"));
  const axis = axisOf(daily, wanted);
  const onAxis = new Map(daily.map((group) => [group.key, group]));
  const none = totalOf([]);
  const ofBy = { agent: agents, project: projects, model: models, machine: machines, user: users }[
    by
  ];
  await slices.pause();
  const range = { days, first: axis.first, last: axis.last };
  const series = seriesOf({ usage, rows, ...range, grouping: groupings[by], groups: ofBy });
  await slices.pause();
  const calendar = calendarOf(usage, wanted);
  await slices.pause();
  const listed = await listedOf({ live, usage, rows, groups: sessions, slices }, wanted);
  const cut = <T>(all: readonly T[]) => all.slice(0, groupsMax);
  return {
    ...nothing(wanted),
    total: sumsItem(totalOf(agents)),
    days: axis.days.map((day) => groupItem({ ...(onAxis.get(day) ?? none), key: day })),
    outside: sumsItem(totalOf(daily.filter(({ key }) => !axis.days.includes(key)))),
    agents: cut(agents).map(groupItem),
    projects: cut(projects).map(groupItem),
    models: cut(models).map(groupItem),
    machines: cut(machines).map(groupItem),
    users: cut(users).map(groupItem),
    series,
    calendar,
    sessions: listed.sessions,
    prompts: listed.prompts,
    cacheHitRate: hitRateOf(totalOf(agents)),
    prices: { table: TABLE, date: TABLE_DATE, models: pricesOf(cut(models), book) },
    counting,
    isComplete: counting === null && listed.isComplete,
    isCut: [agents, projects, models, machines, users].some(({ length }) => length > groupsMax),
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
  readonly slices: Slices;
}

/** The most expensive sessions and prompts, as far as they are known in time. */
async function listedOf(
  { live, usage, rows, groups, slices }: Listing,
  { limit, linkTo }: UsageRequest,
): Promise<Pick<Report, "sessions" | "prompts" | "isComplete">> {
  const linkOf = (files: SessionUsageFiles["own"]) => {
    return files.map(linkTo).find((link) => link !== null) ?? null;
  };
  const all = sessionsOf(usage);
  // Only now does the time for prompts begin: the sums took theirs.
  const untilMs = live.deadlineMs;
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
    const { agents, project, lastAt, key } = group;
    const name = sessionNameIn(key);
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

export function sumsItem(sums: Sums): CountedSums {
  const { responses, input, output, cacheWrite5m, cacheWrite1h, cacheRead, reasoning } = sums;
  const { total, unpriced, recorded, priced, implausible, unknownInputs, cost } = sums;
  const isUnknown = unpriced > 0 && unpriced === total;
  return {
    responses,
    input,
    output,
    cacheWrite5m,
    cacheWrite1h,
    cacheRead,
    reasoning,
    total,
    cost: isUnknown ? null : cost,
    unpriced,
    recorded,
    priced,
    implausible,
    unknownInputs,
  };
}

export function groupItem(group: Group): CountedGroup {
  return { name: group.key, ...sumsItem(group) };
}

export function timeItem(ms: number | null): string | null {
  return ms === null || !(Math.abs(ms) < 8e15) ? null : new Date(ms).toISOString();
}

function hitRateOf({ input, cacheWrite5m, cacheWrite1h, cacheRead }: Sums): number | null {
  const all = input + cacheWrite5m + cacheWrite1h + cacheRead;
  return all === 0 ? null : cacheRead / all;
}

interface SeriesOptions {
  readonly usage: CountedUsage;
  readonly rows: Uint32Array;
  readonly days: Days;
  /** Numbers of the first and of the last day. */
  readonly first: number;
  readonly last: number;
  readonly grouping: Grouping;
  /** The groups, the largest first. */
  readonly groups: readonly Group[];
}

/** What the largest groups used on each day. */
function seriesOf(options: SeriesOptions): UsageSeries[] {
  const { usage, rows, days, first, last, grouping, groups } = options;
  const length = Math.max(0, last - first + 1);
  const shown = groups.slice(0, groups.length > SERIES_MAX + 1 ? SERIES_MAX : SERIES_MAX + 1);
  const hasOthers = groups.length > shown.length;
  const names = [...shown.map(({ key }) => key), ...(hasOthers ? [null] : [])];
  const places = new Map(shown.map(({ key }, place) => [key, place]));
  const series = names.map((name) => ({
    name,
    groups: name === null ? groups.length - shown.length : 1,
    cost: new Array<number>(length).fill(0),
    total: new Array<number>(length).fill(0),
  }));
  const numbers = grouping.numbers(rows);
  const placeOf = new Map<number, number>();
  const ofRows = days.numbersOf(usage.ledger.rows.at, rows);
  for (let n = 0; n < rows.length; n++) {
    const day = (ofRows[n] ?? 0) - first;
    if (day < 0 || day >= length) continue;
    const number = numbers[n] ?? 0;
    let place = placeOf.get(number);
    if (place === undefined) {
      place = places.get(grouping.textOf(number)) ?? shown.length;
      placeOf.set(number, place);
    }
    const line = series[place];
    if (line === undefined) continue;
    const row = rows[n] ?? 0;
    const cost = usage.costOf(row);
    if (cost > 0) line.cost[day] = (line.cost[day] ?? 0) + cost;
    line.total[day] = (line.total[day] ?? 0) + usage.tokensOf(row);
  }
  return series;
}
