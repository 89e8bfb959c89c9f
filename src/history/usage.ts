/** Usage: what the sessions of a history used, by day, session, model and so on. */

import type { Host } from "../core/base/host.ts";
import { projectFilter } from "../sessions/list/whose.ts";
import type { LedgerFile } from "../usage/ledger/pack.ts";
import { openUsage } from "../usage/open-usage.ts";
import {
  agentNameOf,
  agentNames,
  type FileFilter,
  fileFilter,
  filesOf,
  machineNameOf,
  userNameOf,
} from "../usage/report/agent-choice.ts";
import { type CountedUsage, sessionNameIn } from "../usage/report/counted-usage.ts";
import { Days, type Period } from "../usage/report/days.ts";
import {
  byFile,
  byModel,
  byPeriod,
  bySession,
  type Group,
  type Grouping,
  groupBy,
  totalOf,
} from "../usage/report/groups.ts";
import type { HistoryUsageOptions, UsageGrouping } from "./options.ts";
import type { Places } from "./places.ts";
import { type ListedSession, listSessions } from "./session-list.ts";

export interface UsageGroup extends Group {
  /** Of a session, by `session`; else null. */
  readonly title: string | null;
}

export interface HistoryUsage {
  readonly by: UsageGrouping;
  /** The time zone of the days. */
  readonly zone: string;
  /** Days and sessions in their order; all others the most expensive first. */
  readonly groups: readonly UsageGroup[];
  readonly total: Group;
  /** Sessions that could not be read, and are not counted. */
  readonly unreadable: readonly string[];
}

const PERIODS: Partial<Record<UsageGrouping, Period>> = {
  day: "day",
  week: "week",
  month: "month",
};

export async function countUsage(
  places: Places,
  options: HistoryUsageOptions,
): Promise<HistoryUsage> {
  const { by = "day", since, until, model, signal, onProgress } = options;
  const { host, cwd, onWarning } = places;
  const days = new Days(options.zone);
  const unreadable: string[] = [];
  const stores = await places.stores();
  const { usage, isKept } = await openUsage(host, {
    cwd,
    nowMs: Date.now(),
    stores,
    onFailure: (id) => unreadable.push(id),
    onProgress: (done, total) => {
      signal?.throwIfAborted();
      onProgress?.(done, total);
    },
  });
  signal?.throwIfAborted();
  if (!isKept) onWarning("what was counted could not be kept, and is counted again the next time");
  const { agent, project, machine, user } = options;
  const isProject = project === undefined ? undefined : projectFilter(project, cwd);
  // What was counted of sessions that are gone counts, too, unless places are named.
  const named = places.isEverywhere ? {} : { stores };
  const isNoted = await notedFiles(places, options);
  const choice = { agent, isProject, isNoted, machine, user, ...named };
  const isWanted = fileFilter(choice) ?? (() => true);
  const grouping = await groupingOf(places, usage, days, by, isWanted);
  const rows = usage.chosen(days, { since, until, isWanted, model: model?.toLowerCase() });
  const counted = groupBy(usage, rows, grouping).sort(orderOf(by));
  const groups = by === "session" ? await titled(host, usage, counted) : counted.map(untitled);
  return { by, zone: days.zone, groups, total: totalOf(counted), unreadable };
}

/** Those of sessions with the user's tag or star, if they are asked for. */
async function notedFiles(
  places: Places,
  { tag, starred, signal }: HistoryUsageOptions,
): Promise<FileFilter | undefined> {
  if (tag === undefined && starred !== true) return undefined;
  const sessions: ListedSession[] = [];
  const filter = {
    ...(starred && { starred }),
    ...(tag !== undefined && { tag }),
    ...(signal && { signal }),
  };
  for await (const each of listSessions(places, filter)) sessions.push(each);
  return filesOf(sessions);
}

const untitled = (group: Group): UsageGroup => ({ ...group, title: null });

async function titled(host: Host, usage: CountedUsage, groups: Group[]): Promise<UsageGroup[]> {
  const { sessionTitles } = await import("./session-facts.ts");
  const titles = await sessionTitles(host, usage, new Set(groups.map(({ key }) => key)));
  return groups.map((group) => {
    const title = titles.get(group.key)?.title ?? null;
    return { ...group, key: sessionNameIn(group.key), title };
  });
}

async function groupingOf(
  { host }: Places,
  usage: CountedUsage,
  days: Days,
  by: UsageGrouping,
  isWanted: (file: LedgerFile) => boolean,
): Promise<Grouping> {
  const period = PERIODS[by];
  if (period !== undefined) return byPeriod(usage, days, period);
  if (by === "model") return byModel(usage);
  if (by === "session") return bySession(usage);
  if (by === "project") return byFile(usage, (file) => usage.projectOf(file));
  if (by === "agent") return byFile(usage, ({ dialect }) => agentNameOf(dialect));
  if (by === "machine") return byFile(usage, machineNameOf);
  if (by === "user") return byFile(usage, userNameOf);
  const names = await agentNames(host, usage.ledger.files.filter(isWanted));
  return byFile(usage, ({ index }) => names[index] ?? "");
}

function orderOf(by: UsageGrouping): (a: Group, b: Group) => number {
  if (by === "session") return (a, b) => (a.lastAt ?? 0) - (b.lastAt ?? 0);
  if (PERIODS[by] !== undefined) return (a, b) => (a.key < b.key ? -1 : Number(a.key > b.key));
  return (a, b) => b.cost - a.cost || b.total - a.total;
}
