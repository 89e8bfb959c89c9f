/**
 * Group source: the sums of a report by day, agent or model, and blocks, from the stored sums where
 * they are enough, else from all rows: the stored sums do not know projects.
 */

import { NO_QUARTER, QUARTER_MS, type StoredSums } from "../sums/stored-sums.ts";
import { agentNameOf, type FileChoice, fileFilter, hasBlocks, isOfAgent } from "./agent-choice.ts";
import { blockOf, blocksOf, startsIn, type UsageBlock } from "./blocks.ts";
import type { CountedUsage, UsageRowChoice } from "./counted-usage.ts";
import { type Days, dayNumber, NO_DAY, type Period, periodText } from "./days.ts";
import {
  byFile,
  byModel,
  byPeriod,
  type Group,
  groupBy,
  groupsOf,
  sumOf,
  totalOf,
} from "./groups.ts";
import { CELL_LENGTH, SUM } from "./sum-rows.ts";

/** Days, both included: "2026-11-15". */
export type DayRange = Pick<UsageRowChoice, "since" | "until">;

export interface GroupSource {
  byPeriod(range: DayRange, period: Period): Group[];
  byModel(range: DayRange): Group[];
  byAgent(range: DayRange): Group[];
  total(range: DayRange): Group;
  /** `isAll`: also of agents whose plans have none. */
  blocks(range: DayRange, nowMs: number, isAll: boolean): UsageBlock[];
}

/** What a report is of; undefined: all. */
export interface UsageFilter extends FileChoice {
  /** Part of the model's name, in lower case. */
  readonly model?: string | undefined;
}

export function groupSource(
  usage: CountedUsage,
  sums: StoredSums,
  days: Days,
  filter: UsageFilter,
): GroupSource {
  const { agent, model, ...others } = filter;
  if (model !== undefined || fileFilter(others) !== undefined)
    return rowSource(usage, days, filter);
  const kept = new StoredGroups(usage, sums, days);
  const isWanted = (dialect: string) => isOfAgent({ dialect }, agent);
  return {
    byPeriod: (range, period) => kept.byPeriod({ ...range, isWanted }, period),
    byModel: (range) => kept.byModel({ ...range, isWanted }),
    byAgent: (range) => kept.byAgent({ ...range, isWanted }, agentNameOf),
    total: (range) => kept.total({ ...range, isWanted }),
    blocks: (range, nowMs, isAll) => {
      const counts = (dialect: string) => isWanted(dialect) && (isAll || hasBlocks({ dialect }));
      return kept.blocks({ ...range, isWanted: counts }, nowMs);
    },
  };
}

/** From all rows. */
export function rowSource(
  usage: CountedUsage,
  days: Days,
  { model, ...wanted }: UsageFilter,
): GroupSource {
  const isWanted = fileFilter(wanted) ?? (() => true);
  const chosen = (range: DayRange) => usage.chosen(days, { ...range, isWanted, model });
  const ofAgent = byFile(usage, ({ dialect }) => agentNameOf(dialect));
  return {
    byPeriod: (range, period) => groupBy(usage, chosen(range), byPeriod(usage, days, period)),
    byModel: (range) => groupBy(usage, chosen(range), byModel(usage)),
    byAgent: (range) => groupBy(usage, chosen(range), ofAgent),
    total: (range) => sumOf(usage, chosen(range)),
    blocks: (range, nowMs, isAll) => {
      const counts: UsageRowChoice["isWanted"] = (file) =>
        isWanted(file) && (isAll || hasBlocks(file));
      return blocksOf(usage, usage.chosen(days, { ...range, isWanted: counts, model }), nowMs);
    },
  };
}

interface CachedChoice {
  /** Days, both included: "2026-11-15". */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Which dialects count. */
  readonly isWanted?: ((dialect: string) => boolean) | undefined;
}

class StoredGroups {
  readonly #usage: CountedUsage;
  readonly #sums: StoredSums;
  readonly #days: Days;

  constructor(usage: CountedUsage, sums: StoredSums, days: Days) {
    this.#usage = usage;
    this.#sums = sums;
    this.#days = days;
  }

  byPeriod(choice: CachedChoice, period: Period): Group[] {
    const cells = this.#chosen(choice);
    return this.#grouped(
      cells,
      (cell) => this.#dayOf(cell),
      (day) => periodText(day, period),
    );
  }

  byModel(choice: CachedChoice): Group[] {
    const { ofModel, models } = this.#sums;
    const textOf = (model: number) => models[model] || "unknown";
    return this.#grouped(this.#chosen(choice), (cell) => ofModel[cell] ?? 0, textOf);
  }

  byAgent(choice: CachedChoice, agentNameOf: (dialect: string) => string): Group[] {
    const { ofDialect, dialects } = this.#sums;
    const textOf = (dialect: number) => agentNameOf(dialects[dialect] ?? "");
    return this.#grouped(this.#chosen(choice), (cell) => ofDialect[cell] ?? 0, textOf);
  }

  total(choice: CachedChoice): Group {
    const [all] = this.#grouped(
      this.#chosen(choice),
      () => 0,
      () => "",
    );
    return all ?? totalOf([]);
  }

  blocks(choice: CachedChoice, nowMs: number): UsageBlock[] {
    const { quarters, cells } = this.#sums;
    const chosen = this.#chosen(choice).filter((cell) => {
      return quarters[cell] !== NO_QUARTER && (cells[cell * CELL_LENGTH] ?? 0) > 0;
    });
    const spans = new Map<number, { first: number; last: number }>();
    for (const cell of chosen) {
      const first = cells[cell * CELL_LENGTH + SUM.first] ?? 0;
      const last = cells[cell * CELL_LENGTH + SUM.last] ?? 0;
      const known = spans.get(quarters[cell] ?? 0);
      if (known === undefined) spans.set(quarters[cell] ?? 0, { first, last });
      else {
        known.first = Math.min(known.first, first);
        known.last = Math.max(known.last, last);
      }
    }
    const starts = startsIn(spans);
    const sorted = [...spans.keys()].sort((a, b) => a - b);
    const startOf = new Map<number, number>();
    let at = 0;
    for (const quarter of sorted) {
      while ((starts[at + 1] ?? Infinity) <= quarter * QUARTER_MS) at++;
      startOf.set(quarter, at);
    }
    const groups = this.#grouped(
      chosen,
      (cell) => startOf.get(quarters[cell] ?? 0) ?? 0,
      (number) => String(starts[number] ?? 0),
    );
    return groups.map((group) => blockOf(group, nowMs)).sort((a, b) => a.start - b.start);
  }

  #dayOf(cell: number): number {
    const quarter = this.#sums.quarters[cell] ?? NO_QUARTER;
    return quarter === NO_QUARTER ? NO_DAY : this.#days.numberOf(quarter * QUARTER_MS);
  }

  #chosen({ since, until, isWanted }: CachedChoice): number[] {
    const { length, dialects, ofDialect } = this.#sums;
    const wanted = dialects.map((dialect) => isWanted === undefined || isWanted(dialect));
    const first = since === undefined ? NO_DAY : dayNumber(since);
    const last = until === undefined ? Number.POSITIVE_INFINITY : dayNumber(until);
    const hasRange = since !== undefined || until !== undefined;
    const chosen: number[] = [];
    for (let cell = 0; cell < length; cell++) {
      if (!wanted[ofDialect[cell] ?? 0]) continue;
      if (hasRange) {
        const day = this.#dayOf(cell);
        if (day === NO_DAY || day < first || day > last) continue;
      }
      chosen.push(cell);
    }
    return chosen;
  }

  #grouped(
    chosen: readonly number[],
    numberOf: (cell: number) => number,
    textOf: (number: number) => string,
  ): Group[] {
    const { cells, ofDialect, ofModel, dialects } = this.#sums;
    const models = this.#sums.models.length;
    const index = new Map<number, number>();
    const numbers: number[] = [];
    const agents: number[] = [];
    const groupOf = chosen.map((cell) => {
      const number = numberOf(cell);
      let group = index.get(number);
      if (group === undefined) {
        group = numbers.push(number) - 1;
        index.set(number, group);
        agents.push(0);
      }
      if ((cells[cell * CELL_LENGTH] ?? 0) > 0) {
        agents[group] = (agents[group] ?? 0) | (1 << (ofDialect[cell] ?? 0));
      }
      return group;
    });
    const summed = new Float64Array(numbers.length * models * CELL_LENGTH);
    for (const [n, cell] of chosen.entries()) {
      const to = ((groupOf[n] ?? 0) * models + (ofModel[cell] ?? 0)) * CELL_LENGTH;
      addCell(summed, to, cells, cell * CELL_LENGTH);
    }
    const pivot = { numbers, firstFiles: [], agents, dialects, models, cells: summed };
    return groupsOf(this.#usage, pivot, textOf).filter(({ responses }) => responses > 0);
  }
}

function addCell(to: Float64Array, at: number, from: Float64Array, start: number): void {
  for (let n = 0; n < SUM.first; n++) to[at + n] = (to[at + n] ?? 0) + (from[start + n] ?? 0);
  const first = from[start + SUM.first] ?? 0;
  const known = to[at + SUM.first] ?? 0;
  if (first > 0 && (first < known || known === 0)) to[at + SUM.first] = first;
  const last = from[start + SUM.last] ?? 0;
  if (last > (to[at + SUM.last] ?? 0)) to[at + SUM.last] = last;
}
