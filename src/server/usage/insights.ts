/**
 * Insights: the answer to `/v1/usage/insights`. No log is read but for the texts of listed prompts.
 *
 * - Responses are those of the usage ledger, so that totals are those of `usage`. Tools, edits and
 *   the times of prompts are facts of the search index, which knows days in UTC only. A response
 *   belongs to the last prompt before it by their times.
 */

import { type InsightSession, type Insights, PERIODS } from "../../client/insight-shapes.ts";
import { typedText } from "../../dialects/shared/typed-text.ts";
import { senderOf } from "../../sessions/list/whose.ts";
import {
  eachEdited,
  type FactSession,
  longestPrompts,
} from "../../sessions/search/indexed-facts.ts";
import type { SearchIndex } from "../../sessions/search/search-index.ts";
import { readHits } from "../../sessions/search/search-page.ts";
import { sumTools } from "../../sessions/search/tool-report.ts";
import type { LedgerFile } from "../../usage/ledger/pack.ts";
import {
  byCost,
  dearestPrompts,
  PromptRows,
  type SessionUsageFiles,
  sessionsOf,
} from "../../usage/prompts/prompt-rows.ts";
import type { TracedPrompt } from "../../usage/prompts/trace.ts";
import { agentNameOf } from "../../usage/report/agent-choice.ts";
import type { CountedUsage } from "../../usage/report/counted-usage.ts";
import { dayNumber, periodText, UNKNOWN } from "../../usage/report/days.ts";
import {
  byFile,
  byHour,
  byPeriod,
  bySession,
  type Group,
  type Grouping,
  groupBy,
  totalOf,
} from "../../usage/report/groups.ts";
import { Slices } from "../../usage/slices.ts";
import { Query } from "../sessions/query.ts";
import { type Sees, type ServedStore, urlIdOf } from "../sessions/roots.ts";
import { toolItem } from "../sessions/search.ts";
import type { SessionService } from "../sessions/service.ts";
import { fromCounts, groupParts, placeOf, sessionItems } from "./figure-sessions.ts";
import { groupItem, READ_MAX, sumsItem } from "./usage-report.ts";
import {
  type Facts,
  factsOf,
  INSIGHTS_PARAMETERS,
  type SeenUsage,
  usageRequest,
} from "./usage-request.ts";

/** A range of more days is shown by weeks, and one of more by months. */
const DAYS_MAX = { day: 31, week: 182, month: Number.POSITIVE_INFINITY } as const;

type Figures = Omit<Insights, "zone" | "isComplete" | "unreadable">;

const NOTHING: Figures = {
  total: sumsItem(totalOf([])),
  hours: [],
  period: "day",
  periods: [],
  tools: [],
  files: [],
  sessions: [],
  longestSessions: [],
  prompts: [],
  longestPrompts: [],
  agents: [],
  projects: [],
  machines: [],
  users: [],
  isCut: false,
};

export async function insightsAnswer(
  service: SessionService,
  url: string,
  sees: Sees,
): Promise<Insights> {
  const request = usageRequest(service, new Query(url, INSIGHTS_PARAMETERS), sees);
  const { answer, ...state } = await fromCounts(service, NOTHING, (index, usage) => {
    return figuresOf(service, request, index, usage);
  });
  return { zone: request.days.zone, ...answer, ...state };
}

async function figuresOf(
  service: SessionService,
  request: SeenUsage,
  index: SearchIndex,
  usage: CountedUsage,
): Promise<Figures> {
  const { days, choice, limit, groupsMax, isSeen } = request;
  const slices = new Slices();
  const rows = usage.chosen(days, choice);
  const grouped = async (grouping: Grouping) => {
    await slices.pause();
    return groupBy(usage, rows, grouping).sort(byCost);
  };
  const agents = await grouped(byFile(usage, agentOf));
  const hours = await grouped(byHour(usage, days));
  const daily = await grouped(byPeriod(usage, days, "day"));
  const sessions = await grouped(bySession(usage));
  const longest = [...sessions].sort((a, b) => lengthOf(b) - lengthOf(a)).slice(0, limit);
  const logs = sessionsOf(usage);
  const facts = factsOf(request, usage);
  const tools = await sumTools(index, { ...facts.choice, toolsMax: service.limits.usageToolsMax });
  const files = await editedFiles(index, facts);
  const prompts = { rows: new PromptRows(usage, rows), groups: sessions, sessions: logs, slices };
  const dearest = await dearestOf(request, index, prompts);
  const slowest = await longestPrompts(index, facts.typed, limit);
  const cut = <T>(all: readonly T[]) => all.slice(0, groupsMax);
  const names = (nameOf: (file: LedgerFile) => string | null | undefined) =>
    cut(
      [...new Set(usage.ledger.files.filter(isSeen).flatMap((each) => nameOf(each) ?? []))].sort(),
    );
  const itemsOf = (groups: readonly Group[], partOf: (group: Group) => number | null) =>
    sessionItems(service, groupParts(request, logs, groups, partOf));
  return {
    total: sumsItem(totalOf(agents)),
    hours: hours.map(groupItem),
    ...periodsOf(daily),
    tools: tools.tools.map(toolItem),
    files: cut(files),
    sessions: await itemsOf(sessions.slice(0, limit), costOf),
    longestSessions: await itemsOf(longest, lengthOf),
    prompts: await promptItems(service, dearest),
    longestPrompts: await promptItems(
      service,
      slowest.map((prompt) => ({ ...prompt, value: prompt.ms })),
    ),
    agents: names(agentOf),
    projects: names(({ project }) => project),
    machines: names(({ root }) => senderOf(root)?.machine),
    users: names(({ root }) => senderOf(root)?.user),
    isCut: tools.isCut || files.length > groupsMax,
  };
}

const agentOf = ({ dialect }: LedgerFile) => agentNameOf(dialect);
const lengthOf = ({ firstAt, lastAt }: Group) => (lastAt ?? 0) - (firstAt ?? 0);
const costOf = (group: Group) => sumsItem(group).cost;

function periodsOf(daily: readonly Group[]): Pick<Insights, "period" | "periods"> {
  const dated = daily
    .filter(({ key }) => key !== UNKNOWN)
    .map(({ key }) => key)
    .sort();
  const length = dayNumber(dated.at(-1) ?? "") - dayNumber(dated[0] ?? "");
  const period = PERIODS.find((each) => !(length >= DAYS_MAX[each])) ?? "month";
  const periods = new Map<string, Group[]>();
  for (const day of daily) {
    const name = day.key === UNKNOWN ? UNKNOWN : periodText(dayNumber(day.key), period);
    periods.set(name, [...(periods.get(name) ?? []), day]);
  }
  return {
    period,
    periods: Array.from(
      [...periods].sort(([a], [b]) => (a < b ? -1 : 1)),
      ([name, groups]) => {
        const { models, ...sums } = totalOf(groups);
        const days = name === UNKNOWN ? [] : groups.map(({ key }) => key).sort();
        return {
          name,
          since: days[0] ?? null,
          until: days.at(-1) ?? null,
          total: sumsItem(sums),
          models: models.map((each) => ({ name: each.model, ...sumsItem(each) })),
        };
      },
    ),
  };
}

async function editedFiles(
  index: SearchIndex,
  { choice, pathOf }: Facts,
): Promise<Insights["files"]> {
  const files = new Map<string, { edits: number; readonly sessions: Set<FactSession> }>();
  await eachEdited(index, choice, (name, edits, session) => {
    const path = pathOf(name, session);
    const file = files.get(path) ?? { edits: 0, sessions: new Set() };
    file.edits += edits;
    file.sessions.add(session);
    files.set(path, file);
  });
  return Array.from(files, ([file, { edits, sessions }]) => {
    return { file, edits, sessions: sessions.size };
  }).sort((a, b) => b.edits - a.edits || (a.file < b.file ? -1 : 1));
}

interface ListedPrompt {
  readonly place: ServedStore;
  readonly id: string;
  readonly start: number;
  readonly value: number | null;
  readonly unpriced?: number;
  readonly unknownInputs?: number;
}

interface DearOptions {
  readonly rows: PromptRows;
  readonly groups: readonly Group[];
  readonly sessions: ReadonlyMap<string, SessionUsageFiles>;
  readonly slices: Slices;
}

/** As `usage` finds them, with times of the index instead of the logs. */
async function dearestOf(
  request: SeenUsage,
  index: SearchIndex,
  { rows, groups, sessions, slices }: DearOptions,
): Promise<ListedPrompt[]> {
  const { limit, stores: places } = request;
  const keyOf = (session: SessionUsageFiles | undefined) => {
    const log = session && placeOf(request, session);
    return log ? urlIdOf(log.place, log.id) : "";
  };
  const dear = groups.slice(0, READ_MAX).map(({ key }) => keyOf(sessions.get(key)));
  const traces = new Map(dear.map((key) => [key, [] as TracedPrompt[]]));
  const isWanted = (place: ServedStore, id: string) => traces.has(urlIdOf(place, id));
  const answered = await longestPrompts(index, { places, since: null, until: null, isWanted });
  for (const { place, id, start, at } of answered.sort((a, b) => a.start - b.start)) {
    traces.get(urlIdOf(place, id))?.push({ start, at, text: "" });
  }
  const { prompts } = await dearestPrompts({
    groups,
    sessions,
    rows,
    limit,
    sessionsMax: READ_MAX,
    pause: () => slices.pause(),
    traceOf: async (session) => {
      const prompts = traces.get(keyOf(session)) ?? [];
      return { prompts, responses: [], calls: [], started: new Map() };
    },
  });
  return prompts.flatMap(({ prompt, session, ...group }) => {
    const log = placeOf(request, session);
    const { unpriced, unknownInputs } = group;
    const value = costOf(group);
    return prompt && log ? [{ ...log, start: prompt.start, value, unpriced, unknownInputs }] : [];
  });
}

/** Without words, a hit is the beginning of its text. */
const BEGINNING = { terms: [], without: [], filters: [] };

/** With the beginning of what was typed; those that are gone are left out. */
async function promptItems(
  service: SessionService,
  prompts: readonly ListedPrompt[],
): Promise<InsightSession[]> {
  const entries = prompts.map(({ place, id, start }, entry) => {
    return { place, id, start, entry, at: null, note: null, tools: [] };
  });
  const parts = [];
  for await (const { entry, snippet } of readHits(service.host, BEGINNING, entries)) {
    const prompt = prompts[entry];
    const title = typedText(snippet.map(({ text }) => text).join(""));
    if (prompt !== undefined) parts.push({ ...prompt, name: prompt.id, title });
  }
  return sessionItems(service, parts);
}
