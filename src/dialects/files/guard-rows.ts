/**
 * Guard rows: the lines of a generation of kind `rows` (docs/formats/guard.md).
 *
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
import { statOf } from "./guard-store.ts";
import { checkBytes } from "./row-lines.ts";

const ROWS_ROOT = /^([a-z0-9-]+)@[1-9]\d{0,8}\.rows$/;
const LF = 0x0a;

/** What identifies a line when its message is written again: the dialect's key, else its text. */
export function rowKey(line: string, { program }: Pick<Dialect, "program">): string {
  try {
    const native: unknown = JSON.parse(line);
    if (typeof native !== "object" || native === null) return line;
    const key = program?.lineKey?.(native as Readonly<Record<string, unknown>>) ?? null;
    return key === null ? line : `${KEYED}${key}`;
  } catch {
    return line;
  }
}

/** Begins no line of JSON. */
const KEYED = "key:";

/** A line without a key, where others have one, is no message. */
export function isMessageKey(key: string, { program }: Pick<Dialect, "program">): boolean {
  return program?.lineKey === undefined || key.startsWith(KEYED);
}

/** Of lines with the same key, the last at the place of the first. */
export function latestRows(bytes: Buffer, dialect: Pick<Dialect, "program">): Buffer {
  const lines = new Map<string, string>();
  for (const line of wholeLines(bytes)) lines.set(rowKey(line, dialect), line);
  return Buffer.from([...lines.values()].map((line) => `${line}\n`).join(""));
}

/** The lines that end in LF. */
export function wholeLines(bytes: Buffer): string[] {
  const end = bytes.lastIndexOf(LF);
  return end === -1 ? [] : bytes.subarray(0, end).toString("utf8").split("\n");
}

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
