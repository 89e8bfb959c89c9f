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
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { Columns } from "../columns.ts";
import type { LedgerPlace } from "./ledger-file.ts";
import type { LedgerFile } from "./pack.ts";

const NAME = "snapshot.bin";
const MAGIC = 0x53554256;
const VERSION = 1;
const HEAD_BYTES = 16;
const { O_RDONLY, O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;

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
  readonly files: readonly FileValues[];
}

/** A file without names; a name or scope that follows from the id is null. */
type FileValues = readonly [
  dialect: string,
  root: string,
  id: string,
  path: string,
  size: number,
  mtimeMs: number,
  reached: LedgerFile["reached"],
  name: string | null,
  parent: string | null,
  project: string | null,
  scope: string | null,
  replays: string | null,
  startedAt: number | null,
  rows: number,
  firstAt: number | null,
];

/** Null: there is none for this ledger. */
export function readSnapshot(
  directory: string,
  place: LedgerPlace,
): (SnapshotParts & { end: number }) | null {
  let file: number;
  try {
    file = openSync(join(directory, NAME), O_RDONLY | O_NOFOLLOW);
  } catch {
    return null; // Missing, or not ours to read.
  }
  try {
    return readParts(file, place);
  } catch {
    return null; // Not what we write.
  } finally {
    closeSync(file);
  }
}

function readParts(
  file: number,
  { first, end: ledgerEnd }: LedgerPlace,
): (SnapshotParts & { end: number }) | null {
  const { size } = fstatSync(file);
  const start = Buffer.from(bytesOf(file, 0, HEAD_BYTES));
  if (start.readUInt32LE(0) !== MAGIC || start.readUInt32LE(4) !== VERSION) return null;
  const jsonBytes = start.readUInt32LE(8);
  const json = Buffer.from(bytesOf(file, HEAD_BYTES, Math.min(jsonBytes, size)));
  const head = JSON.parse(json.toString()) as Head;
  if (head.first !== first || head.end > ledgerEnd) return null;
  const at = HEAD_BYTES + jsonBytes + padding(jsonBytes);
  const columnBytes = Columns.bytesFor(head.room);
  const length = columnBytes + head.room * 4 + head.slots * 4;
  if (size !== at + length) return null;
  const memory = bytesOf(file, at, length);
  return {
    rows: Columns.over(memory, 0, head.room, head.length),
    owners: new Uint32Array(memory, columnBytes, head.room),
    slots: new Int32Array(memory, columnBytes + head.room * 4, head.slots),
    models: head.models,
    files: head.files.map(fileOf),
    end: head.end,
  };
}

/** In memory of their own, where arrays of numbers can begin. */
function bytesOf(file: number, at: number, length: number): ArrayBuffer {
  const memory = new ArrayBuffer(length);
  let got = 0;
  while (got < length) {
    const read = readSync(file, new Uint8Array(memory, got), 0, length - got, at + got);
    if (read === 0) throw new Error("the snapshot ends early");
    got += read;
  }
  return memory;
}

/** Field by field, without copies: there are thousands of files. */
function fileOf(values: FileValues, index: number): LedgerFile {
  const id = values[2];
  const name = values[7] ?? lastOf(id);
  return {
    dialect: values[0],
    root: values[1],
    id,
    path: values[3],
    size: values[4],
    mtimeMs: values[5],
    reached: values[6],
    name,
    parent: values[8],
    project: values[9],
    scope: values[10] ?? name,
    replays: values[11],
    startedAt: values[12],
    rows: values[13],
    firstAt: values[14] ?? Number.POSITIVE_INFINITY,
    index,
  };
}

function valuesOf(file: LedgerFile): FileValues {
  const { dialect, root, id, path, size, mtimeMs, reached, parent, project } = file;
  const name = file.name === lastOf(id) ? null : file.name;
  const scope = file.scope === file.name ? null : file.scope;
  const { replays, startedAt, rows, firstAt } = file;
  return [
    ...([dialect, root, id, path, size, mtimeMs, reached, name, parent, project, scope] as const),
    ...([replays, startedAt, rows, Number.isFinite(firstAt) ? firstAt : null] as const),
  ];
}

function lastOf(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** Not worth an error: the next process reads all packs. */
export function writeSnapshot(
  directory: string,
  { first, end }: LedgerPlace,
  { rows, models, files, owners, slots }: SnapshotParts,
): void {
  const { length } = rows;
  const room = length + Math.max(4096, length >> 3);
  const values = files.map(valuesOf);
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
