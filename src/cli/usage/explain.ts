/** Explain: prints every row of a session, its price, and each duplicate with why it is ignored. */

import { type Io, UsageError } from "../../command/command.ts";
import { jsonLine } from "../../command/json-line.ts";
import { formatTable } from "../../command/table.ts";
import { safeLine } from "../../render/text.ts";
import type { PriceBook } from "../../usage/prices/price-book.ts";
import type { CountedUsage } from "../../usage/report/counted-usage.ts";
import { explainSession } from "../../usage/report/explain.ts";
import { dollars, tokens } from "./usage-numbers.ts";

const CANDIDATES_MAX = 10;

export async function explain(
  usage: CountedUsage,
  book: PriceBook,
  id: string,
  isJson: boolean,
  io: Io,
): Promise<number> {
  const session = sessionNamed(usage, id);
  const rows = explainSession(usage, session);
  const cost = rows.reduce((sum, row) => sum + (row.cost ?? 0), 0);
  const models = [...new Set(rows.map(({ model }) => model))];
  const prices = models.map((model) => ({ model, ...book.sourceOf(model) }));
  if (isJson) {
    const listed = prices.map(({ model, table, hash, at }) => ({ model, table, hash, at }));
    await io.print(jsonLine({ session, cost, prices: listed, rows }));
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
  const cells = rows.map(({ at, model, counts, cost: each, ignored, notes }) => [
    ...[at ?? "unknown", model, tokens(counts.input), tokens(counts.output)],
    ...[tokens(counts.cacheWrite5m), tokens(counts.cacheWrite1h), tokens(counts.cacheRead)],
    each === null ? "unknown" : ignored === null ? dollars(each) : "-",
    ignored === null ? notes.join(", ") : `ignored: ${ignored}`,
  ]);
  const lines = formatTable(columns, cells);
  const sources = prices.map(({ model, table, hash, at }) => {
    return `${model}: prices of ${table ?? "no table"} ${hash ?? ""}, decided ${at ?? "never"}`;
  });
  const sum = `session ${session}: ${dollars(cost)}`;
  await io.print(`${[...lines, ...[sum, ...sources].map(safeLine)].join("\n")}\n`);
  return 0;
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
