/** Copy session: brings the copy of one session up to date, in the way that its program needs. */

import { basename } from "node:path";
import type { Directory, OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import type { FoundLog } from "../catalog/session-row.ts";
import { dialectNamed } from "../dialects/all.ts";
import type { Kept } from "../dialects/files/guard-store.ts";
import { readStretch } from "../log/bytes.ts";
import { type Buffers, type Copied, copyBytes } from "./copy-bytes.ts";
import { copyRows } from "./copy-rows.ts";
import type { GuardSigning } from "./signing.ts";
import type { Sources } from "./source.ts";
import { addVersion, VERSION_BYTES_MAX } from "./versions.ts";

/** What all sessions of a root have in common. */
export interface CopyOptions {
  readonly host: Host;
  readonly dialect: string;
  /** The program's directory: a real path. */
  readonly root: string;
  readonly nowMs: () => number;
  readonly signing: GuardSigning | null;
}

export interface SessionToCopy {
  readonly found: FoundLog;
  readonly sources: Sources;
  readonly kept: Kept | undefined;
  /** The directory of the copy. */
  readonly directory: Directory;
  readonly guardedRoot: string;
  readonly isThorough: boolean;
  readonly buffers: Buffers;
  readonly warn: (path: string, cause: unknown) => void;
}

/** The caller syncs and closes the file. */
export async function copySession(options: CopyOptions, session: SessionToCopy): Promise<Copied> {
  const { dialect, signing } = options;
  const { found, directory, kept, isThorough, buffers, guardedRoot } = session;
  const { path, id } = found;
  const opened = await session.sources.open(found);
  try {
    const work = { source: opened.file, directory, name: basename(path), path, id, kept };
    const stretch = signing?.stretch(guardedRoot, `${dialect}/${id}`, path);
    const onAppend = stretch ? { onAppend: stretch.add } : {};
    const mode = opened.mode ?? 0o600;
    const copied = opened.isPlain
      ? await copyBytes({ ...work, mode, isThorough, buffers, ...onAppend })
      : await copyRows({ ...work, ...opened, dialect: dialectNamed(dialect), ...onAppend });
    try {
      if (opened.raw) await keepVersion(options, session, opened.raw, copied, mode);
      if (stretch) {
        await copied.file.sync();
        await stretch.sign(copied, opened.isPlain ? opened.file : null);
      }
    } catch (cause) {
      copied.file.close();
      throw cause;
    }
    return copied;
  } finally {
    opened.file.close();
    opened.raw?.close();
  }
}

async function keepVersion(
  { nowMs }: CopyOptions,
  { found: { path, mtimeMs }, directory, warn }: SessionToCopy,
  raw: OpenFile,
  { generation }: Copied,
  mode: number,
): Promise<void> {
  const size = raw.size();
  if (size > VERSION_BYTES_MAX) {
    return warn(path, new Error(`only its rows are kept: it has over ${VERSION_BYTES_MAX} bytes`));
  }
  const facts = { at: new Date(nowMs()).toISOString(), generation, mtime_ms: mtimeMs, mode };
  await addVersion(directory, basename(path), await readStretch(raw, 0, size), facts);
}
