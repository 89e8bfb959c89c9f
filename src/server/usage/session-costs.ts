/**
 * Session costs: what a session cost, by prompt and by tool call, from the same count.
 *
 * A viewer requests many small ranges: what was last counted is kept until the count or the log
 * changes.
 */

import type { CostRange, SessionCosts } from "../../client/usage-shapes.ts";
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
import type { LiveUsage } from "./live-usage.ts";
import { sumsItem } from "./sums.ts";

/** `id` names it in the API. */
export async function sessionCosts(
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

type Counted = Pick<SessionCosts, "total" | "prompts" | "calls" | "subagents">;

interface Last {
  readonly id: string;
  readonly version: number;
  readonly trace: Trace | null | undefined;
  readonly counted: Counted;
}

const last = new WeakMap<LiveUsage, Last>();

async function count(
  usage: CountedUsage,
  found: SessionUsageFiles,
  trace: Trace | null | undefined,
): Promise<Counted> {
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
  { prompts, calls, ...sums }: Counted,
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
