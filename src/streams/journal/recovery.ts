/**
 * Recovery: restores a data directory after a crash.
 *
 * - The index is updated from `meta.jsonl` to the last write-back, and from there by the journal. A
 *   missing, damaged or incompatible index, or one of another store, is rebuilt.
 * - The bytes of every record after the write-back are written to their files again, in place,
 *   because the files were not synced since. If a file is longer, another program wrote to it,
 *   possibly between them: all from the first record on is saved to another file (log/repair.ts, R1).
 * - An index or a mark that is ahead of meta and journal proves that something was lost:
 *   STORE_DAMAGED.
 * - Running it twice has the same result.
 */

import { ioError, VerbatimError } from "../../core/base/errors.ts";
import { writeAtOnce } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { keepAside } from "../../core/log/repair.ts";
import { CommitBatch } from "../commit/batch.ts";
import { PublishedStreams } from "../commit/published-streams.ts";
import type { MessagePointer } from "../commit/stream-state.ts";
import { dropSome, type Leftovers, writeToIndex } from "../files/lookup/index-backlog.ts";
import { StreamIndex } from "../files/lookup/stream-index.ts";
import { MARK_NAME, readMark } from "./journal-mark.ts";
import type { Op } from "./journal-record.ts";
import { type DoubtfulBatch, type ScannedJournal, scanJournal } from "./journal-scan.ts";
import type { MetaFile, MetaLine, StreamLine } from "./meta-file.ts";

export interface RecoveryParts {
  /** Where `meta.jsonl` and the mark are. */
  readonly directory: Directory;
  readonly journals: Directory;
  readonly logs: Directory;
  readonly meta: MetaFile;
  readonly indexPath: string;
  /** Progress of rebuilding the index, in bytes of `meta.jsonl`. */
  readonly onProgress: (done: number, of: number) => void;
}

export interface RecoveryResult {
  readonly index: StreamIndex;
  readonly journal: ScannedJournal;
}

/** How many lines or records are written to the index together. */
const TOGETHER = 2000;
/** About how much is written to a file at once. */
const WRITTEN_TOGETHER_BYTES = 1024 * 1024;

export async function recover(parts: RecoveryParts): Promise<RecoveryResult> {
  const { directory, meta, journals, logs } = parts;
  const journal = await scanJournal(journals, meta.storeId, meta.writtenBackLsn);
  refuseIfBehindMark(await readMark(directory, meta.storeId), meta, journal);
  const index = await openIndex(parts);
  try {
    refuseIfBehind(index, meta, journal, parts.indexPath);
    await meta.settle();
    if (journal.doubtful !== null) await rewrite(journals, journal.doubtful);
    if (index.applied().lsn < meta.writtenBackLsn) await applyMeta(index, parts);
    applyJournal(index, meta, journal);
    await writeBytes(logs, journal);
    return { index, journal };
  } catch (cause) {
    index.close();
    throw cause;
  }
}

/** The index, of this store or empty. */
async function openIndex({ indexPath, meta }: RecoveryParts): Promise<StreamIndex> {
  const index = await StreamIndex.open(indexPath);
  const { storeId } = index.applied();
  if (storeId === meta.storeId || storeId === "") return index;
  index.spoil();
  index.close();
  return StreamIndex.open(indexPath);
}

function refuseIfBehind(
  index: StreamIndex,
  meta: MetaFile,
  journal: ScannedJournal,
  indexPath: string,
): void {
  const { lsn, metaBytes } = index.applied();
  if (lsn <= journal.lastLsn && metaBytes <= meta.end) return;
  throw new VerbatimError(
    "STORE_DAMAGED",
    `${indexPath} knows of ${lsn} commits, but the journal and ${meta.path} hold only ` +
      `${journal.lastLsn}. ${GO_ON_WITHOUT}`,
    { path: meta.path, offset: meta.end, reason: "the journal or meta.jsonl is not complete" },
  );
}

const GO_ON_WITHOUT = `Restore what is missing; or, to continue without it, delete streams.db and ${MARK_NAME}`;

function refuseIfBehindMark(lsn: number, meta: MetaFile, journal: ScannedJournal): void {
  if (lsn <= journal.lastLsn) return;
  throw new VerbatimError(
    "STORE_DAMAGED",
    `${lsn} commits were acknowledged, but the journal and ${meta.path} hold only ` +
      `${journal.lastLsn}. ${GO_ON_WITHOUT}`,
    { path: meta.path, offset: meta.end, reason: "the journal or meta.jsonl is not complete" },
  );
}

/** It is unknown whether the last batch was synced (meta-file.ts, MF3, says why that matters). */
async function rewrite(directory: Directory, { name, at, bytes }: DoubtfulBatch): Promise<void> {
  try {
    const file = directory.open(name, "update");
    try {
      writeAtOnce(file, bytes, at);
      await file.sync();
    } finally {
      file.close();
    }
  } catch (cause) {
    throw ioError(`${directory.path}/${name}`, "recovery", cause);
  }
}

/** Updates the index to the last write-back. */
export async function applyMeta(
  index: StreamIndex,
  parts: Pick<RecoveryParts, "meta" | "onProgress">,
): Promise<void> {
  const { meta, onProgress } = parts;
  let lines: MetaLine[] = [];
  let messages = 0;
  const flush = (metaBytes: number, lsn: number) => {
    index.transaction(() => {
      for (const line of lines) applyLine(index, line);
      index.setApplied({ lsn, metaBytes, storeId: meta.storeId });
    });
    lines = [];
    messages = 0;
    onProgress(metaBytes, meta.end);
  };
  // A group counts as a whole: until its `checkpoint` line, the index keeps its old position.
  let { lsn, metaBytes } = index.applied();
  for await (const { line, end } of meta.lines(metaBytes)) {
    lines.push(line);
    if (line.kind === "stream") messages += line.messages.length / 3;
    if (line.kind === "checkpoint") {
      lsn = line.lsn;
      metaBytes = end;
    }
    if (line.kind === "checkpoint" || lines.length + messages > TOGETHER) flush(metaBytes, lsn);
  }
}

function applyLine(index: StreamIndex, line: MetaLine): void {
  if (line.kind === "stream") applyStream(index, line);
  if (line.kind === "record") index.putRecord(line.key, line.value);
  if (line.kind === "removal") index.putRemoval(line.file, line.deletedAtMs);
}

function applyStream(index: StreamIndex, line: StreamLine): void {
  const { state } = line;
  if (line.isNew || state.status === "deleted") index.dropContents(state.path);
  index.putStream(state);
  const pointers: MessagePointer[] = [];
  let end = line.from;
  let timestamp = 0;
  for (let n = 0; n < line.messages.length; n += 3) {
    const [length = 0, later = 0, crc = 0] = line.messages.slice(n, n + 3);
    end += length;
    timestamp += later;
    pointers.push({ end, length, timestamp, crc });
  }
  index.putMessages(state, pointers);
  for (const block of line.blocks) index.putBlock(state.path, block);
  for (const turn of line.producers) index.putProducer(state.path, turn);
}

/** Applies the records that are not in the index. */
export function applyJournal(
  index: StreamIndex,
  meta: MetaFile,
  { records }: Pick<ScannedJournal, "records">,
): void {
  const { lsn: applied } = index.applied();
  const leftovers: Leftovers = new Map();
  const unknown = records.filter(({ lsn }) => lsn > applied);
  for (let from = 0; from < unknown.length; from += TOGETHER) {
    const batch = new CommitBatch(new PublishedStreams(index, TOGETHER));
    const some = unknown.slice(from, from + TOGETHER);
    for (const { op } of some) batch.carryOut(op);
    const lsn = some.at(-1)?.lsn ?? applied;
    index.transaction(() => {
      writeToIndex(index, batch, leftovers);
      while (leftovers.size > 0) dropSome(index, leftovers);
      index.setApplied({ lsn, metaBytes: meta.end, storeId: meta.storeId });
    });
  }
}

/** Writes the bytes of all records to their files again. */
async function writeBytes(directory: Directory, { records }: ScannedJournal): Promise<void> {
  const byFile = new Map<string, Stretch[]>();
  for (const { op } of records) {
    const stretch = stretchOf(op);
    if (stretch === null) continue;
    const stretches = byFile.get(stretch.file);
    if (stretches === undefined) byFile.set(stretch.file, [stretch]);
    else stretches.push(stretch);
  }
  for (const [name, stretches] of byFile) await writeFile(directory, name, stretches);
}

interface Stretch {
  readonly file: string;
  readonly pos: number;
  readonly bytes: Uint8Array;
}

function stretchOf(op: Op): Stretch | null {
  if (op.op === "delete" || op.op === "record") return null;
  return op.bytes.length > 0 ? op : null;
}

async function writeFile(
  directory: Directory,
  name: string,
  stretches: readonly Stretch[],
): Promise<void> {
  const path = `${directory.path}/${name}`;
  try {
    const file = directory.open(name, "update");
    try {
      const start = stretches[0]?.pos ?? 0;
      const last = stretches.at(-1);
      const end = last === undefined ? 0 : last.pos + last.bytes.length;
      // Usually it does, and this check is cheaper: there may be a file for every record.
      const size = file.endsAt(end) ? end : file.size();
      if (size > end) {
        await keepAside({ directory, name, path }, file, start, size);
        file.truncate(end);
      }
      writeStretches(file, stretches);
    } finally {
      file.close();
    }
  } catch (cause) {
    throw ioError(path, "recovery", cause);
  }
}

/** They are consecutive. Some at a time: all at once would be in memory twice. */
function writeStretches(file: OpenFile, stretches: readonly Stretch[]): void {
  let some: Uint8Array[] = [];
  let length = 0;
  for (const [n, { pos, bytes }] of stretches.entries()) {
    some.push(bytes);
    length += bytes.length;
    if (length < WRITTEN_TOGETHER_BYTES && n < stretches.length - 1) continue;
    const [only = bytes] = some;
    writeAtOnce(
      file,
      some.length === 1 ? only : Buffer.concat(some, length),
      pos + bytes.length - length,
    );
    some = [];
    length = 0;
  }
}
