/**
 * Journal remainder: what a server that was killed or lost power had acknowledged and not yet written to
 * the files of the streams. Readers do not see it until a server recovers the directory.
 */

import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { lockUnused } from "./data-directory.ts";
import type { JournalRecord } from "./journal-record.ts";
import { scanJournal } from "./journal-scan.ts";
import { MetaFile } from "./meta-file.ts";

/**
 * How many bytes of streams are only in the journal. 0 while a server is running, and if the files
 * cannot be read: their readers report that.
 */
export async function bytesLeftInJournal(host: Host, root: string): Promise<number> {
  const opened: { close(): void }[] = [];
  const keep = <T extends { close(): void }>(part: T): T => {
    opened.push(part);
    return part;
  };
  const open = async (path: string) => {
    return keep(await host.files.openDirectory(path, { create: false }));
  };
  try {
    const directory = await open(root);
    keep(lockUnused(directory));
    const meta = await MetaFile.openToRead(directory);
    if (meta === null) return 0;
    keep(meta);
    const journal = await open(`${root}/journal`);
    const { records } = await scanJournal(journal, meta.storeId, meta.writtenBackLsn);
    return records.length === 0 ? 0 : bytesNotIn(await open(`${root}/logs`), records);
  } catch {
    return 0;
  } finally {
    for (const each of opened.reverse()) each.close();
  }
}

/** The bytes of records past the end of the streams' files. */
export function bytesNotIn(logs: Directory, records: readonly JournalRecord[]): number {
  const ends = new Map<string, number>();
  for (const { op } of records) {
    if (op.op === "create" || op.op === "append") ends.set(op.file, op.pos + op.bytes.length);
    if (op.op === "delete") for (const file of op.files) ends.delete(file);
  }
  let left = 0;
  for (const [file, end] of ends) left += Math.max(0, end - sizeOf(logs, file));
  return left;
}

function sizeOf(logs: Directory, name: string): number {
  try {
    const file = logs.open(name, "read");
    const size = file.size();
    file.close();
    return size;
  } catch {
    return 0; // Created with its first byte.
  }
}
