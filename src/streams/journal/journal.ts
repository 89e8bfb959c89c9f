/**
 * Journal: makes every change of streams durable, with one write and one sync for many.
 *
 * Segments of records, `journal/<first lsn>.j`. `journal-scan.ts` reads them; `write-back.ts`
 * deletes them.
 *
 * A write that was cut short is rolled back, and the truncation is durable before the next
 * write: no record is ever joined to the remains of another (core/log/appender.ts, W3).
 *
 * A failed sync or truncation ends the journal: the state of the disk is unknown
 * (core/log/appender.ts, W2). Opening the store again recovers.
 *
 * J3  A segment's name and first line are durable before a record is written to it.
 */

import { ioError, isNoSpace, VerbatimError } from "../../core/base/errors.ts";
import { writeAtOnce } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { crcOf, hex } from "./journal-record.ts";

const SALT = /"salt":"([0-9a-f]{16})"/;
const NAME = /^(\d{16})\.j$/;

/** Sixteen digits, so that names sort like numbers. */
export function segmentName(firstLsn: number): string {
  return `${String(firstLsn).padStart(16, "0")}.j`;
}

/** The first lsn of a segment; null for the name of another file. */
export function firstLsnOf(name: string): number | null {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** A segment's first line, of constant length. */
export function segmentHeader(storeId: string, firstLsn: number, salt: string): string {
  const first = String(firstLsn).padStart(16, "0");
  const line = `{"journal":1,"store":"${storeId}","first":"${first}","salt":"${salt}"`;
  return `${line},"crc":"${hex(crcOf(line))}"}\n`;
}

/** The salt in a segment's first line; null when it is not one. */
export function saltOf(line: string, storeId: string, firstLsn: number): string | null {
  const salt = SALT.exec(line)?.[1];
  return salt !== undefined && segmentHeader(storeId, firstLsn, salt) === line ? salt : null;
}

/** The initial crc of a segment's records. */
export function seedOf(salt: string): number {
  return crcOf(salt);
}

export interface Segment {
  readonly name: string;
  readonly firstLsn: number;
}

export class CommitJournal {
  readonly #directory: Directory;
  readonly #storeId: string;
  readonly #newSalt: () => string;
  #segment: Segment;
  #file: OpenFile;
  #seed: number;
  #end: number;
  #hasUnsyncedCut = false;
  #failure: VerbatimError | null = null;

  private constructor(
    directory: Directory,
    storeId: string,
    newSalt: () => string,
    begun: BegunSegment,
  ) {
    this.#directory = directory;
    this.#storeId = storeId;
    this.#newSalt = newSalt;
    this.#segment = begun.segment;
    this.#file = begun.file;
    this.#seed = begun.seed;
    this.#end = begun.end;
  }

  /** Begins a segment for the records from `nextLsn` on. */
  static async begin(
    directory: Directory,
    storeId: string,
    nextLsn: number,
    newSalt: () => string,
  ): Promise<CommitJournal> {
    const begun = await beginSegment(directory, storeId, nextLsn, newSalt());
    return new CommitJournal(directory, storeId, newSalt, begun);
  }

  get path(): string {
    return `${this.#directory.path}/${this.#segment.name}`;
  }

  get segment(): Segment {
    return this.#segment;
  }

  /** The initial crc of the next record. */
  get seed(): number {
    return this.#seed;
  }

  /** The length of the segment. */
  get bytes(): number {
    return this.#end;
  }

  /** Writes records, the first `length` bytes. Durable after `sync`. */
  write(records: Uint8Array, length: number): void {
    if (this.#failure !== null) throw this.#failure;
    let taken = 0;
    try {
      taken = this.#file.write(records, length);
    } catch (cause) {
      throw this.#undo(length, cause);
    }
    if (taken !== length) throw this.#undo(length, { code: "ENOSPC" });
    this.#end += length;
  }

  async sync(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    try {
      await this.#file.sync();
    } catch (cause) {
      throw this.fail("a sync of the journal failed", cause);
    }
    this.#hasUnsyncedCut = false;
  }

  /** Await it before a write. */
  async settle(): Promise<void> {
    if (this.#hasUnsyncedCut) await this.sync();
  }

  /** Begins the next segment; returns the previous one. Null: it is empty and stays in use. */
  async rotate(nextLsn: number): Promise<Segment | null> {
    if (this.#failure !== null) throw this.#failure;
    // The next would have the same name: deleting the old one would delete the new one.
    if (nextLsn === this.#segment.firstLsn) return null;
    const begun = await this.#beginNext(nextLsn);
    const finished = this.#segment;
    this.#file.close();
    this.#segment = begun.segment;
    this.#file = begun.file;
    this.#seed = begun.seed;
    this.#end = begun.end;
    return finished;
  }

  close(): void {
    this.#file.close();
  }

  /** Ends this journal. */
  fail(reason: string, cause?: unknown): VerbatimError {
    this.#failure ??= new VerbatimError(
      "STORE_FAILED",
      `${this.path}: ${reason}; acknowledged data is safe, but writes are refused. ` +
        "Check the disk. A server continues by itself when a full one has space; otherwise open " +
        "the store again to recover",
      { path: this.path, reason },
      { cause },
    );
    return this.#failure;
  }

  async #beginNext(nextLsn: number): Promise<BegunSegment> {
    try {
      return await beginSegment(this.#directory, this.#storeId, nextLsn, this.#newSalt());
    } catch (cause) {
      // The current segment is unchanged; a full disk does not end the journal.
      if (isNoSpace(cause)) throw cause;
      throw this.fail("a new segment could not be made durable", cause);
    }
  }

  #undo(length: number, cause: unknown): VerbatimError {
    try {
      this.#file.truncate(this.#end);
      this.#hasUnsyncedCut = true;
    } catch (second) {
      return this.fail("a write failed, and so did its rollback", second);
    }
    if (!isNoSpace(cause)) return this.fail("a write to the journal failed", cause);
    return new VerbatimError(
      "NO_SPACE",
      `no room for ${length} bytes in ${this.path}; nothing changed, and the store accepts ` +
        "appends again when there is space",
      { path: this.path, end: this.#end, bytes: length },
      { cause },
    );
  }
}

interface BegunSegment {
  readonly segment: Segment;
  readonly file: OpenFile;
  readonly seed: number;
  readonly end: number;
}

async function beginSegment(
  directory: Directory,
  storeId: string,
  firstLsn: number,
  salt: string,
): Promise<BegunSegment> {
  const name = segmentName(firstLsn);
  // A file of this name has no record, or its first would have another number.
  if (directory.names().includes(name)) directory.remove(name);
  const file = directory.open(name, "new");
  try {
    const header = Buffer.from(segmentHeader(storeId, firstLsn, salt));
    writeAtOnce(file, header);
    await synced(file.sync(), `${directory.path}/${name}`);
    await synced(directory.sync(), directory.path);
    return { segment: { name, firstLsn }, file, seed: seedOf(salt), end: header.length };
  } catch (cause) {
    file.close();
    directory.remove(name);
    throw cause;
  }
}

/** A failed sync is never tried again, even if the disk was full. */
async function synced(sync: Promise<void>, path: string): Promise<void> {
  try {
    await sync;
  } catch (cause) {
    throw ioError(path, "syncing", cause);
  }
}
