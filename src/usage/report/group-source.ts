/**
 * Group source: the sums of a report, from the kept sums where they are enough, else from all rows:
 * the kept sums do not know projects.
 */

import type { StoredSums } from "../sums/stored-sums.ts";
import { agentNameOf, fileFilter, hasBlocks, isOfAgent } from "./agent-choice.ts";
import { blocksOf, type UsageBlock } from "./blocks.ts";
import type { CountedUsage, UsageRowChoice } from "./counted-usage.ts";
import type { Days, Period } from "./days.ts";
import { byFile, byModel, byPeriod, type Group, groupBy, sumOf } from "./groups.ts";
import { StoredGroups } from "./stored-groups.ts";

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

export interface AgentAndProject {
  readonly agent: string | undefined;
  readonly project: string | undefined;
}

export function groupSource(
  usage: CountedUsage,
  sums: StoredSums,
  days: Days,
  { agent, project }: AgentAndProject,
): GroupSource {
  if (project !== undefined) return rowSource(usage, days, { agent, project });
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
export function rowSource(usage: CountedUsage, days: Days, wanted: AgentAndProject): GroupSource {
  const isWanted = fileFilter(wanted.agent, wanted.project) ?? (() => true);
  const chosen = (range: DayRange) => usage.chosen(days, { ...range, isWanted });
  const ofAgent = byFile(usage, ({ dialect }) => agentNameOf(dialect));
  return {
    byPeriod: (range, period) => groupBy(usage, chosen(range), byPeriod(usage, days, period)),
    byModel: (range) => groupBy(usage, chosen(range), byModel(usage)),
    byAgent: (range) => groupBy(usage, chosen(range), ofAgent),
    total: (range) => sumOf(usage, chosen(range)),
    blocks: (range, nowMs, isAll) => {
      const counts: UsageRowChoice["isWanted"] = (file) =>
        isWanted(file) && (isAll || hasBlocks(file));
      return blocksOf(usage, usage.chosen(days, { ...range, isWanted: counts }), nowMs);
    },
  };
}
