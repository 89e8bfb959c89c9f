/**
 * Ledger file: packs one after another, appended and never changed. Readers stop at a record that
 * is not whole; the next writer cuts it off. Writers hold a lock; without it, nothing is written.
 */

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import type { Columns } from "../columns.ts";
import { HEAD_BYTES, type PackedFile, packBytes, unpack } from "./pack.ts";

const NAME = "ledger.bin";
const { O_RDONLY, O_RDWR, O_CREAT, O_NOFOLLOW, O_TRUNC } = constants;

/** Reads all whole packs; returns where they end. A missing file has none. */
export function readPacks(
  directory: string,
  rows: Columns,
  onFiles: (files: readonly PackedFile[], firstRow: number) => void,
): number {
  const file = openIfThere(join(directory, NAME));
  if (file === null) return 0;
  try {
    const { size } = fstatSync(file);
    const head = Buffer.alloc(HEAD_BYTES);
    let at = 0;
    while (at + HEAD_BYTES <= size) {
      readSync(file, head, 0, HEAD_BYTES, at);
      const length = packBytes(head);
      if (length === null || at + length > size) return at;
      const bytes = Buffer.allocUnsafe(length);
      readSync(file, bytes, 0, length, at);
      const firstRow = rows.length;
      const files = unpack(bytes, rows);
      if (files === null) return at;
      onFiles(files, firstRow);
      at += length;
    }
    return at;
  } finally {
    closeSync(file);
  }
}

/** Appends packs; false: another process is writing, or the directory cannot be written. */
export async function appendPacks(directory: string, packs: readonly Buffer[]): Promise<boolean> {
  return withLock(directory, () => {
    const file = openSync(join(directory, NAME), O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      let end = endOfPacks(file);
      if (end < fstatSync(file).size) ftruncateSync(file, end);
      for (const pack of packs) end += writeSync(file, pack, 0, pack.length, end);
    } finally {
      closeSync(file);
    }
  });
}

/** Writes a ledger in place of the one that is there. */
export async function replacePacks(directory: string, packs: Iterable<Buffer>): Promise<boolean> {
  return withLock(directory, () => {
    const path = join(directory, NAME);
    const file = openSync(`${path}.tmp`, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    try {
      for (const pack of packs) writeSync(file, pack);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(`${path}.tmp`, path);
  });
}

/** By the lengths alone: a reader has checked the contents. */
function endOfPacks(file: number): number {
  const { size } = fstatSync(file);
  const head = Buffer.alloc(HEAD_BYTES);
  let at = 0;
  while (at + HEAD_BYTES <= size) {
    readSync(file, head, 0, HEAD_BYTES, at);
    const length = packBytes(head);
    if (length === null || at + length > size) break;
    at += length;
  }
  return at;
}

async function withLock(directory: string, work: () => void): Promise<boolean> {
  let lock: number | null = null;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    lock = openSync(join(directory, `${NAME}.lock`), O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
    const { tryLockDescriptor } = await import("../../base/lock.ts");
    if (!tryLockDescriptor(lock, "exclusive")) return false;
    work();
    return true;
  } catch (cause) {
    if (errnoOf(cause) === "UNKNOWN") throw cause;
    return false; // A full disk, or a home that is read-only: everything is counted again.
  } finally {
    if (lock !== null) closeSync(lock);
  }
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW);
  } catch {
    return null; // Missing, or not ours to read.
  }
}
