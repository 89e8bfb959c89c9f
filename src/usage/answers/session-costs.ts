/** Session costs: what a session cost, by prompt and by tool call, from the same count. */

import type { SessionCosts } from "../../client/usage-shapes.ts";
import { type PromptGroup, PromptRows } from "../prompts/prompt-rows.ts";
import { sessionAt } from "../prompts/sessions.ts";
import type { Trace } from "../prompts/trace.ts";
import type { CountedUsage } from "../report/counted-usage.ts";
import { Days } from "../report/days.ts";
import { totalOf } from "../report/groups.ts";
import { Slices } from "../slices.ts";
import type { LiveUsage } from "./live-usage.ts";
import { sumsItem } from "./sums.ts";

/** `id` names it in the API. */
export async function sessionCosts(
  live: LiveUsage,
  { dialect, root, session }: { dialect: string; root: string; session: string },
  id: string,
): Promise<SessionCosts> {
  const untilMs = live.deadlineMs;
  const { opened, counting } = await live.now();
  const usage = opened?.usage;
  const found = usage && sessionAt(usage, dialect, root, session);
  const none = { id, total: sumsItem(totalOf([])), prompts: [], calls: [], subagents: 0, counting };
  if (usage === undefined || !found) return none;
  const slices = new Slices();
  const chosen = usage.chosen(new Days("UTC"));
  await slices.pause();
  const rows = new PromptRows(usage, chosen);
  const { file } = found;
  const trace = await live.traceOf({ ...found, name: file.path, own: [file] }, untilMs);
  const groups = rows.groups(found, trace ?? null);
  return {
    ...none,
    total: sumsItem(totalOf(groups)),
    prompts: groups.map(promptItem),
    calls: trace ? callsOf(usage, trace) : [],
    subagents: groups.reduce((sum, { subagents }) => sum + subagents, 0),
    counting: trace === undefined ? (counting ?? { done: 0, total: 1 }) : counting,
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
