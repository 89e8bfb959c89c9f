/** Budget: whether more was spent in this day, week or month than the user wants. */

import { type Io, UsageError } from "../../command/command.ts";
import { type Days, type Period, periodText } from "../../usage/report/days.ts";
import type { GroupSource } from "../../usage/report/group-source.ts";
import { dollars } from "./usage-numbers.ts";

export interface Budget {
  readonly amount: number;
  readonly period: Period;
}

const EXIT_OVER = 1;

/** "20/day", "$300/month". */
export function parseBudget(text: string): Budget {
  const [, amount, period] = /^\$?(\d+(?:\.\d+)?)\/(day|week|month)$/.exec(text) ?? [];
  if (amount === undefined || period === undefined) {
    throw new UsageError(
      `--budget takes dollars for a day, week or month, such as 20/day, not ${text}`,
    );
  }
  return { amount: Number(amount), period: period as Period };
}

/** Prints what was spent; the exit code is 1 if it is more than the budget. */
export function overBudget(
  source: GroupSource,
  days: Days,
  { amount, period }: Budget,
  nowMs: number,
  io: Io,
): number {
  io.goOnUnread(); // The result is the exit code.
  const today = days.dayOf(nowMs);
  const first = periodText(days.numberOf(nowMs), period);
  const since = period === "month" ? `${first}-01` : first;
  const sums = source.total({ since, until: today });
  const spent = sums.cost;
  const isOver = spent > amount;
  const verb = isOver ? "over" : "within";
  io.out(`${dollars(spent)} of ${dollars(amount)} this ${period}: ${verb} budget`);
  if (sums.unpriced > 0) {
    io.err("tokens of models without a known price are not in this; `verbatim usage model`");
  }
  return isOver ? EXIT_OVER : 0;
}
