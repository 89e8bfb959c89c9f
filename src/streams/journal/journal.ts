/**
 * Journal: where everything that happens to streams becomes durable, one write and one sync for
 * many of them.
 *
 * Segments of records, `journal/<first lsn>.j`. Reading them again is `journal-scan.ts`; what
 * becomes of them is `checkpoint.ts`.
 *
 * J1  A write that was not taken whole is cut off again, and the cut is durable before the next
 *     write: no record is ever fused to the remains of another (log/appender.ts, W3).
 * J2  A failed sync, or a cut that failed, ends the journal: what is on the disk is not known any
 *     more (log/appender.ts, W2). Opening the store again finds out.
 * J3  A segment's name and first line are durable before a record is written to it.
 */

import { ioError, isNoSpace, VerbatimError } from "../../base/errors.ts";
import type { Directory, OpenFile } from "../../base/files.ts";
import { crcOf, hex } from "./crc.ts";

const SALT = /"salt":"([0-9a-f]{16})"/;
const NAME = /^(\d{16})\.j$/;

/** Sixteen digits of a number, so that names sort as numbers do. */
export function segmentName(firstLsn: number): string {
  return `${String(firstLsn).padStart(16, "0")}.j`;
}

/** The lsn that a segment begins with; null for another file's name. */
export function firstLsnOf(name: string): number | null {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** A segment's first line, of always the same length. */
export function segmentHeader(storeId: string, firstLsn: number, salt: string): string {
  const first = String(firstLsn).padStart(16, "0");
  const line = `{"journal":1,"store":"${storeId}","first":"${first}","salt":"${salt}"`;
  return `${line},"crc":"${hex(crcOf(line))}"}\n`;
}

/** The salt of a segment whose first line this is; null when it is no such line. */
export function saltOf(line: string, storeId: string, firstLsn: number): string | null {
  const salt = SALT.exec(line)?.[1];
  return salt !== undefined && segmentHeader(storeId, firstLsn, salt) === line ? salt : null;
}

/** What the crc of a segment's records begins with. */
export function seedOf(salt: string): number {
  return crcOf(salt);
}

export interface Segment {
  readonly name: string;
  readonly firstLsn: number;
}

export class Journal {
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
  ): Promise<Journal> {
    const begun = await beginSegment(directory, storeId, nextLsn, newSalt());
    return new Journal(directory, storeId, newSalt, begun);
  }

  get path(): string {
    return `${this.#directory.path}/${this.#segment.name}`;
  }

  get segment(): Segment {
    return this.#segment;
  }

  /** What the crc of the next record begins with. */
  get seed(): number {
    return this.#seed;
  }

  /** How long the segment is. */
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

  /** To be awaited before a write (J1). */
  async settle(): Promise<void> {
    if (this.#hasUnsyncedCut) await this.sync();
  }

  /** Begins the next segment; answers the one that was in use. Null: it is empty, and goes on. */
  async rotate(nextLsn: number): Promise<Segment | null> {
    if (this.#failure !== null) throw this.#failure;
    // The next would have its name: whoever deletes the old one would delete the new.
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

  /** Ends this journal for good (J2). */
  fail(reason: string, cause?: unknown): VerbatimError {
    this.#failure ??= new VerbatimError(
      "STORE_FAILED",
      `${this.path}: ${reason}; what was acknowledged is safe, but nothing more is taken. ` +
        "Look to the disk, then open the store again to recover",
      { path: this.path, reason },
      { cause },
    );
    return this.#failure;
  }

  async #beginNext(nextLsn: number): Promise<BegunSegment> {
    try {
      return await beginSegment(this.#directory, this.#storeId, nextLsn, this.#newSalt());
    } catch (cause) {
      // The segment in use is as good as before; a full disk is not the end.
      if (isNoSpace(cause)) throw cause;
      throw this.fail("a new segment could not be made durable", cause);
    }
  }

  #undo(length: number, cause: unknown): VerbatimError {
    try {
      this.#file.truncate(this.#end);
      this.#hasUnsyncedCut = true;
    } catch (second) {
      return this.fail("a write failed, and so did taking it back", second);
    }
    if (!isNoSpace(cause)) return this.fail("a write to the journal failed", cause);
    return new VerbatimError(
      "NO_SPACE",
      `no room for ${length} bytes in ${this.path}; nothing changed, and the store takes ` +
        "appends again when there is room",
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
  // One of this name holds no record, or its first would have another number.
  if (directory.names().includes(name)) directory.remove(name);
  const file = directory.open(name, "new");
  try {
    const header = Buffer.from(segmentHeader(storeId, firstLsn, salt));
    if (file.write(header) !== header.length) {
      throw Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
    }
    await synced(file.sync(), `${directory.path}/${name}`);
    await synced(directory.sync(), directory.path);
    return { segment: { name, firstLsn }, file, seed: seedOf(salt), end: header.length };
  } catch (cause) {
    file.close();
    directory.remove(name);
    throw cause;
  }
}

/** A sync that failed is never tried again (J2), be it that the disk was full. */
async function synced(sync: Promise<void>, path: string): Promise<void> {
  try {
    await sync;
  } catch (cause) {
    throw ioError(path, "syncing", cause);
  }
}
