/** Session titles: what people call the sessions of a usage report, from the catalog or the logs. */

import type { Host } from "../core/base/host.ts";
import { catalogPath } from "../core/base/node-paths.ts";
import { loadDialects } from "../dialects/all.ts";
import { Catalog } from "../sessions/catalog/catalog.ts";
import { knownRowOf } from "../sessions/list/listing-row.ts";
import type { LedgerFile } from "../usage/ledger/pack.ts";
import type { CountedUsage } from "../usage/report/counted-usage.ts";

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
