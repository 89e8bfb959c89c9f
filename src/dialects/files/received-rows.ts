/**
 * Received rows: reads guard's copies of kind `rows` on a server that received them
 * (docs/formats/remote.md). A root that is named `<dialect>@<n>.rows` holds generation n of each
 * session as a file at the path of its log.
 */

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import type { Dialect } from "../dialect.ts";
import type { FoundLog } from "../session-row.ts";
import { convertedHost } from "./converted-host.ts";
import { latestRows } from "./guard-rows.ts";
import { statOf } from "./guard-store.ts";
import { checkBytes } from "./row-lines.ts";

const ROWS_ROOT = /^([a-z0-9-]+)@[1-9]\d{0,8}\.rows$/;

export function rowsRootName(dialect: string, generation: number): string {
  return `${dialect}@${generation}.rows`;
}

export function isRowsRoot(root: string, { name }: Pick<Dialect, "name">): boolean {
  return ROWS_ROOT.exec(basename(root))?.[1] === name;
}

export function* rowsLogs(root: string, { naming: { idAt } }: Dialect): Generator<FoundLog> {
  for (const path of filesBelow(root)) {
    const id = idAt(path.split("/"));
    const stats = id === null ? undefined : statOf(join(root, path));
    if (id === null || !stats?.isFile()) continue;
    yield { id, path, size: stats.size, mtimeMs: stats.mtimeMs };
  }
}

function filesBelow(root: string): string[] {
  try {
    const found = readdirSync(root, { recursive: true, encoding: "utf8" });
    return found.filter((path) => !path.endsWith(sidecarOf("")));
  } catch {
    return []; // It has received nothing yet.
  }
}

/** Presents the last line of each message as the log. */
export function rowsHost(host: Host, root: string, dialect: Dialect): Host {
  return convertedHost(host, root, (above, segments) => {
    const file = join(above, ...segments);
    const stats = dialect.naming.idAt(segments) === null ? undefined : statOf(file);
    if (!stats?.isFile()) return null;
    checkBytes(file, stats.size);
    return { bytes: latestRows(readFileSync(file), dialect), source: file };
  });
}
