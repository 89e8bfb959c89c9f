/** Describe: a scanned log as a file of the ledger: whose it is, and what its keys hold within. */

import type { Dialect } from "../dialects/dialect.ts";
import type { Standing } from "../dialects/facets/files.ts";
import { threadIn } from "../dialects/origin.ts";
import type { FoundLog } from "../dialects/session-row.ts";
import type { LedgerFile, PackedFile } from "./ledger/pack.ts";
import { scopeIn } from "./scan/file-scan.ts";

export interface CountableLog {
  readonly dialect: Dialect;
  readonly root: string;
  readonly log: FoundLog;
  /** As it was last counted. */
  readonly known: LedgerFile | undefined;
}

/** What was counted of it, by either way. */
export interface SessionCount {
  readonly reached: PackedFile["reached"];
  readonly rowCount: number;
  /** Fields of a row that says where the session belongs. */
  readonly about: Readonly<Record<string, unknown>> | null;
  /** The scope of the session that it was copied from. */
  readonly origin?: string | null;
  /** What files next to the log say about the session. */
  readonly standing?: Standing | undefined;
}

export function describe(
  { dialect, root, log, known }: CountableLog,
  counted: SessionCount,
): PackedFile {
  const { id, path, size, mtimeMs } = log;
  const about = counted.about && dialect.reading.about?.(counted.about, id);
  const name = parentNameOf(dialect, id);
  const thread = threadIn(counted.about);
  const { standing } = counted;
  const named = about?.parent || standing?.parent;
  const above = named ? parentNameOf(dialect, named) : null;
  // A fork is a session of its own, which begins with the rows of another.
  const isFork = dialect.program?.hasForks === true;
  const replays = thread.replays ?? (isFork ? above : null);
  return {
    dialect: dialect.name,
    root,
    id,
    path,
    size,
    mtimeMs,
    reached: counted.reached,
    name,
    parent: isFork ? null : (above ?? known?.parent ?? null),
    project: about?.cwd || standing?.about?.cwd || (known?.project ?? null),
    scope: counted.origin ?? scopeIn(counted.about) ?? known?.scope ?? name,
    replays: replays ?? known?.replays ?? null,
    startedAt: thread.startedAt ?? known?.startedAt ?? null,
    rows: counted.rowCount,
  };
}

/** A parent may be given by its id, or by the name that its program uses. */
export function parentNameOf(dialect: Dialect, id: string): string {
  return dialect.naming.nameOf?.(id) ?? id;
}
