/**
 * Meta file: `meta.jsonl`, everything that is not in the bytes of `logs/`. `streams.db` is rebuilt
 * from it.
 *
 * Lines of JSON, each with its crc, written in groups: a group is valid once its last line, the
 * `checkpoint` line, is there. Format: docs/formats/streams.md, "meta.jsonl".
 *
 * Lines after the last write-back are incomplete, and their records are still in the journal:
 * they are cut off, once the journal was found complete. The same for the last group,
 * including its `checkpoint` line, if one of its lines is bad: its pages may arrive in any order
 * before the sync.
 *
 * A bad line before that is damage: STORE_DAMAGED.
 *
 * MF3  The last group is written again in place and synced before it is used: after a failed sync
 *      the kernel may show bytes that it will never write (log/repair.ts, R2), and journal segments
 *      are deleted because of a group.
 * MF4  A backup holds this file (a shared kernel lock), and no journal segment is deleted meanwhile
 *      (`unlessHeld`).
 */

import { ioError, isNoSpace, VerbatimError } from "../../core/base/errors.ts";
import { writeAtOnce } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { LF, readChunks, readStretch } from "../../core/log/bytes.ts";
import type { MessageBlock, StreamState } from "../commit/stream-state.ts";
import type { ProducerTurn } from "../files/stream-store.ts";
import { crcOf, hex } from "./journal-record.ts";

/** What a write-back says of one stream; for many messages, in several lines. */
export interface StreamLine {
  readonly kind: "stream";
  readonly state: StreamState;
  /** Replaces everything said of this path before. */
  readonly isNew: boolean;
  /** Where the first of `messages` begins. */
  readonly from: number;
  /** Three numbers per message: length, milliseconds after the one before, crc32. */
  readonly messages: readonly number[];
  readonly blocks: readonly MessageBlock[];
  readonly producers: readonly ProducerTurn[];
}

export type MetaLine =
  | { readonly kind: "store"; readonly storeId: string }
  | StreamLine
  | { readonly kind: "record"; readonly key: string; readonly value: string | null }
  | { readonly kind: "removal"; readonly file: string; readonly deletedAtMs: number }
  /** `start`: where its group begins. */
  | { readonly kind: "checkpoint"; readonly lsn: number; readonly start: number };

const NAME = "meta.jsonl";
const WRITE_BACK_START = Buffer.from('\n{"kind":"checkpoint"');
const WINDOW_BYTES = 64 * 1024;
/** As long as every id of a store. */
const STORE_ID_EXAMPLE = "0123456789abcdef";
const CRC = /,"crc":"([0-9a-f]{8})"\}$/;
const CRC_LENGTH = ',"crc":"00000000"}'.length;

export class MetaFile {
  readonly path: string;
  readonly storeId: string;
  readonly #directory: Directory;
  readonly #file: OpenFile;
  #groupStart: number;
  #end: number;
  #writtenBackLsn: number;

  private constructor(directory: Directory, file: OpenFile, meta: ReadMeta) {
    this.path = `${directory.path}/${NAME}`;
    this.#directory = directory;
    this.#file = file;
    this.storeId = meta.storeId;
    this.#groupStart = meta.groupStart;
    this.#end = meta.end;
    this.#writtenBackLsn = meta.writtenBackLsn;
  }

  /** Opens the file, or creates it for a store of this id. */
  static async open(directory: Directory, newStoreId: string): Promise<MetaFile> {
    const path = `${directory.path}/${NAME}`;
    try {
      const file = directory.open(NAME, "update");
      try {
        const meta = (await look(path, file)) ?? begin(file, newStoreId);
        return new MetaFile(directory, file, meta);
      } catch (cause) {
        file.close();
        throw cause;
      }
    } catch (cause) {
      throw ioError(path, "opening", cause);
    }
  }

  /** The file for reading `lines` only; null when its creation was not finished. */
  static async openToRead(directory: Directory): Promise<MetaFile | null> {
    const path = `${directory.path}/${NAME}`;
    try {
      const file = directory.open(NAME, "read");
      try {
        const meta = await look(path, file);
        if (meta !== null) return new MetaFile(directory, file, meta);
      } catch (cause) {
        file.close();
        throw cause;
      }
      file.close();
      return null;
    } catch (cause) {
      throw ioError(path, "opening", cause);
    }
  }

  /** Cuts off what is incomplete, and makes the rest durable (MF3). */
  async settle(): Promise<void> {
    try {
      if (this.#file.size() > this.#end) this.#file.truncate(this.#end);
      for await (const { bytes, at } of stretches(this.#file, this.#groupStart, this.#end)) {
        writeAtOnce(this.#file, bytes, at);
      }
      await this.#file.sync();
      await this.#directory.sync(); // Its creator may have crashed before that.
    } catch (cause) {
      throw ioError(this.path, "recovery", cause);
    }
  }

  /** How many bytes follow the last write-back: they are incomplete. */
  get bytesLeft(): number {
    return this.#file.size() - this.#end;
  }

  /** After the last write-back. */
  get end(): number {
    return this.#end;
  }

  /** Everything up to this number is in here. */
  get writtenBackLsn(): number {
    return this.#writtenBackLsn;
  }

  /** Adds a group of lines durably, the `checkpoint` line last; in pieces, so that other work can run. */
  async append(pieces: AsyncIterable<Uint8Array>, writtenBackLsn: number): Promise<void> {
    const start = this.#end;
    let at = start;
    const add = (bytes: Uint8Array) => {
      writeAtOnce(this.#file, bytes, at);
      at += bytes.length;
    };
    try {
      for await (const piece of pieces) add(piece);
      add(encodeMetaLine({ kind: "checkpoint", lsn: writtenBackLsn, start }));
    } catch (cause) {
      if (isNoSpace(cause)) this.#file.truncate(start);
      throw cause;
    }
    await this.#sync();
    this.#groupStart = start;
    this.#end = at;
    this.#writtenBackLsn = writtenBackLsn;
  }

  /** A failed sync is never tried again (core/log/appender.ts, W2), even if the disk was full. */
  async #sync(): Promise<void> {
    try {
      await this.#file.sync();
    } catch (cause) {
      throw ioError(this.path, "syncing", cause);
    }
  }

  /** The lines from `from` to the last write-back, each with its end. */
  async *lines(from: number): AsyncGenerator<{ line: MetaLine; end: number }> {
    for await (const { text, start, end } of soundLines(this.#file, from, this.#end)) {
      if (text === null) throw damaged(this.path, start);
      yield { line: JSON.parse(text) as MetaLine, end };
    }
  }

  /** Holds the file until `close` (MF4). False: a segment is being deleted. */
  tryHold(): boolean {
    return this.#file.tryLock("shared");
  }

  /** Does what must not happen during a backup (MF4); returns whether it could. */
  unlessHeld(work: () => void): boolean {
    if (!this.#file.tryLock("exclusive")) return false;
    try {
      work();
    } finally {
      this.#file.unlock();
    }
    return true;
  }

  close(): void {
    this.#file.close();
  }
}

export function encodeMetaLine(line: MetaLine): Buffer {
  const json = JSON.stringify(line).slice(0, -1);
  return Buffer.from(`${json},"crc":"${hex(crcOf(json))}"}\n`);
}

function decodeMetaLine(bytes: Buffer): MetaLine | null {
  const text = soundText(bytes);
  return text === null ? null : (JSON.parse(text) as MetaLine);
}

/** The JSON of a line, without its crc; null when the crc is wrong. */
function soundText(bytes: Buffer): string | null {
  const crc = CRC.exec(bytes.toString("latin1", bytes.length - CRC_LENGTH))?.[1];
  if (crc === undefined || hex(crcOf(bytes.subarray(0, -CRC_LENGTH))) !== crc) return null;
  return `${bytes.toString("utf8", 0, bytes.length - CRC_LENGTH)}}`;
}

/** Every line of a range; `text` is null for an incomplete or bad one. */
async function* soundLines(
  file: OpenFile,
  from: number,
  to: number,
): AsyncGenerator<{ text: string | null; start: number; end: number }> {
  let rest: Buffer = Buffer.alloc(0);
  let at = from;
  for await (const { bytes } of stretches(file, from, to)) {
    const chunk = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    let start = 0;
    for (let lf = chunk.indexOf(LF); lf !== -1; lf = chunk.indexOf(LF, start)) {
      const end = at + lf + 1 - start;
      yield { text: soundText(chunk.subarray(start, lf)), start: at, end };
      at = end;
      start = lf + 1;
    }
    rest = chunk.subarray(start);
  }
  if (rest.length > 0) yield { text: null, start: at, end: to };
}

interface ReadMeta {
  readonly storeId: string;
  readonly writtenBackLsn: number;
  readonly groupStart: number;
  readonly end: number;
}

/** Null in a file whose creation was not finished. */
async function look(path: string, file: OpenFile): Promise<ReadMeta | null> {
  const size = file.size();
  const start = await readStretch(file, 0, Math.min(size, WINDOW_BYTES));
  const lf = start.indexOf(LF);
  const first = lf === -1 ? null : decodeMetaLine(start.subarray(0, lf));
  if (first?.kind !== "store") {
    // Nothing follows the first line before it is durable.
    if (size > encodeMetaLine({ kind: "store", storeId: STORE_ID_EXAMPLE }).length) {
      throw damaged(path, 0);
    }
    return null;
  }
  const { storeId } = first;
  let last = await lastWriteBack(file, lf, size);
  // Only the last group can be incomplete, and its pages may have arrived in any order: its
  // write-back alone proves nothing.
  if (last !== null && !(await isWhole(file, last.start, last.end))) {
    last = await lastWriteBack(file, lf, last.start);
  }
  return last === null
    ? { storeId, writtenBackLsn: 0, groupStart: 0, end: lf + 1 }
    : { storeId, writtenBackLsn: last.lsn, groupStart: last.start, end: last.end };
}

/** Whether every line of a group is valid. */
async function isWhole(file: OpenFile, start: number, end: number): Promise<boolean> {
  for await (const { text } of soundLines(file, start, end)) if (text === null) return false;
  return true;
}

/** Searches from the end, in growing windows: usually it is the last line. */
async function lastWriteBack(
  file: OpenFile,
  from: number,
  size: number,
): Promise<{ lsn: number; start: number; end: number } | null> {
  for (let window = WINDOW_BYTES; ; window *= 8) {
    const at = Math.max(from, size - window);
    const bytes = await readStretch(file, at, size);
    for (let lf = bytes.length; lf > 0; ) {
      lf = bytes.lastIndexOf(WRITE_BACK_START, lf - 1);
      if (lf === -1) break;
      const end = bytes.indexOf(LF, lf + 1);
      const line = end === -1 ? null : decodeMetaLine(bytes.subarray(lf + 1, end));
      if (line?.kind === "checkpoint") return { ...line, end: at + end + 1 };
    }
    if (at === from) return null;
  }
}

/** Durable once it was settled. */
function begin(file: OpenFile, storeId: string): ReadMeta {
  const line = encodeMetaLine({ kind: "store", storeId });
  file.truncate(0);
  writeAtOnce(file, line, 0);
  return { storeId, writtenBackLsn: 0, groupStart: 0, end: line.length };
}

async function* stretches(
  file: OpenFile,
  from: number,
  to: number,
): AsyncGenerator<{ bytes: Buffer; at: number }> {
  let at = from;
  for await (const bytes of readChunks(file, from, to)) {
    yield { bytes, at };
    at += bytes.length;
  }
}

function damaged(path: string, offset: number): VerbatimError<"STORE_DAMAGED"> {
  return new VerbatimError(
    "STORE_DAMAGED",
    `${path} is damaged at byte ${offset}, and streams.db cannot be rebuilt from it; restore it ` +
      "from a backup",
    { path, offset, reason: "a line is damaged" },
  );
}
