/**
 * Snapshot: the ledger as it is in memory, so that opening it costs little for each response. A
 * cache: without it, or when it is of another ledger or another version, all packs are read.
 *
 *     "VBUS", version, length of the JSON, padding: 4 bytes each
 *     JSON: where the packs end that it has, the files, the lengths of what follows
 *     columns with room for more (columns.ts), the owners of the rows, the slots of the key table
 */

import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { Columns } from "../columns.ts";
import type { LedgerFile } from "./ledger.ts";
import type { LedgerPlace } from "./ledger-file.ts";

const NAME = "snapshot.bin";
const MAGIC = 0x53554256;
const VERSION = 1;
const HEAD_BYTES = 16;
const { O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;

export interface SnapshotParts {
  readonly rows: Columns;
  readonly models: string[];
  readonly files: LedgerFile[];
  readonly owners: Uint32Array;
  readonly slots: Int32Array;
}

interface Head {
  readonly first: string;
  readonly end: number;
  readonly length: number;
  readonly room: number;
  readonly slots: number;
  readonly models: string[];
  /** Values of FIELDS, for each file. */
  readonly files: unknown[][];
}

const FIELDS = [
  ...["dialect", "root", "id", "path", "size", "mtimeMs", "reached", "name", "parent", "project"],
  ...["scope", "replays", "startedAt", "rows", "firstAt"],
] as const;

/** Null: there is none for this ledger. */
export function readSnapshot(
  directory: string,
  { first, end: ledgerEnd }: LedgerPlace,
): (SnapshotParts & { end: number }) | null {
  try {
    const bytes = readFileSync(join(directory, NAME));
    if (bytes.readUInt32LE(0) !== MAGIC || bytes.readUInt32LE(4) !== VERSION) return null;
    const jsonBytes = bytes.readUInt32LE(8);
    const head = JSON.parse(bytes.toString("utf8", HEAD_BYTES, HEAD_BYTES + jsonBytes)) as Head;
    if (head.first !== first || head.end > ledgerEnd) return null;
    let at = HEAD_BYTES + jsonBytes + padding(jsonBytes);
    const columnBytes = Columns.bytesFor(head.room);
    if (bytes.length !== at + columnBytes + head.room * 4 + head.slots * 4) return null;
    const memory = aligned(bytes, at);
    const rows = Columns.over(memory, 0, head.room, head.length);
    at = columnBytes;
    const owners = new Uint32Array(memory, at, head.room);
    const slots = new Int32Array(memory, at + head.room * 4, head.slots);
    const files = head.files.map((values, index) => {
      return Object.fromEntries([...FIELDS.map((name, n) => [name, values[n]]), ["index", index]]);
    }) as unknown as LedgerFile[];
    for (const file of files) file.firstAt ??= Number.POSITIVE_INFINITY;
    return { rows, models: head.models, files, owners, slots, end: head.end };
  } catch {
    return null; // Missing, or not what we write.
  }
}

/** Not worth an error: the next process reads all packs. */
export function writeSnapshot(
  directory: string,
  { first, end }: LedgerPlace,
  { rows, models, files, owners, slots }: SnapshotParts,
): void {
  const { length } = rows;
  const room = length + Math.max(4096, length >> 3);
  const values = files.map((file) => FIELDS.map((name) => file[name]));
  const head: Head = { first, end, length, room, slots: slots.length, models, files: values };
  const json = Buffer.from(JSON.stringify(head));
  const start = Buffer.alloc(HEAD_BYTES);
  start.writeUInt32LE(MAGIC, 0);
  start.writeUInt32LE(VERSION, 4);
  start.writeUInt32LE(json.length, 8);
  const roomy = new Uint32Array(room);
  roomy.set(owners.subarray(0, length));
  const path = join(directory, NAME);
  try {
    const file = openSync(`${path}.tmp`, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    try {
      for (const part of [start, json, Buffer.alloc(padding(json.length)), rows.withRoom(room)]) {
        writeSync(file, part);
      }
      for (const part of [roomy, slots]) {
        writeSync(file, new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
      }
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(`${path}.tmp`, path);
  } catch {
    // A full disk, or a home that is read-only.
  }
}

/** To a multiple of 8. */
function padding(length: number): number {
  return (8 - (length % 8)) % 8;
}

/** The memory from a place on, where arrays of numbers can begin. */
function aligned(bytes: Buffer, at: number): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + bytes.length) as ArrayBuffer;
}
