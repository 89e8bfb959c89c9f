/**
 * Journal scan: reads the segments after a crash, and tells a torn end from damage.
 *
 * The last write may be torn if it was not synced, in any order of its pages. A batch is written
 * only after the one before was synced. So if a record is bad and one of a later batch is good,
 * acknowledged bytes were lost: STORE_DAMAGED. The same if numbers are missing between segments.
 * Numbers up to the last write-back are in `meta.jsonl` and need not be here.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import { readStretch } from "../../core/log/bytes.ts";
import { firstLsnOf, type Segment, saltOf, seedOf, segmentHeader } from "./journal.ts";
import { decodeRecord, type JournalRecord } from "./journal-record.ts";

export interface ScannedJournal {
  /** All segments, including those without new records. */
  readonly segments: readonly Segment[];
  /** After the last write-back, in order. */
  readonly records: readonly JournalRecord[];
  /** The last number that is durable or in a segment. */
  readonly lastLsn: number;
  /** The bytes of all segments. */
  readonly bytes: number;
  /** The last batch: it is unknown whether it was synced. */
  readonly doubtful: DoubtfulBatch | null;
}

export interface DoubtfulBatch {
  readonly name: string;
  readonly at: number;
  readonly bytes: Buffer;
}

interface ScannedSegment {
  /**
   * A crash or a full disk interrupted its creation: nothing was written to it (journal.ts, J3).
   */
  readonly isUnborn: boolean;
  readonly records: readonly JournalRecord[];
  /** Where each record begins; one more for the end. */
  readonly places: readonly number[];
  readonly bytes: Buffer;
}

const RECORD_START = Buffer.from('{"lsn":');

export async function scanJournal(
  directory: Directory,
  storeId: string,
  writtenBackLsn: number,
): Promise<ScannedJournal> {
  const segments = segmentsOf(directory);
  const records: JournalRecord[] = [];
  let next = 0;
  let bytes = 0;
  let doubtful: DoubtfulBatch | null = null;
  for (const segment of segments) {
    const path = `${directory.path}/${segment.name}`;
    const expected = Math.max(next, writtenBackLsn + 1);
    if (segment.firstLsn > expected) throw missing(path, expected, segment.firstLsn);
    const scanned = await scanSegment(directory, segment, storeId);
    // The segment before may have continued in place of one whose creation failed.
    if (!scanned.isUnborn) next = segment.firstLsn + scanned.records.length;
    bytes += scanned.bytes.length;
    for (const record of scanned.records) {
      if (record.lsn > writtenBackLsn) records.push(record);
    }
    doubtful = lastBatchOf(segment, scanned) ?? doubtful;
  }
  return { segments, records, lastLsn: Math.max(next - 1, writtenBackLsn), bytes, doubtful };
}

function segmentsOf(directory: Directory): Segment[] {
  const segments: Segment[] = [];
  for (const name of directory.names()) {
    const firstLsn = firstLsnOf(name);
    if (firstLsn !== null) segments.push({ name, firstLsn });
  }
  return segments.sort((a, b) => a.firstLsn - b.firstLsn);
}

async function scanSegment(
  directory: Directory,
  segment: Segment,
  storeId: string,
): Promise<ScannedSegment> {
  const path = `${directory.path}/${segment.name}`;
  const bytes = await readWhole(directory, segment.name);
  const headerBytes = segmentHeader(storeId, segment.firstLsn, storeId).length;
  const salt = saltOf(bytes.toString("latin1", 0, headerBytes), storeId, segment.firstLsn);
  if (salt === null) {
    if (bytes.length <= headerBytes) return { isUnborn: true, records: [], places: [0], bytes };
    throw damaged(path, 0, "its first line is damaged or of another store");
  }
  const records: JournalRecord[] = [];
  const places = [headerBytes];
  const seed = seedOf(salt);
  for (let at = headerBytes; at < bytes.length; ) {
    const lsn = segment.firstLsn + records.length;
    const decoded = decodeRecord(bytes, at, seed);
    if (decoded.record === null || decoded.record.lsn !== lsn) {
      refuseIfLaterBatch(path, bytes, at, seed, lsn);
      break;
    }
    records.push(decoded.record);
    places.push(decoded.next);
    at = decoded.next;
  }
  return { isUnborn: false, records, places, bytes };
}

/** Looks for a record that was written after the sync of the bad one. */
function refuseIfLaterBatch(
  path: string,
  bytes: Buffer,
  badAt: number,
  seed: number,
  badLsn: number,
): void {
  for (let at = badAt + 1; ; at++) {
    at = bytes.indexOf(RECORD_START, at);
    if (at === -1) return;
    const { record } = decodeRecord(bytes, at, seed);
    if (record === null || record.batch <= badLsn) continue;
    throw damaged(path, badAt, `record ${badLsn} is damaged, but record ${record.lsn} is not`);
  }
}

function lastBatchOf({ name }: Segment, scanned: ScannedSegment): DoubtfulBatch | null {
  const { records, places, bytes } = scanned;
  const batch = records.at(-1)?.batch;
  if (batch === undefined) return null;
  const first = records.findIndex((record) => record.batch === batch);
  const at = places[first] as number;
  return { name, at, bytes: bytes.subarray(at, places.at(-1)) };
}

async function readWhole(directory: Directory, name: string): Promise<Buffer> {
  const file = directory.open(name, "read");
  try {
    return await readStretch(file, 0, file.size());
  } finally {
    file.close();
  }
}

function missing(path: string, from: number, to: number): VerbatimError<"STORE_DAMAGED"> {
  return damaged(path, 0, `it begins with record ${to}, but record ${from} is missing`);
}

function damaged(path: string, offset: number, reason: string): VerbatimError<"STORE_DAMAGED"> {
  return new VerbatimError(
    "STORE_DAMAGED",
    `${path} is damaged at byte ${offset}: ${reason}. Restore it from a backup; or, to continue ` +
      "without its contents, move it, streams.db and streams.mark out of the data directory",
    { path, offset, reason },
  );
}
