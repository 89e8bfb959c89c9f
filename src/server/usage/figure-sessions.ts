/**
 * Figure sessions: the answer to `/v1/usage/insights/sessions`: the sessions behind a figure, whose
 * parts add up to it.
 */

import {
  type FigureKind,
  INSIGHT_FIGURES,
  type InsightFigure,
  type InsightSession,
  type InsightSessions,
} from "../../client/insight-shapes.ts";
import type { SessionRow } from "../../dialects/session-row.ts";
import { readPage } from "../../sessions/catalog/page-rows.ts";
import { agentOf } from "../../sessions/list/whose.ts";
import { eachEdited, eachUse } from "../../sessions/search/indexed-facts.ts";
import { sessionsOf } from "../../usage/prompts/prompt-rows.ts";
import { agentNameOf } from "../../usage/report/agent-choice.ts";
import { type CountedUsage, sessionNameIn } from "../../usage/report/counted-usage.ts";
import { byHour, byModel, bySession, groupBy } from "../../usage/report/groups.ts";
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
  readonly value: number;
  /** Null: its log is gone. */
  readonly place: ServedStore | null;
  readonly id: string;
  readonly agent?: string;
  readonly start?: number;
  readonly title?: string | null;
}

export async function figureAnswer(
  service: SessionService,
  url: string,
  sees: Sees,
): Promise<InsightSessions> {
  const query = new Query(url, FIGURE_PARAMETERS);
  const usageQuery = usageRequest(service, query, sees);
  const { kind, figure } = figureIn(query);
  const { opened, counting } = await service.usage.now();
  const usage = opened?.usage;
  const behind =
    kind === "responses"
      ? { answer: usage ? responseParts(usage, usageQuery, query, figure) : [], isComplete: true }
      : await factParts(service, usageQuery, usage, query, figure);
  const parts = behind.answer.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
  return {
    figure,
    total: parts.reduce((sum, { value }) => sum + value, 0),
    count: parts.length,
    sessions: await sessionItems(service, parts.slice(0, usageQuery.limit)),
    isComplete: behind.isComplete && counting === null,
  };
}

function figureIn(query: Query): { readonly kind: FigureKind; readonly figure: InsightFigure } {
  const parameters = (["tool", "file", "hour"] as const).filter(
    (name) => query.text(name) !== null,
  );
  if (parameters.length > 1)
    throw badRequest("the query", `must have only one of ${parameters.join(", ")}`);
  const [name = "hour"] = parameters;
  const kind = name === "hour" ? "responses" : name;
  const figures: readonly InsightFigure[] = INSIGHT_FIGURES[kind];
  const figure = query.choice("figure", figures);
  if (figure === null) throw badRequest("figure", `is missing: one of ${figures.join(", ")}`);
  return { kind, figure };
}

function responseParts(
  usage: CountedUsage,
  usageQuery: SeenUsage,
  query: Query,
  figure: InsightFigure,
): FigurePart[] {
  let rows = usage.chosen(usageQuery.days, usageQuery.choice);
  for (const [grouping, wanted] of [
    [byHour(usage, usageQuery.days), query.text("hour")],
    [byModel(usage), query.text("model")],
  ] as const) {
    if (wanted === null) continue;
    const numbers = grouping.numbers(rows);
    rows = rows.filter((_, n) => grouping.textOf(numbers[n] ?? 0) === wanted);
  }
  const groups = groupBy(usage, rows, bySession(usage));
  const parts = groups.map((group) => ({ key: group.key, value: group[figure as "total"] }));
  return groupParts(usageQuery, usage, parts);
}

function factParts(
  service: SessionService,
  usageQuery: SeenUsage,
  usage: CountedUsage | undefined,
  query: Query,
  figure: InsightFigure,
) {
  const { choice, pathOf } = factsOf(usageQuery, usage);
  const [tool, file] = [query.text("tool"), query.text("file")];
  return service.search.ask(async (index) => {
    const parts = new Map<string, FigurePart>();
    const add = (place: ServedStore, id: string, value: number, more: { start?: number } = {}) => {
      const before = parts.get(urlIdOf(place, id))?.value ?? 0;
      parts.set(urlIdOf(place, id), { name: id, place, id, value: before + value, ...more });
    };
    if (tool !== null) {
      await eachUse(index, choice, tool, (row, { place, id }) => {
        const isTime = figure === "totalMs";
        const slowest = isTime ? { start: Number(row.slowest_start) } : {};
        add(place, id, Number(row[isTime ? "total_ms" : figure]), slowest);
      });
    } else {
      await eachEdited(index, choice, (each, edits, session) => {
        if (pathOf(each, session) === file) add(session.place, session.id, edits);
      });
    }
    return [...parts.values()];
  });
}

/** Sessions as the ledger names them, with their subagents. */
export function groupParts(
  { storeOf }: SeenUsage,
  usage: CountedUsage,
  groups: readonly { readonly key: string; readonly value: number }[],
): FigurePart[] {
  const all = sessionsOf(usage);
  return groups.map(({ key, value }) => {
    const own = all.get(key)?.own.find((file) => storeOf(file) !== undefined);
    const agent = agentNameOf(key.slice(0, key.indexOf("\0")));
    const place = (own && storeOf(own)) ?? null;
    return { name: sessionNameIn(key), value, agent, place, id: own?.id ?? "" };
  });
}

/** In the same order, with what the catalog knows of each. */
export async function sessionItems(
  service: SessionService,
  parts: readonly FigurePart[],
): Promise<InsightSession[]> {
  const catalog = await service.catalog();
  const rows = new Map<string, SessionRow>();
  const places = new Set(parts.flatMap(({ place }) => place ?? []));
  const read = async () => {
    for (const place of places) {
      const ids = parts.filter((part) => part.place === place).map(({ id }) => id);
      const page = { ids, from: null, limit: ids.length };
      for (const { row } of await readPage(catalog, place.dialect, place.root, page)) {
        rows.set(urlIdOf(place, row.id), service.notes.book.row(place, row));
      }
    }
  };
  await read();
  if (parts.some(({ place, id }) => place !== null && !rows.has(urlIdOf(place, id)))) {
    await service.freshen();
    await read();
  }
  return parts.map(({ place, id, name, value, agent = "", start = null, title }) => {
    const session = place && urlIdOf(place, id);
    const row = session === null ? undefined : rows.get(session);
    return {
      session,
      name,
      title: title ?? row?.title ?? null,
      agent: place === null ? agent : agentOf({ ...place, agent: row?.agent ?? null }),
      project: row?.project ?? null,
      at: row?.updatedAt ?? null,
      start,
      value,
    };
  });
}
