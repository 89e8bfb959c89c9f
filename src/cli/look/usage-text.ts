/** Usage text: a report as a table with bars, as JSON, and as comma-separated values. */

import { csvLine } from "../../sessions/render/csv.ts";
import { agentNameOf } from "../../usage/report/agent-choice.ts";
import type { UsageBlock } from "../../usage/report/blocks.ts";
import { UNKNOWN_MODEL } from "../../usage/report/counted-usage.ts";
import type { Group, ModelSums, Sums } from "../../usage/report/groups.ts";
import type { Io } from "../command/command.ts";
import { jsonLine } from "../command/output.ts";
import { formatTable, type TableColumn } from "../command/table.ts";
import { bar, costText, dollars, tokens, totalText } from "./usage-numbers.ts";

const HEADINGS: Readonly<Record<string, string>> = {
  daily: "day",
  weekly: "week of",
  monthly: "month",
  session: "session",
  project: "project",
  model: "model",
  agent: "agent",
  directive: "directive",
  blocks: "block",
};
/** Narrower terminals get fewer columns; titles take much room. */
const WIDE_COLUMNS = 100;
const WIDE_COLUMNS_TITLED = 160;
const BAR_COLUMNS = 16;

export interface ReportLook {
  readonly isCompact: boolean;
  /** What people call the sessions; null if the rows are not sessions. */
  readonly names: SessionNames | null;
}

type SessionNames = ReadonlyMap<string, SessionName>;

export interface SessionName {
  readonly id: string;
  readonly title: string | null;
}

export async function printReport(
  report: string,
  rows: readonly Group[],
  total: Group,
  { isCompact, names }: ReportLook,
  io: Io,
): Promise<void> {
  if (rows.length === 0) {
    io.err("no usage was found; `verbatim agents` lists the agents on this machine");
    return;
  }
  const wide = names === null ? WIDE_COLUMNS : WIDE_COLUMNS_TITLED;
  const isShort = isCompact || (io.isTerminal && io.columns < wide);
  const most = Math.max(...rows.map(({ cost }) => cost));
  const [name, ...figures] = columnsOf(report, isShort);
  // An id is not cut: nothing finds a session by a cut one.
  const columns = names === null ? [name, ...figures] : [{ heading: "session" }, TITLE, ...figures];
  const cells = [...rows, { ...total, key: "total" }].map((row) => {
    const [key = "", ...rest] = cellsOf(report, row, row.key === "total" ? 0 : most, isShort);
    const { id = key, title } = names?.get(row.key) ?? {};
    return names === null ? [key, ...rest] : [id, title ?? "", ...rest];
  });
  const lines = formatTable(columns, cells, io.isTerminal ? io.columns : null);
  await io.print(`${lines.join("\n")}\n`);
  tellDoubts(total, io);
}

const TITLE: TableColumn = { heading: "title", widthMin: 20 };

function columnsOf(report: string, isShort: boolean): [TableColumn, ...TableColumn[]] {
  const right = { align: "right" } as const;
  const name = { heading: HEADINGS[report] ?? report, widthMin: 10 };
  const cost = { heading: "cost", ...right };
  if (isShort) return [name, { heading: "tokens", ...right }, cost, { heading: "", widthMin: 0 }];
  const about = report === "session" ? ["project"] : report === "model" ? [] : ["models"];
  return [
    name,
    ...about.map((heading) => ({ heading, widthMin: 8 })),
    ...["input", "output", "cache write", "cache read", "total"].map((heading) => {
      return { heading, ...right };
    }),
    cost,
    { heading: "", widthMin: 0 },
  ];
}

function cellsOf(report: string, row: Group, most: number, isShort: boolean): string[] {
  const isTotal = row.key === "total";
  const cost = costText(row);
  const drawn = isTotal ? "" : bar(row.cost, most, BAR_COLUMNS);
  const name = isTotal ? "total" : nameOf(report, row);
  if (isShort) return [name, totalText(row, true), cost, drawn];
  const about =
    report === "model"
      ? []
      : [isTotal ? "" : report === "session" ? (row.project ?? UNKNOWN_MODEL) : modelsOf(row)];
  return [
    name,
    ...about,
    inputText(row),
    tokens(row.output),
    tokens(row.cacheWrite5m + row.cacheWrite1h),
    tokens(row.cacheRead),
    totalText(row),
    cost,
    drawn,
  ];
}

/** "1,234", "unknown", or "1,234 + ?" where the input of some responses was not recorded. */
function inputText(row: Group): string {
  if (row.unknownInputs === 0) return tokens(row.input);
  return inputOrNull(row) === null ? "unknown" : `${tokens(row.input)} + ?`;
}

/** An input of which nothing is known is null, never 0. */
function inputOrNull(sums: Pick<Sums, "input" | "responses" | "unknownInputs">): number | null {
  const { input, responses, unknownInputs } = sums;
  return responses > 0 && unknownInputs === responses ? null : input;
}

function nameOf(report: string, row: Group): string {
  if (report !== "blocks") return row.key;
  const { start, isActive, end } = row as UsageBlock;
  const left = Math.max(0, Math.round((end - Date.now()) / 60_000));
  const state = isActive ? ` (active, ${Math.floor(left / 60)}h ${left % 60}m left)` : "";
  return `${new Date(start).toISOString().slice(0, 16).replace("T", " ")}Z${state}`;
}

function modelsOf({ models }: Group): string {
  return models.map(({ model }) => model.replace(/^claude-|-20\d{6}$/g, "")).join(", ");
}

/** What in these figures is not certain. */
export function tellDoubts(total: Group, io: Io): void {
  const { models, implausible, unknownInputs, recorded, cost, priced } = total;
  const unpriced = models.filter((each) => each.unpriced > 0);
  if (unpriced.length > 0) {
    const names = unpriced.map(({ model }) => {
      return model === UNKNOWN_MODEL ? "responses without a model's name" : model;
    });
    const sum = unpriced.reduce((total, each) => total + each.unpriced, 0);
    io.err(`no price is known for ${names.join(", ")}: ${tokens(sum)} tokens are not in the cost`);
  }
  if (implausible > 0) {
    io.err(`${implausible} responses have a count that cannot be right; shown as recorded`);
  }
  if (unknownInputs > 0) {
    const of = unknownInputs === 1 ? "one response" : `${tokens(unknownInputs)} responses`;
    io.err(`the input of ${of} was not recorded, and is in no sum`);
  }
  if (recorded !== null) {
    const what = `${dollars(recorded)} of ${dollars(cost)} is as agents recorded it`;
    io.err(`${what}; by prices, all tokens cost ${dollars(priced)}`);
  }
}

export function reportJson(
  report: string,
  rows: readonly Group[],
  total: Group,
  { zone, names }: { readonly zone: string; readonly names: SessionNames | null },
): string {
  const document = {
    report,
    timeZone: zone,
    rows: rows.map((row) => {
      const name = names?.get(row.key);
      const title = name && { title: name.title };
      return { [fieldOf(report)]: name?.id ?? row.key, ...title, ...jsonOf(row) };
    }),
    totals: jsonOf(total),
  };
  return jsonLine(document);
}

function fieldOf(report: string): string {
  return { daily: "day", weekly: "week", monthly: "month", blocks: "block" }[report] ?? report;
}

function jsonOf({ key: _, models, agents, project, firstAt, lastAt, ...sums }: Group): object {
  return {
    ...sums,
    input: inputOrNull(sums),
    cost: costOrNull(sums),
    agents: agents.map(agentNameOf),
    project,
    firstAt: isoOf(firstAt),
    lastAt: isoOf(lastAt),
    models: models.map(({ firstAt: first, lastAt: last, ...each }: ModelSums) => {
      const known = { input: inputOrNull(each), cost: costOrNull(each) };
      return { ...each, ...known, firstAt: isoOf(first), lastAt: isoOf(last) };
    }),
  };
}

/** A cost of which nothing is known is null, never 0. */
export function costOrNull({ cost, unpriced, total }: Pick<Sums, "cost" | "unpriced" | "total">) {
  return total > 0 && unpriced === total ? null : cost;
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

const CSV_FIELDS = [
  "responses",
  "input",
  "output",
  "cacheWrite5m",
  "cacheWrite1h",
  "cacheRead",
  "reasoning",
  "total",
  "cost",
  "unpriced",
  "recorded",
  "priced",
] as const;

export function reportCsv(
  report: string,
  rows: readonly Group[],
  names: SessionNames | null,
): string {
  const head = [fieldOf(report), "project", "models", ...CSV_FIELDS];
  const lines = rows.map((row) => {
    const known = { input: inputOrNull(row), cost: costOrNull(row) };
    const values: Record<string, unknown> = { ...row, ...known };
    const models = row.models.map(({ model }) => model).join(" ");
    const name = names?.get(row.key)?.id ?? row.key;
    return [name, row.project ?? "", models, ...CSV_FIELDS.map((field) => values[field] ?? "")];
  });
  return [head, ...lines].map(csvLine).join("");
}
