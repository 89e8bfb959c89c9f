/** Explain: every response of a session, its price, and each duplicate with why it is ignored. */

import { type Io, UsageError } from "../../command/command.ts";
import { formatTable } from "../../command/table.ts";
import { COUNTS } from "../../usage/columns.ts";
import type { PriceBook } from "../../usage/prices/price-book.ts";
import { factorOf, priceAt } from "../../usage/prices/rates.ts";
import type { CountedUsage } from "../../usage/report/counted-usage.ts";
import { FLAGS } from "../../usage/usage-row.ts";
import { dollars, tokens } from "./usage-numbers.ts";

const CANDIDATES_MAX = 10;

export async function explain(
  usage: CountedUsage,
  book: PriceBook,
  id: string,
  format: "text" | "json" | "csv",
  io: Io,
): Promise<number> {
  const session = sessionNamed(usage, id);
  const { rows } = usage.ledger;
  const own: number[] = [];
  for (let row = 0; row < rows.length; row++) if (usage.sessionOf(row) === session) own.push(row);
  own.sort((a, b) => (rows.at[a] ?? 0) - (rows.at[b] ?? 0));
  const explained = own.map((row) => explainedRow(usage, row));
  const cost = own.reduce((sum, row) => sum + (isCounted(usage, row) ? known(usage, row) : 0), 0);
  const models = [...new Set(own.map((row) => usage.modelOf(row)))];
  const prices = models.map((model) => ({ model, ...book.sourceOf(model) }));
  if (format !== "text") {
    await io.print(`${JSON.stringify({ session, cost, prices, rows: explained }, null, 2)}\n`);
    return 0;
  }
  const right = { align: "right" } as const;
  const columns = [
    ...[{ heading: "time" }, { heading: "model" }, { heading: "input", ...right }],
    ...[
      { heading: "output", ...right },
      { heading: "write 5m", ...right },
    ],
    ...[
      { heading: "write 1h", ...right },
      { heading: "cache read", ...right },
    ],
    ...[
      { heading: "cost", ...right },
      { heading: "", widthMin: 10 },
    ],
  ];
  const cells = explained.map(({ at, model, counts, cost: each, why }) => [
    ...[at ?? "unknown", model, tokens(counts.input), tokens(counts.output)],
    ...[tokens(counts.cacheWrite5m), tokens(counts.cacheWrite1h), tokens(counts.cacheRead)],
    ...[each === null ? "unknown" : dollars(each), why],
  ]);
  await io.print(`${formatTable(columns, cells).join("\n")}\n`);
  await io.print(`session ${session}: ${dollars(cost)}\n`);
  for (const { model, table, hash, at } of prices) {
    await io.print(`${model}: ${table ?? "no price"} ${hash ?? ""}, decided ${at ?? "never"}\n`);
  }
  return 0;
}

function sessionNamed(usage: CountedUsage, id: string): string {
  const names = new Set<string>();
  const wanted = id.slice(id.lastIndexOf("/") + 1);
  for (let row = 0; row < usage.ledger.rows.length; row++) {
    const name = usage.sessionOf(row);
    if (name === wanted) return name;
    if (name.startsWith(wanted)) names.add(name);
  }
  const [only] = names;
  if (only !== undefined && names.size === 1) return only;
  const listed = [...names].slice(0, CANDIDATES_MAX).join(", ");
  throw new UsageError(
    only === undefined
      ? `no session that was counted is called ${id}; \`verbatim usage session\` lists them`
      : `${id} may be one of ${names.size} sessions: ${listed}`,
  );
}

function isCounted(usage: CountedUsage, row: number): boolean {
  return !usage.ledger.rows.has(row, FLAGS.duplicate);
}

function known(usage: CountedUsage, row: number): number {
  const cost = usage.costOf(row);
  return Number.isNaN(cost) ? 0 : cost;
}

function explainedRow(usage: CountedUsage, row: number) {
  const { rows } = usage.ledger;
  const at = rows.at[row] ?? Number.NaN;
  const counts = Object.fromEntries(COUNTS.map((name) => [name, rows[name][row] ?? 0]));
  const cost = usage.costOf(row);
  const isDuplicate = !isCounted(usage, row);
  return {
    at: Number.isNaN(at) ? null : new Date(at).toISOString(),
    model: usage.modelOf(row),
    counts: counts as Record<(typeof COUNTS)[number], number>,
    cost: isDuplicate ? 0 : Number.isNaN(cost) ? null : cost,
    isDuplicate,
    file: usage.ledger.fileOf(row).id,
    why: isDuplicate ? whyIgnored(usage, row) : notesOf(usage, row),
  };
}

function whyIgnored(usage: CountedUsage, row: number): string {
  const { rows } = usage.ledger;
  const counted = usage.countedBy[row] ?? -1;
  const file = usage.ledger.fileOf(counted);
  const own = usage.ledger.fileOf(row);
  if (own.replays !== null && rows.has(row, FLAGS.ofSession) && own !== file) {
    return `duplicate: repeats the beginning of ${file.name}`;
  }
  const nested = rows.has(row, FLAGS.nested) ? "progress of a subagent, " : "";
  const where = own === file ? "this file again" : `counted in ${file.id}`;
  return `duplicate: ${nested}same message id, ${where}`;
}

function notesOf(usage: CountedUsage, row: number): string {
  const { rows } = usage.ledger;
  const rates = usage.ratesOf(row);
  const notes: string[] = [];
  if (rates !== null) {
    const context = COUNTS.reduce((sum, name) => {
      return name === "output" || name === "reasoning" ? sum : sum + (rows[name][row] ?? 0);
    }, 0);
    notes.push(
      `$${priceAt(rates.input, context)} in, $${priceAt(rates.output, context)} out per M`,
    );
    if (priceAt(rates.input, context) !== priceAt(rates.input, 0)) notes.push("long context");
    const factor = factorOf(rows.flags[row] ?? 0, rates);
    if (factor !== 1) notes.push(`x ${factor}`);
  }
  if (rows.has(row, FLAGS.batch)) notes.push("batch");
  if (rows.has(row, FLAGS.fast)) notes.push("fast");
  if (rows.has(row, FLAGS.implausible)) notes.push("implausible");
  const recorded = rows.recorded[row] ?? Number.NaN;
  if (!Number.isNaN(recorded)) notes.push(`recorded ${dollars(recorded)}`);
  return notes.join(", ");
}
