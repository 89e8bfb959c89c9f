/**
 * Pack: files that were counted together, as one record of the ledger (docs/formats/usage.md).
 *
 *     "VBU1", length of the JSON, number of rows, CRC-32 of what follows: 4 bytes each, little-endian
 *     JSON: {"models":[…],"files":[PackedFile, …]}
 *     rows of all of them, column by column (columns.ts)
 */

import { type Columns, ROW_BYTES } from "../columns.ts";

const MAGIC = 0x31554256;
export const HEAD_BYTES = 16;
/** A longer record is damage: packs are written at a few MB. */
export const PACK_BYTES_MAX = 256 * 1024 * 1024;

/** A file as it was counted. */
export interface PackedFile {
  readonly dialect: string;
  readonly root: string;
  /** The session's id in its dialect. */
  readonly id: string;
  /** Of its log, below the root. */
  readonly path: string;
  /** Of the log when it was counted. */
  readonly size: number;
  readonly mtimeMs: number;
  /** How far it was counted, for a file that only grows; null for others. */
  readonly reached: { offset: number; mark: string; state: unknown } | null;
  /** What its program calls the session, and the one that started it. */
  readonly name: string;
  readonly parent: string | null;
  /** The session's, as in a list of sessions. */
  readonly project: string | null;
  readonly directory: string | null;
  /** Keys of the session hold within this. */
  readonly scope: string;
  /** The scope whose rows it begins with, or records again; and when it began. */
  readonly replays: string | null;
  readonly startedAt: number | null;
  /** How many rows of the pack are its own. */
  readonly rows: number;
}

/** The same in a ledger. */
export interface LedgerFile extends PackedFile {
  /** Its place among the ledger's files. */
  readonly index: number;
  /** The time of its first response, milliseconds since 1970. */
  firstAt: number;
}

export interface Pack {
  /** The models of the rows. */
  readonly models: readonly string[];
  /** In the order of their rows. */
  readonly files: readonly PackedFile[];
  readonly rowCount: number;
  readonly rows: Uint8Array;
}

/** Loaded when needed: it takes some milliseconds, and the status line reads without. */
function crc32(bytes: Uint8Array, before = 0): number {
  return process.getBuiltinModule("node:zlib").crc32(bytes, before);
}

export function packBytesOf({ models, files, rowCount, rows }: Pack): Buffer {
  const json = Buffer.from(JSON.stringify({ models, files }));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(MAGIC, 0);
  head.writeUInt32LE(json.length, 4);
  head.writeUInt32LE(rowCount, 8);
  head.writeUInt32LE(crc32(rows, crc32(json)), 12);
  return Buffer.concat([head, json, rows]);
}

/** The length of a record, by its first bytes; null: they are not a record's. */
export function packBytes(head: Buffer): number | null {
  if (head.length < HEAD_BYTES || head.readUInt32LE(0) !== MAGIC) return null;
  const bytes = HEAD_BYTES + head.readUInt32LE(4) + head.readUInt32LE(8) * ROW_BYTES;
  return bytes <= PACK_BYTES_MAX ? bytes : null;
}

/** Null: the record is damaged. */
export function unpack(bytes: Buffer): Pack | null {
  const jsonBytes = bytes.readUInt32LE(4);
  const rowCount = bytes.readUInt32LE(8);
  const body = bytes.subarray(HEAD_BYTES);
  if (crc32(body) !== bytes.readUInt32LE(12)) return null;
  try {
    const { models, files } = JSON.parse(body.toString("utf8", 0, jsonBytes)) as Pack;
    if (files.reduce((sum, { rows }) => sum + rows, 0) !== rowCount) return null;
    return { models, files, rowCount, rows: body.subarray(jsonBytes) };
  } catch {
    return null; // Not what we write.
  }
}

/** Rows of columns as a pack; `models` are those of the columns. */
export function packOf(
  files: readonly PackedFile[],
  models: readonly string[],
  rows: Columns,
): Pack {
  return { models, files, rowCount: rows.length, rows: rows.toBytes() };
}
