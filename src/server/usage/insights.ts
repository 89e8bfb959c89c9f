/**
 * Insights: the answer to `/v1/usage/insights`.
 *
 * - Responses are those of the usage ledger, so that totals are those of `usage`. Tools, edits and
 *   the times of prompts are facts of the search index, which knows days in UTC only.
 */

import { type InsightSession, type Insights, PERIODS } from "../../client/insight-shapes.ts";
import { typedText } from "../../dialects/shared/typed-text.ts";
import { senderOf } from "../../sessions/list/whose.ts";
import {
  eachEdited,
  longestPrompts,
  type TimedPrompt,
} from "../../sessions/search/indexed-facts.ts";
import type { SearchIndex } from "../../sessions/search/search-index.ts";
import { readHits } from "../../sessions/search/search-page.ts";
import { sumTools } from "../../sessions/search/tool-report.ts";
import type { LedgerFile } from "../../usage/ledger/pack.ts";
import { byCost } from "../../usage/prompts/prompt-rows.ts";
import { agentNameOf } from "../../usage/report/agent-choice.ts";
import type { CountedUsage } from "../../usage/report/counted-usage.ts";
import { dayNumber, dayText, periodText } from "../../usage/report/days.ts";
import {
  byFile,
  byHour,
  byPeriod,
  bySession,
  groupBy,
  totalOf,
} from "../../usage/report/groups.ts";
import { Slices } from "../../usage/slices.ts";
import { Query } from "../sessions/query.ts";
import type { Sees, ServedStore } from "../sessions/roots.ts";
import { toolItem } from "../sessions/search.ts";
import type { SessionService } from "../sessions/service.ts";
import { groupParts, sessionItems } from "./figure-sessions.ts";
import { groupItem, listedOf, sumsItem } from "./usage-report.ts";
import {
  type Facts,
  factsOf,
  INSIGHTS_PARAMETERS,
  type SeenUsage,
  usageRequest,
} from "./usage-request.ts";

/** A range of more days is shown by weeks, and one of more by months. */
const DAYS_MAX = { day: 31, week: 182, month: Number.POSITIVE_INFINITY } as const;

export async function insightsAnswer(
  service: SessionService,
  url: string,
  sees: Sees,
): Promise<Insights> {
  const usageQuery = usageRequest(service, new Query(url, INSIGHTS_PARAMETERS), sees);
  const untilMs = service.usage.deadlineMs;
  const { opened, counting, unreadable } = await service.usage.now();
  const usage = opened?.usage;
  const counted = await countedOf(service, usageQuery, usage, untilMs);
  const facts = factsOf(usageQuery, usage);
  const fromIndex = await service.search.ask(async (index) => ({
    tools: await sumTools(index, { ...facts.choice, toolsMax: service.limits.usageToolsMax }),
    files: await editedFiles(index, facts),
    prompts: await longestPrompts(index, facts.typed, usageQuery.limit),
  }));
  const { tools, files, prompts } = fromIndex.answer;
  const ofSeen = [...(usage?.ledger.files ?? [])].filter(usageQuery.isSeen);
  const cut = <T>(all: readonly T[]) => all.slice(0, usageQuery.groupsMax);
  const names = (nameOf: (file: LedgerFile) => string | null | undefined) =>
    cut([...new Set(ofSeen.flatMap((file) => nameOf(file) ?? []))].sort());
  return {
    zone: usageQuery.days.zone,
    ...counted.answer,
    tools: tools.tools.map(toolItem),
    files: cut(files),
    longestPrompts: await promptItems(service, prompts),
    agents: names(agentOfFile),
    projects: names(({ project }) => project),
    machines: names(({ root }) => senderOf(root)?.machine),
    users: names(({ root }) => senderOf(root)?.user),
    isComplete: fromIndex.isComplete && counting === null && counted.isComplete,
    isCut: tools.isCut || files.length > usageQuery.groupsMax,
    unreadable,
  };
}

const agentOfFile = ({ dialect }: LedgerFile) => agentNameOf(dialect);

/** What comes from the ledger. */
async function countedOf(
  service: SessionService,
  usageQuery: SeenUsage,
  usage: CountedUsage | undefined,
  untilMs: number,
) {
  const total = sumsItem(totalOf([]));
  const none = { hours: [], periods: [], sessions: [], longestSessions: [], prompts: [] };
  const answer = { total, period: "day", ...none } as const;
  if (usage === undefined) return { answer, isComplete: false };
  const { days, choice, limit } = usageQuery;
  const slices = new Slices();
  const rows = usage.chosen(days, choice);
  await slices.pause();
  const hours = groupBy(usage, rows, byHour(usage, days));
  await slices.pause();
  const groups = groupBy(usage, rows, bySession(usage)).sort(byCost);
  await slices.pause();
  const listing = { live: service.usage, usage, rows, groups, untilMs, slices };
  const { isComplete, ...dearest } = await listedOf(listing, usageQuery);
  const lengths = groups.map(({ key, firstAt, lastAt }) => {
    return { key, value: (lastAt ?? 0) - (firstAt ?? 0) };
  });
  const longest = lengths.sort((a, b) => b.value - a.value).slice(0, limit);
  const longestSessions = await sessionItems(service, groupParts(usageQuery, usage, longest));
  const agents = groupBy(usage, rows, byFile(usage, agentOfFile)).sort(byCost);
  const counted = { total: sumsItem(totalOf(agents)), hours: hours.map(groupItem) };
  const periods = periodsOf(usage, rows, usageQuery);
  return { answer: { ...counted, ...periods, ...dearest, longestSessions }, isComplete };
}

function periodsOf(
  usage: CountedUsage,
  rows: Uint32Array,
  { days }: SeenUsage,
): Pick<Insights, "period" | "periods"> {
  const used = groupBy(usage, rows, byPeriod(usage, days, "day"));
  const numbers = used.map(({ key }) => dayNumber(key)).filter((day) => !Number.isNaN(day));
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const period = PERIODS.find((each) => !(last - first >= DAYS_MAX[each])) ?? "month";
  const periods = groupBy(usage, rows, byPeriod(usage, days, period)).map((group) => {
    const ofPeriod = numbers.filter((day) => periodText(day, period) === group.key);
    const isTimed = ofPeriod.length > 0;
    const [start, end] = [Math.min(...ofPeriod), Math.max(...ofPeriod)];
    return {
      name: group.key,
      since: isTimed ? dayText(start) : null,
      until: isTimed ? dayText(end) : null,
      total: sumsItem(group),
      models: group.models.map(({ model, ...sums }) => ({ name: model, ...sumsItem(sums) })),
    };
  });
  return { period, periods: periods.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

async function editedFiles(
  index: SearchIndex,
  { choice, pathOf }: Facts,
): Promise<Insights["files"]> {
  const files = new Map<string, { edits: number; readonly sessions: Set<string> }>();
  await eachEdited(index, choice, (file, edits, session) => {
    const path = pathOf(file, session);
    const known = files.get(path) ?? { edits: 0, sessions: new Set() };
    known.edits += edits;
    known.sessions.add(`${session.place.key} ${session.id}`);
    files.set(path, known);
  });
  return Array.from(files, ([file, { edits, sessions }]) => {
    return { file, edits, sessions: sessions.size };
  }).sort((a, b) => b.edits - a.edits || (a.file < b.file ? -1 : 1));
}

/** Without words, a hit is the beginning of its text. */
const BEGINNING = { terms: [], without: [], filters: [] };

/** With the beginning of what was typed; those that are gone are left out. */
async function promptItems(
  service: SessionService,
  prompts: readonly TimedPrompt<ServedStore>[],
): Promise<InsightSession[]> {
  const entries = prompts.map((prompt, entry) => {
    return { ...prompt, entry, at: null, note: null, tools: [] };
  });
  const parts = [];
  for await (const hit of readHits(service.host, BEGINNING, entries)) {
    const { place, id, start, entry, snippet } = hit;
    const title = typedText(snippet.map(({ text }) => text).join(""));
    parts.push({ name: id, place, id, start, title, value: prompts[entry]?.ms ?? 0 });
  }
  return sessionItems(service, parts);
}
