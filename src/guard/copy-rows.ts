/**
 * Copy rows: keeps each line that a converted session has or had (docs/formats/guard.md, "rows").
 *
 * The copy is read again for each pass: it says which lines are known, so nothing has to be
 * remembered between passes or after a crash.
 */

import { createHash } from "node:crypto";
import { writeAtOnce } from "../base/file-steps.ts";
import type { OpenFile } from "../base/files.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { isMessageKey, rowKey, wholeLines } from "../dialects/files/guard-rows.ts";
import { readStretch } from "../log/bytes.ts";
import type { BytesToCopy, Copied } from "./copy-bytes.ts";
import { openPlain } from "./generation.ts";

const LF = 0x0a;

export interface RowsToCopy extends Omit<BytesToCopy, "mode" | "isThorough" | "buffers"> {
  readonly mode: number | null;
  readonly dialect: Dialect;
}

export async function copyRows(work: RowsToCopy): Promise<Copied> {
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
