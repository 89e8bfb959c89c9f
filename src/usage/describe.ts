/** Describe: a scanned log as a file of the ledger: whose it is, and what its keys hold within. */

import type { FoundLog } from "../catalog/session-row.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { threadIn } from "../dialects/origin.ts";
import type { LedgerFile, PackedFile } from "./ledger/pack.ts";
import { scopeIn } from "./scan/file-scan.ts";

export interface Found {
  readonly dialect: Dialect;
  readonly root: string;
  readonly log: FoundLog;
  /** As it was last counted. */
  readonly known: LedgerFile | undefined;
}

/** What was counted of it, by either way. */
export interface Counted {
  readonly reached: PackedFile["reached"];
  readonly rowCount: number;
  /** Fields of a row that says where the session belongs. */
  readonly about: Readonly<Record<string, unknown>> | null;
  /** The scope of the session that it was copied from. */
  readonly origin?: string | null;
}

export function describe({ dialect, root, log, known }: Found, counted: Counted): PackedFile {
  const { id, path, size, mtimeMs } = log;
  const about = counted.about && dialect.about?.(counted.about, id);
  const name = nameIn(dialect, id);
  const thread = threadIn(counted.about);
  const parent = about?.parent ? nameIn(dialect, about.parent) : null;
  return {
    dialect: dialect.name,
    root,
    id,
    path,
    size,
    mtimeMs,
    reached: counted.reached,
    name,
    parent: parent ?? known?.parent ?? null,
    project: about?.cwd || (known?.project ?? null),
    scope: counted.origin ?? scopeIn(counted.about) ?? known?.scope ?? name,
    replays: thread.replays ?? known?.replays ?? null,
    startedAt: thread.startedAt ?? known?.startedAt ?? null,
    rows: counted.rowCount,
  };
}

/** A parent may be given by its id, or by the name that its program uses. */
export function nameIn(dialect: Dialect, id: string): string {
  return dialect.nameOf?.(id) ?? id;
}
