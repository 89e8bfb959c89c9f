/** Session facts: what each session cost, as `usage` counts it, and what people call it. */

import type { Host } from "../core/base/host.ts";
import { catalogPath } from "../core/base/node-paths.ts";
import { loadDialects } from "../dialects/all.ts";
import { Catalog } from "../sessions/catalog/catalog.ts";
import { knownRowOf } from "../sessions/list/listing-row.ts";
import { type SessionLine, summaryOf } from "../sessions/store/list.ts";
import type { LedgerFile } from "../usage/ledger/pack.ts";
import { openUsage, type UsageOptions } from "../usage/open-usage.ts";
import type { CountedUsage } from "../usage/report/counted-usage.ts";

type CountingOptions = Pick<UsageOptions, "cwd" | "stores" | "onProgress" | "onFailure">;

/** With subagents, the most expensive first. A session that could not be counted has what its agent recorded. */
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

export interface TitledSession {
  readonly file: LedgerFile;
  /** Null: it has none, or its log is gone. */
  readonly title: string | null;
}

/** By `sessionKeyOf`; a session whose own log was never counted is not among them. */
export async function sessionTitles(
  host: Host,
  usage: CountedUsage,
  keys: ReadonlySet<string>,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Map<string, TitledSession>> {
  const files = usage.ledger.files.filter((file) => {
    return file.parent === null && keys.has(usage.sessionKeyOf(file));
  });
  await loadDialects(files.map(({ dialect }) => dialect));
  const titles = new Map<string, TitledSession>();
  const catalog = await Catalog.open(catalogPath());
  try {
    for (const [done, file] of files.entries()) {
      onProgress(done, files.length);
      const row = await knownRowOf(host, catalog, file, file.id);
      titles.set(usage.sessionKeyOf(file), { file, title: row?.title ?? null });
    }
    return titles;
  } finally {
    catalog.close();
  }
}
