/** Session costs: what each session of a list cost, as `usage` counts it, its subagents' included. */

import type { Host } from "../core/base/host.ts";
import { type SessionLine, summaryOf } from "../sessions/store/list.ts";
import { openUsage, type UsageOptions } from "../usage/open-usage.ts";

type CountingOptions = Pick<UsageOptions, "cwd" | "stores" | "onProgress" | "onFailure">;

/** The most expensive first. A session that could not be counted has what its agent recorded. */
export async function sessionCosts(
  host: Host,
  sessions: readonly SessionLine[],
  options: CountingOptions,
): Promise<Map<SessionLine, number | null>> {
  const { usage } = await openUsage(host, { ...options, nowMs: Date.now() });
  const counted = new Map(
    Array.from(usage.sessionCosts(), ({ place: { dialect, root }, costs }) => {
      return [`${dialect}\0${root}`, costs] as const;
    }),
  );
  const costs = sessions.map((line): [SessionLine, number | null] => {
    const { dialect, root } = line.place;
    const cost = counted.get(`${dialect}\0${root}`)?.get(line.id) ?? summaryOf(line).spend;
    return [line, cost];
  });
  return new Map(costs.sort(([, a], [, b]) => (b ?? -1) - (a ?? -1)));
}
