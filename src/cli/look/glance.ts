/** Glance: today, this month and the last two weeks, in one look. */

import { type Days, dayNumber, dayText, periodsBetween } from "../../usage/report/days.ts";
import type { DayRange, GroupSource } from "../../usage/report/group-source.ts";
import { type Group, totalOf } from "../../usage/report/groups.ts";
import type { Io } from "../command/command.ts";
import { formatTable } from "../command/table.ts";
import { lookedInText } from "./agents.ts";
import { bar, costText, totalText } from "./usage-numbers.ts";
import { tellDoubts } from "./usage-text.ts";

const DAYS_SHOWN = 14;
const BAR_COLUMNS = 30;
const MODELS_SHOWN = 5;

export async function printGlance(
  source: GroupSource,
  days: Days,
  range: DayRange,
  nowMs: number,
  io: Io,
): Promise<void> {
  if (source.total({}).total === 0) {
    io.err(`no usage was found; ${lookedInText()}`);
    return;
  }
  const today = days.numberOf(nowMs);
  const month = dayText(today).slice(0, 7);
  const first = today - (DAYS_SHOWN - 1);
  const since = dayText(Math.min(first, dayNumber(`${month}-01`)));
  const until = dayText(today);
  const groups = source.byPeriod(
    { since: range.since ?? since, until: range.until ?? until },
    "day",
  );
  const ofDay = new Map(groups.map((group) => [group.key, group]));
  const none = totalOf([]);
  const inMonth = { ...range, since: `${month}-01`, until };
  const monthly = source.total(inMonth);
  const agents = source.byAgent(inMonth);

  const lines = [
    ...formatTable(
      [{ heading: "" }, { heading: "cost", align: "right" }, { heading: "tokens", align: "right" }],
      [
        ["today", ...figures(ofDay.get(until) ?? none)],
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
  return [costText(group), totalText(group, true)];
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
    return [sums.model, costText(sums), totalText(sums, true)];
  });
  if (cells.length === 0)
    return ["no usage this month; `verbatim usage monthly` shows earlier months"];
  const right = { align: "right" } as const;
  const headings = [{ heading: "model, this month" }, { heading: "cost", ...right }];
  return formatTable([...headings, { heading: "tokens", ...right }], cells);
}
