/** Glance: today, this month and the last two weeks, in one look. */

import type { Io } from "../../command/command.ts";
import { formatTable } from "../../command/table.ts";
import { type Choice, type CountedUsage, labelOf } from "../../usage/report/counted-usage.ts";
import { type Days, periodsBetween } from "../../usage/report/days.ts";
import { type Group, groupBy, sumOf } from "../../usage/report/groups.ts";
import { bar, tokens } from "./usage-numbers.ts";
import { costText, tellDoubts } from "./usage-text.ts";

const DAYS_SHOWN = 14;
const DAY_MS = 86_400_000;
const BAR_COLUMNS = 30;
const MODELS_SHOWN = 5;

export async function printGlance(
  usage: CountedUsage,
  days: Days,
  choice: Choice,
  nowMs: number,
  io: Io,
): Promise<void> {
  const today = days.dayOf(nowMs);
  const month = today.slice(0, 7);
  const first = days.dayOf(nowMs - (DAYS_SHOWN - 1) * DAY_MS);
  const from = first < `${month}-01` ? first : `${month}-01`;
  const rows = [...usage.chosen(days, { since: from, until: today, ...choice })];
  const { at } = usage.ledger.rows;
  const byDay = groupBy(usage, rows, (row) => days.dayOf(at[row] ?? Number.NaN));
  const inMonth = rows.filter((row) => days.dayOf(at[row] ?? Number.NaN).startsWith(month));
  const ofDay = new Map(byDay.map((group) => [group.key, group]));
  const none = sumOf(usage, []);
  const monthly = sumOf(usage, inMonth);
  const agents = groupBy(usage, inMonth, (row) => labelOf(usage.agentOf(row)));

  const lines = [
    ...formatTable(
      [{ heading: "" }, { heading: "cost", align: "right" }, { heading: "tokens", align: "right" }],
      [
        ["today", ...figures(ofDay.get(today) ?? none)],
        ["this month", ...figures(monthly)],
        ...(agents.length > 1
          ? agents.sort(byCost).map((group) => [`  ${group.key}`, ...figures(group)])
          : []),
      ],
    ),
    "",
    ...dayLines(periodsBetween(first, today, "day"), ofDay, none),
    "",
    ...modelLines(monthly),
  ];
  await io.print(`${lines.join("\n")}\n`);
  tellDoubts(monthly, io);
}

function figures(group: Group): string[] {
  return [costText(group), tokens(group.total, true)];
}

function byCost(a: Group, b: Group): number {
  return b.cost - a.cost;
}

function dayLines(
  shown: readonly string[],
  ofDay: ReadonlyMap<string, Group>,
  none: Group,
): string[] {
  const most = Math.max(...shown.map((day) => ofDay.get(day)?.cost ?? 0));
  const cells = shown.map((day) => {
    const group = ofDay.get(day) ?? none;
    return [day, costText(group), bar(group.cost, most, BAR_COLUMNS)];
  });
  return formatTable(
    [{ heading: "day" }, { heading: "cost", align: "right" }, { heading: "" }],
    cells,
  );
}

function modelLines({ models }: Group): string[] {
  const cells = models.slice(0, MODELS_SHOWN).map((sums) => {
    return [sums.model, costText(sums), tokens(sums.total, true)];
  });
  if (cells.length === 0) return ["no usage this month"];
  const right = { align: "right" } as const;
  const headings = [{ heading: "model, this month" }, { heading: "cost", ...right }];
  return formatTable([...headings, { heading: "tokens", ...right }], cells);
}
