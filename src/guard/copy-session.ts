/** Copy session: brings the copy of one session up to date, in the way that its program needs. */

import { createHash } from "node:crypto";
import { basename } from "node:path";
import { writeAtOnce } from "../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../core/base/files.ts";
import type { Host } from "../core/base/host.ts";
import { readStretch } from "../core/log/bytes.ts";
import { dialectNamed } from "../dialects/all.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { isMessageKey, rowKey, wholeLines } from "../dialects/files/guard-rows.ts";
import type { GuardRecord } from "../dialects/files/guard-store.ts";
import type { FoundLog } from "../dialects/session-row.ts";
import { type Buffers, type BytesToCopy, type CopiedBytes, copyBytes } from "./copy-bytes.ts";
import { openPlain } from "./generation.ts";
import type { GuardSigning } from "./signatures.ts";
import type { Sources } from "./source.ts";
import { addVersion, VERSION_BYTES_MAX } from "./versions.ts";

/** What all sessions of a root have in common. */
export interface SessionCopyOptions {
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
  readonly kept: GuardRecord | undefined;
  /** The directory of the copy. */
  readonly directory: Directory;
  readonly guardedRoot: string;
  readonly isThorough: boolean;
  readonly buffers: Buffers;
  readonly warn: (path: string, cause: unknown) => void;
}

/** The caller syncs and closes the file. */
export async function copySession(
  options: SessionCopyOptions,
  session: SessionToCopy,
): Promise<CopiedBytes> {
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
  { nowMs }: SessionCopyOptions,
  { found: { path, mtimeMs }, directory, warn }: SessionToCopy,
  raw: OpenFile,
  { generation }: CopiedBytes,
  mode: number,
): Promise<void> {
  const size = raw.size();
  if (size > VERSION_BYTES_MAX) {
    return warn(path, new Error(`only its rows are kept: it has over ${VERSION_BYTES_MAX} bytes`));
  }
  const facts = { at: new Date(nowMs()).toISOString(), generation, mtime_ms: mtimeMs, mode };
  await addVersion(directory, basename(path), await readStretch(raw, 0, size), facts);
}

const LF = 0x0a;

interface RowsToCopy extends Omit<BytesToCopy, "mode" | "isThorough" | "buffers"> {
  readonly mode: number | null;
  readonly dialect: Dialect;
}

/**
 * Keeps each line that a converted session has or had (docs/formats/guard.md, "rows").
 *
 * The copy is read again for each pass: it says which lines are known, so nothing has to be
 * remembered between passes or after a crash.
 */
async function copyRows(work: RowsToCopy): Promise<CopiedBytes> {
  const { source, directory, name, path, id, kept, mode, dialect, onAppend } = work;
  const lines = wholeLines(await readStretch(source, 0, source.size()));
  const now = new Map(lines.map((line) => [rowKey(line, dialect), line]));
  const events: Record<string, unknown>[] = [];
  let generation = kept === undefined ? 1 : kept.generation + (kept.isClosed ? 1 : 0);
  for (let isBegun = kept !== undefined && !kept.isClosed; ; isBegun = false, generation++) {
    const file = await openPlain(directory, name, generation);
    try {
      const before = await endOfLines(file);
      const known = new Map<string, string>();
      const bytes = await readStretch(file, 0, before);
      for (const line of wholeLines(bytes)) known.set(rowKey(line, dialect), line);
      const isLost = (key: string) => !now.has(key) && isMessageKey(key, dialect);
      const lost = [...known.keys()].filter(isLost).length;
      if (!isBegun) events.push({ event: "began", path, id, generation, kind: "rows", mode });
      else if (kept?.deletedAt) events.push({ event: "source_back", path, id, generation });
      if (lost === 0) {
        const fresh = [...now].filter(([key, line]) => known.get(key) !== line);
        const changed = fresh.filter(([key]) => known.has(key)).length;
        if (changed > 0) events.push({ event: "rows_changed", path, id, generation, changed });
        const added = Buffer.from(fresh.map(([, line]) => `${line}\n`).join(""));
        const cause = append(file, added, before);
        if (cause === null) onAppend?.(generation, added);
        const end = cause === null ? before + added.length : before;
        const rest = { isNew: !isBegun, events, owesCompare: false, isMoving: false, cause };
        return { file, name: `${name}.${generation}`, before, end, generation, ...rest };
      }
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const event = { event: "source_rewritten", path, id, generation };
      events.push({ ...event, bytes: before, sha256, common: 0, lost });
    } catch (cause) {
      file.close();
      throw cause;
    }
    await file.sync();
    file.close();
  }
}

/** Cuts off a last line that a crash left incomplete: the source still has it. */
async function endOfLines(file: OpenFile): Promise<number> {
  const size = file.size();
  const bytes = await readStretch(file, 0, size);
  const end = bytes.lastIndexOf(LF) + 1;
  if (end < size) file.truncate(end);
  return end;
}

/** Appends whole lines or, if the disk refuses, none. */
function append(file: OpenFile, bytes: Buffer, before: number): unknown {
  if (bytes.length === 0) return null;
  try {
    writeAtOnce(file, bytes);
    return null;
  } catch (cause) {
    file.truncate(before);
    return cause;
  }
}
