/** Source: a session as its program has it, opened without following a link below the root. */

import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import type { FoundLog } from "../catalog/session-row.ts";
import { dialectNamed } from "../dialects/all.ts";

export interface OpenedSource {
  /** The session as its dialect reads it. */
  readonly file: OpenFile;
  /** That is the program's own file. */
  readonly isPlain: boolean;
  /** The program's own file, if there is one and it is another. */
  readonly raw: OpenFile | null;
  /** Null for rows of a database. */
  readonly mode: number | null;
}

/** Opens a session as its dialect reads it, and as its program wrote it. */
export async function openSource(
  host: Host,
  dialect: string,
  root: string,
  { id, path }: FoundLog,
): Promise<OpenedSource> {
  const { hostFor, program, logPath } = dialectNamed(dialect);
  const file = await openAt(hostFor?.(host, root) ?? host, root, logPath(id).join("/"));
  try {
    if (program?.changes === "rows") return { file, isPlain: false, raw: null, mode: null };
    const stats = lstatSync(join(root, path), { bigint: true });
    const isSame = file.identity() === `${stats.dev}:${stats.ino}`;
    const isPlain = isSame && program?.changes === "grows";
    const raw = isPlain ? null : await openAt(host, root, path);
    return { file, isPlain, raw, mode: Number(stats.mode) & 0o777 };
  } catch (cause) {
    file.close();
    throw cause;
  }
}

async function openAt({ files }: Host, root: string, path: string): Promise<OpenFile> {
  const directory = await files.openDirectory(join(root, dirname(path)), { create: false, root });
  try {
    return directory.open(basename(path), "read");
  } finally {
    directory.close();
  }
}

export function isGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch (cause) {
    return errnoOf(cause) === "ENOTDIR";
  }
}
