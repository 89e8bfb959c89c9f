/**
 * Snapshot: the ledger as it is in memory, so that opening it costs little for each response. A
 * cache: without it, or when it is of another ledger or another version, all packs are read.
 *
 *     "VBUS", version, length of the JSON, padding: 4 bytes each
 *     JSON: where the packs end that it has, models, the lengths of what follows
 *     columns with room for more (columns.ts), the owners of the rows, the slots of the key table
 *     sizes, times and first responses of the files, where their descriptions end
 *     paths by root, as JSON; descriptions of the files, as JSON each
 *
 * A description is parsed when its file is asked for: a report of days asks for few.
 */

import {
  closeSync,
  constants,
  fstatSync,
  fsync,
  openSync,
  readSync,
  renameSync,
  write,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Columns } from "../columns.ts";
import { FileList } from "./file-list.ts";
import type { LedgerPlace } from "./ledger-file.ts";

const NAME = "snapshot.bin";
const MAGIC = 0x53554256;
const VERSION = 3;
const HEAD_BYTES = 16;
const { O_RDONLY, O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;

export interface SnapshotParts {
  readonly rows: Columns;
  readonly models: string[];
  readonly files: FileList;
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
  readonly files: number;
  readonly fileBytes: number;
}

/** Where the parts begin in the file. */
interface SnapshotPlaces {
  readonly head: Head;
  readonly columnsAt: number;
  readonly ownersAt: number;
  readonly slotsAt: number;
  readonly filesAt: number;
}

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
    const places = placesIn(file, place);
    return places && readParts(file, places);
  } catch {
    return null; // Not what we write.
  } finally {
    closeSync(file);
  }
}

function placesIn(file: number, { first, end: ledgerEnd }: LedgerPlace): SnapshotPlaces | null {
  const { size } = fstatSync(file);
  const start = Buffer.from(bytesOf(file, 0, HEAD_BYTES));
  if (start.readUInt32LE(0) !== MAGIC || start.readUInt32LE(4) !== VERSION) return null;
  const jsonBytes = start.readUInt32LE(8);
  const json = Buffer.from(bytesOf(file, HEAD_BYTES, Math.min(jsonBytes, size)));
  const head = JSON.parse(json.toString()) as Head;
  if (head.first !== first || head.end > ledgerEnd) return null;
  const columnsAt = HEAD_BYTES + jsonBytes + padding(jsonBytes);
  const ownersAt = columnsAt + Columns.bytesFor(head.room);
  const slotsAt = ownersAt + head.room * 4;
  const slotsEnd = slotsAt + head.slots * 4;
  const filesAt = slotsEnd + padding(slotsEnd - columnsAt);
  if (size !== filesAt + head.fileBytes) return null;
  return { head, columnsAt, ownersAt, slotsAt, filesAt };
}

function readParts(
  file: number,
  { head, columnsAt, ownersAt, slotsAt, filesAt }: SnapshotPlaces,
): SnapshotParts & { end: number } {
  const memory = bytesOf(file, columnsAt, filesAt + head.fileBytes - columnsAt);
  return {
    rows: Columns.over(memory, 0, head.room, head.length),
    owners: new Uint32Array(memory, ownersAt - columnsAt, head.room),
    slots: new Int32Array(memory, slotsAt - columnsAt, head.slots),
    models: head.models,
    files: FileList.over(memory, filesAt - columnsAt, head.files),
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

/** Not worth an error: the next process reads all packs. */
export async function writeSnapshot(
  directory: string,
  { first, end }: LedgerPlace,
  { rows, models, files, owners, slots }: SnapshotParts,
): Promise<void> {
  const { length } = rows;
  const room = length + Math.max(4096, length >> 3);
  const listed = files.toBytes();
  const head: Head = {
    first,
    end,
    length,
    room,
    slots: slots.length,
    models,
    files: files.length,
    fileBytes: listed.length,
  };
  const json = Buffer.from(JSON.stringify(head));
  const start = Buffer.alloc(HEAD_BYTES);
  start.writeUInt32LE(MAGIC, 0);
  start.writeUInt32LE(VERSION, 4);
  start.writeUInt32LE(json.length, 8);
  const roomy = new Uint32Array(room);
  roomy.set(owners.subarray(0, length));
  const bytes = (part: Uint32Array | Int32Array) =>
    new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  const numbers = Columns.bytesFor(room) + room * 4 + slots.length * 4;
  const parts = [
    start,
    json,
    Buffer.alloc(padding(json.length)),
    rows.withRoom(room),
    bytes(roomy),
    bytes(slots),
    Buffer.alloc(padding(numbers)),
    listed,
  ];
  const path = join(directory, NAME);
  try {
    const file = openSync(`${path}.tmp`, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    try {
      // By other threads: a slow disk must not hold up this one.
      for (const part of parts) await promisify(write)(file, part);
      await promisify(fsync)(file);
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
