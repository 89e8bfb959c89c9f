/**
 * Figure sessions: the answer to `/v1/usage/insights/sessions`: the sessions behind a figure, whose
 * parts add up to it.
 */

import {
  INSIGHT_FIGURES,
  type InsightFigure,
  type InsightSession,
  type InsightSessions,
} from "../../client/insight-shapes.ts";
import { readRow } from "../../sessions/catalog/pages.ts";
import { agentOf } from "../../sessions/list/whose.ts";
import { eachEdited, eachUse } from "../../sessions/search/indexed-facts.ts";
import type { SearchIndex } from "../../sessions/search/search-index.ts";
import { type SessionUsageFiles, sessionsOf } from "../../usage/prompts/prompt-rows.ts";
import { agentNameOf } from "../../usage/report/agent-choice.ts";
import { type CountedUsage, sessionNameIn } from "../../usage/report/counted-usage.ts";
import { byHour, byModel, bySession, type Group, groupBy } from "../../usage/report/groups.ts";
import { badRequest } from "../http/answer.ts";
import { Query } from "../sessions/query.ts";
import { type Sees, type ServedStore, urlIdOf } from "../sessions/roots.ts";
import type { SessionService } from "../sessions/service.ts";
import { factsOf, INSIGHTS_PARAMETERS, type SeenUsage, usageRequest } from "./usage-request.ts";

export const FIGURE_PARAMETERS = [
  ...INSIGHTS_PARAMETERS,
  "figure",
  "tool",
  "file",
  "hour",
  "model",
] as const;

/** A session, and its part of a figure. */
interface FigurePart {
  /** What its program calls it. */
  readonly name: string;
  readonly value: number | null;
  /** Null: its log is gone. */
  readonly place: ServedStore | null;
  readonly id: string;
  readonly agent?: string;
  readonly unpriced?: number;
  readonly unknownInputs?: number;
  readonly start?: number;
  readonly title?: string | null;
}

export async function figureAnswer(
  service: SessionService,
  url: string,
  sees: Sees,
): Promise<InsightSessions> {
  const query = new Query(url, FIGURE_PARAMETERS);
  const request = usageRequest(service, query, sees);
  const figure = figureIn(query);
  const { answer, isComplete } = await fromCounts(service, [], (index, usage) => {
    return query.text("tool") === null && query.text("file") === null
      ? responseParts(usage, request, query, figure)
      : factParts(index, usage, request, query, figure);
  });
  const parts = answer.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
  return {
    figure,
    total: parts.reduce((sum, { value }) => sum + value, 0),
    count: parts.length,
    sessions: await sessionItems(service, parts.slice(0, request.limit)),
    isComplete,
  };
}

type Part = FigurePart & { readonly value: number };

/** Waits for the count and for the index at the same time. */
export async function fromCounts<T>(
  service: SessionService,
  nothing: T,
  ask: (index: SearchIndex, usage: CountedUsage) => T | Promise<T>,
) {
  const counts = service.usage.now();
  counts.catch(() => {}); // Thrown below, when the index has been waited for.
  const { answer, isComplete } = await service.search.ask(async (index) => {
    const { opened } = await counts;
    return opened === null ? nothing : ask(index, opened.usage);
  });
  const { counting, unreadable } = await counts;
  return { answer, isComplete: isComplete && counting === null, unreadable };
}

function figureIn(query: Query): InsightFigure {
  const names = (["tool", "file", "hour"] as const).filter((name) => query.text(name) !== null);
  if (names.length > 1) throw badRequest("the query", `must have only one of ${names.join(", ")}`);
  const [name = "hour"] = names;
  const figures: readonly InsightFigure[] = INSIGHT_FIGURES[name === "hour" ? "responses" : name];
  const figure = query.choice("figure", figures);
  if (figure === null) throw badRequest("figure", `is missing: one of ${figures.join(", ")}`);
  return figure;
}

function responseParts(
  usage: CountedUsage,
  request: SeenUsage,
  query: Query,
  figure: InsightFigure,
): Part[] {
  let rows = usage.chosen(request.days, request.choice);
  for (const [grouping, name] of [
    [byHour(usage, request.days), query.text("hour")],
    [byModel(usage), query.text("model")],
  ] as const) {
    if (name === null) continue;
    const numbers = grouping.numbers(rows);
    rows = rows.filter((_, n) => grouping.textOf(numbers[n] ?? 0) === name);
  }
  const groups = groupBy(usage, rows, bySession(usage));
  return groupParts(request, sessionsOf(usage), groups, (group) => group[figure as "total"]);
}

async function factParts(
  index: SearchIndex,
  usage: CountedUsage,
  request: SeenUsage,
  query: Query,
  figure: InsightFigure,
): Promise<Part[]> {
  const { choice, pathOf } = factsOf(request, usage);
  const [tool, file] = [query.text("tool"), query.text("file")];
  const parts = new Map<string, Part>();
  const add = (place: ServedStore, id: string, value: number, more: { start?: number } = {}) => {
    const key = urlIdOf(place, id);
    parts.set(key, { name: id, place, id, value: (parts.get(key)?.value ?? 0) + value, ...more });
  };
  if (tool === null) {
    await eachEdited(index, choice, (name, edits, session) => {
      if (pathOf(name, session) === file) add(session.place, session.id, edits);
    });
  } else {
    await eachUse(index, choice, tool, (row, { place, id }) => {
      const isTime = figure === "totalMs";
      const slowest = isTime ? { start: Number(row.slowest_start) } : {};
      add(place, id, Number(row[isTime ? "total_ms" : figure]), slowest);
    });
  }
  return [...parts.values()];
}

/** Where the log of a session is; null: it is gone, or not seen. */
export function placeOf({ storeOf }: SeenUsage, { own }: Pick<SessionUsageFiles, "own">) {
  for (const file of own) {
    const place = storeOf(file);
    if (place !== undefined) return { place, id: file.id };
  }
  return null;
}

/** Sessions as the ledger names them, with their subagents. */
export function groupParts<V extends number | null>(
  request: SeenUsage,
  sessions: ReadonlyMap<string, SessionUsageFiles>,
  groups: readonly Group[],
  partOf: (group: Group) => V,
) {
  return groups.map((group) => {
    const { key, unpriced, unknownInputs } = group;
    const { place, id } = placeOf(request, sessions.get(key) ?? { own: [] }) ?? {
      place: null,
      id: "",
    };
    const agent = agentNameOf(key.slice(0, key.indexOf("\0")));
    return {
      name: sessionNameIn(key),
      value: partOf(group),
      agent,
      place,
      id,
      unpriced,
      unknownInputs,
    };
  });
}

/** In the same order, with what the catalog knows of each. */
export async function sessionItems(
  service: SessionService,
  parts: readonly FigurePart[],
): Promise<InsightSession[]> {
  const catalog = await service.catalog();
  let isFresh = false;
  const items: InsightSession[] = [];
  for (const { place, id, name, value, agent = "", start = null, title, ...sums } of parts) {
    let row = place && (await readRow(catalog, place.dialect, place.root, id));
    if (place !== null && row === null && !isFresh) {
      isFresh = true;
      await service.freshen();
      row = await readRow(catalog, place.dialect, place.root, id);
    }
    // The catalog may still have what is gone.
    const known = place && row && (await service.refreshed(place, row));
    if (place && known) row = service.notes.book.row(place, known.row);
    items.push({
      session: place && known && urlIdOf(place, id),
      name,
      title: title ?? row?.title ?? null,
      agent: place === null ? agent : agentOf({ ...place, agent: row?.agent ?? null }),
      project: row?.project ?? null,
      at: row?.updatedAt ?? null,
      start,
      value,
      unpriced: sums.unpriced ?? 0,
      unknownInputs: sums.unknownInputs ?? 0,
    });
  }
  return items;
}
