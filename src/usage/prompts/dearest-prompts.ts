/**
 * Dearest prompts: the most expensive prompts of all sessions, without reading them all.
 *
 * A prompt costs at most what its session does. Sessions are read by their cost, the highest first,
 * until the next one costs less than the prompts that were found.
 */

import type { Group } from "../report/groups.ts";
import type { PromptGroup, PromptRows, SessionUsageFiles } from "./prompt-rows.ts";
import type { Trace } from "./trace.ts";

export interface DearPrompt extends PromptGroup {
  readonly session: SessionUsageFiles;
}

export interface DearestOptions {
  /** Sums of the sessions. */
  readonly groups: readonly Group[];
  readonly sessions: ReadonlyMap<string, SessionUsageFiles>;
  readonly rows: PromptRows;
  readonly limit: number;
  /** Sessions that are read at most. */
  readonly sessionsMax: number;
  /** Null: the log cannot be read, and its prompts are not known. Undefined: stop here. */
  readonly traceOf: (session: SessionUsageFiles) => Promise<Trace | null | undefined>;
  /** Called before each session: lets other work run. */
  readonly pause?: () => Promise<void>;
}

export async function dearestPrompts(
  options: DearestOptions,
): Promise<{ readonly prompts: readonly DearPrompt[]; readonly isComplete: boolean }> {
  const { groups, sessions, rows, limit, sessionsMax, traceOf, pause } = options;
  let prompts: DearPrompt[] = [];
  let isComplete = true;
  let read = 0;
  for (const group of [...groups].sort(byCost)) {
    const last = prompts[limit - 1];
    if (last !== undefined && byCost(last, group) <= 0) break;
    const session = sessions.get(group.key);
    if (session === undefined) continue;
    if (++read > sessionsMax) break;
    await pause?.();
    const trace = await traceOf(session);
    if (trace === undefined) {
      isComplete = false;
      break;
    }
    const found = rows.groups(session, trace).filter(({ prompt }) => prompt !== null);
    prompts.push(...found.map((each) => ({ ...each, session })));
    prompts = prompts.sort(byCost).slice(0, limit);
  }
  return { prompts, isComplete };
}

/** The highest cost first; without known prices, the most tokens. */
export function byCost(a: Group, b: Group): number {
  return b.cost - a.cost || b.total - a.total;
}
