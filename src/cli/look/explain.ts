/**
 * Explain: prints every row of a session, its price, and each duplicate with why it is ignored; then
 * what each prompt cost, with the subagents that it started.
 */

import { nodeHost } from "../../core/base/node-host.ts";
import { safeLine } from "../../sessions/render/text.ts";
import type { PriceBook } from "../../usage/prices/price-book.ts";
import { type PromptGroup, PromptRows, sessionsOf } from "../../usage/prompts/prompt-rows.ts";
import { traceCopies } from "../../usage/prompts/trace.ts";
import type { CountedUsage } from "../../usage/report/counted-usage.ts";
import { Days } from "../../usage/report/days.ts";
import { explainSession } from "../../usage/report/explain.ts";
import { type Io, UsageError } from "../command/command.ts";
import { jsonLine } from "../command/output.ts";
import { formatTable } from "../command/table.ts";
import { costText, dollars, tokens, totalText } from "./usage-numbers.ts";
import { costOrNull } from "./usage-text.ts";

const CANDIDATES_MAX = 10;

export async function explain(
  usage: CountedUsage,
  book: PriceBook,
  id: string,
  isJson: boolean,
  io: Io,
): Promise<number> {
  const session = sessionNamed(usage, id);
  const rows = await explainSession(nodeHost, usage, session);
  const cost = rows.reduce((sum, row) => sum + (row.cost ?? 0), 0);
  const models = [...new Set(rows.map(({ model }) => model))];
  const prices = models.map((model) => ({ model, ...book.sourceOf(model) }));
  const prompts = await promptsOf(usage, session);
  if (isJson) {
    const listed = prices.map(({ model, table, hash, at }) => ({ model, table, hash, at }));
    const ofPrompts = prompts.map(promptJson);
    await io.print(jsonLine({ session, cost, prices: listed, rows, prompts: ofPrompts }));
    return 0;
  }
  const right = { align: "right" } as const;
  const columns = [
    { heading: "time" },
    { heading: "model" },
    { heading: "input", ...right },
    { heading: "output", ...right },
    { heading: "write 5m", ...right },
    { heading: "write 1h", ...right },
    { heading: "cache read", ...right },
    { heading: "cost", ...right },
    { heading: "", widthMin: 10 },
  ];
  const cells = rows.map(({ at, model, counts, cost: each, ignored, notes }) => [
    at ?? "unknown",
    model,
    tokens(counts.input),
    tokens(counts.output),
    tokens(counts.cacheWrite5m),
    tokens(counts.cacheWrite1h),
    tokens(counts.cacheRead),
    each === null ? "unknown" : ignored === null ? dollars(each) : "-",
    ignored === null ? notes.join(", ") : `ignored: ${ignored}`,
  ]);
  const lines = formatTable(columns, cells);
  const sources = prices.map(({ model, table, hash, at }) => {
    return `${model}: prices of ${table ?? "no table"} ${hash ?? ""}, decided ${at ?? "never"}`;
  });
  const sum = `session ${session}: ${dollars(cost)}`;
  const last = [sum, ...sources].map(safeLine);
  await io.print(`${[...lines, "", ...promptLines(prompts), "", ...last].join("\n")}\n`);
  return 0;
}

async function promptsOf(usage: CountedUsage, name: string): Promise<PromptGroup[]> {
  const session = [...sessionsOf(usage).values()].find((each) => each.name === name);
  if (session === undefined) return [];
  const rows = new PromptRows(usage, usage.chosen(new Days("UTC")));
  return rows.groups(session, await traceCopies(nodeHost, session.own));
}

const PROMPT_CHARS_MAX = 60;
const BEFORE = "(before the first prompt, or the log is gone)";

function promptJson(group: PromptGroup): object {
  const { prompt, responses, total, subagents } = group;
  const at = prompt === null || Number.isNaN(prompt.at) ? null : new Date(prompt.at).toISOString();
  const place = { start: prompt?.start ?? null, at, text: prompt?.text ?? null };
  return { ...place, cost: costOrNull(group), tokens: total, responses, subagents };
}

function shortened(text: string): string {
  return text.length > PROMPT_CHARS_MAX ? `${text.slice(0, PROMPT_CHARS_MAX - 1)}…` : text;
}

function promptLines(prompts: readonly PromptGroup[]): string[] {
  const right = { align: "right" } as const;
  const columns = [
    { heading: "prompt", widthMin: 20 },
    { heading: "responses", ...right },
    { heading: "subagents", ...right },
    { heading: "tokens", ...right },
    { heading: "cost", ...right },
  ];
  const cells = prompts.map((group) => [
    shortened(group.prompt?.text ?? BEFORE),
    tokens(group.responses),
    tokens(group.subagents),
    totalText(group),
    costText(group),
  ]);
  return formatTable(columns, cells);
}

function sessionNamed(usage: CountedUsage, id: string): string {
  const wanted = id.slice(id.lastIndexOf("/") + 1);
  const all = new Set(usage.ledger.files.map((file) => usage.sessionOf(file)));
  if (all.has(wanted)) return wanted;
  const names = [...all].filter((name) => name.startsWith(wanted));
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  const listed = names.slice(0, CANDIDATES_MAX).join(", ");
  throw new UsageError(
    only === undefined
      ? `no session that was counted is called ${id}; \`verbatim usage session\` lists them`
      : `${id} may be one of ${names.length} sessions: ${listed}`,
  );
}
