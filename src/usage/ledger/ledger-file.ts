/**
 * Ledger file: packs one after another, appended and never changed. Readers stop at a record that
 * is not whole; the next writer cuts it off. Writers hold a lock; without it, nothing is written.
 */

import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { errnoOf } from "../../core/base/errors.ts";
import { dataDirectory, userPaths } from "../../core/base/node-paths.ts";
import { HEAD_BYTES, type Pack, packBytes, unpack } from "./pack.ts";

/** Where the ledger, the sums and the price journal are. */
export function usageDirectory(): string {
  return join(dataDirectory(), "usage");
}

/** The user's own prices. */
export function ownPricesPath(): string {
  return join(dirname(userPaths().configPath), "prices.json");
}

const NAME = "ledger.bin";
const { O_RDONLY, O_RDWR, O_CREAT, O_NOFOLLOW, O_TRUNC } = constants;

/** Where a ledger ends, and what it begins with: another ledger begins differently. */
export interface LedgerPlace {
  /** The head of its first pack, in hex; empty if there is none. */
  readonly first: string;
  readonly end: number;
}

export function ledgerPlaceOf(directory: string): LedgerPlace {
  const file = openIfThere(join(directory, NAME));
  if (file === null) return { first: "", end: 0 };
  try {
    return { first: firstOf(file), end: fstatSync(file).size };
  } finally {
    closeSync(file);
  }
}

function firstOf(file: number): string {
  const head = Buffer.alloc(HEAD_BYTES);
  const got = readSync(file, head, 0, HEAD_BYTES, 0);
  return got < HEAD_BYTES ? "" : head.toString("hex");
}

/** Reads all whole packs from an offset on; returns where they end. A missing file has none. */
export function readPacks(directory: string, from: number, onPack: (pack: Pack) => void): number {
  const file = openIfThere(join(directory, NAME));
  if (file === null) return 0;
  try {
    const { size } = fstatSync(file);
    const head = Buffer.alloc(HEAD_BYTES);
    let at = from;
    while (at + HEAD_BYTES <= size) {
      readSync(file, head, 0, HEAD_BYTES, at);
      const length = packBytes(head);
      if (length === null || at + length > size) return at;
      const bytes = Buffer.allocUnsafe(length);
      readSync(file, bytes, 0, length, at);
      const pack = unpack(bytes);
      if (pack === null) return at;
      onPack(pack);
      at += length;
    }
    return at;
  } finally {
    closeSync(file);
  }
}

/**
 * Appends packs to a ledger that was read to its end; returns where it ends now. Null: another
 * process is writing or has written, or the directory cannot be written.
 */
export async function appendPacks(
  directory: string,
  packs: readonly Buffer[],
  place: LedgerPlace,
): Promise<LedgerPlace | null> {
  return withLock(directory, async () => {
    const file = openSync(join(directory, NAME), O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      const first = firstOf(file);
      if (place.first !== "" && first !== place.first) return null;
      // What is behind the last pack that could be read is the rest of an interrupted write, or
      // packs of another process: those are whole.
      let end = endOfPacks(file, place.end);
      if (end !== place.end) return null;
      if (end < fstatSync(file).size) ftruncateSync(file, end);
      for (const pack of packs) end += writeSync(file, pack, 0, pack.length, end);
      // An agent may delete its log at any time: then only the ledger has these responses.
      await promisify(fdatasync)(file);
      if (first === "") syncDirectory(directory);
      return { first: firstOf(file), end };
    } finally {
      closeSync(file);
    }
  });
}

/** Replaces a ledger that was read to its end, in the same way as `appendPacks`. */
export async function replacePacks(
  directory: string,
  packs: Iterable<Buffer>,
  place: LedgerPlace,
): Promise<LedgerPlace | null> {
  return withLock(directory, () => {
    const now = ledgerPlaceOf(directory);
    if (now.first !== place.first || now.end !== place.end) return null;
    const path = join(directory, NAME);
    const file = openSync(`${path}.tmp`, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    try {
      let end = 0;
      for (const pack of packs) end += writeSync(file, pack);
      fsyncSync(file);
      renameSync(`${path}.tmp`, path);
      syncDirectory(directory);
      return { first: firstOf(file), end };
    } finally {
      closeSync(file);
    }
  });
}

function syncDirectory(directory: string): void {
  const opened = openSync(directory, O_RDONLY);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Where the packs end that begin at an offset. */
function endOfPacks(file: number, from: number): number {
  const { size } = fstatSync(file);
  const head = Buffer.alloc(HEAD_BYTES);
  let at = from;
  while (at + HEAD_BYTES <= size) {
    readSync(file, head, 0, HEAD_BYTES, at);
    const length = packBytes(head);
    if (length === null || at + length > size) break;
    const bytes = Buffer.allocUnsafe(length);
    readSync(file, bytes, 0, length, at);
    if (unpack(bytes) === null) break;
    at += length;
  }
  return at;
}

/** The modification time of the ledger is when all sessions were looked at. */
export function lastLook(directory: string): number {
  try {
    return statSync(join(directory, NAME)).mtimeMs;
  } catch {
    return 0; // There is no ledger.
  }
}

export function rememberLook(directory: string, nowMs: number): void {
  try {
    utimesSync(join(directory, NAME), nowMs / 1000, nowMs / 1000);
  } catch {
    // There is no ledger yet: nothing was found.
  }
}

async function withLock<T>(directory: string, work: () => T | Promise<T>): Promise<T | null> {
  let lock: number | null = null;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    lock = openSync(join(directory, `${NAME}.lock`), O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
    const { tryLockDescriptor } = await import("../../core/base/lock.ts");
    return tryLockDescriptor(lock, "exclusive") ? await work() : null;
  } catch (cause) {
    if (errnoOf(cause) === "UNKNOWN") throw cause;
    return null; // A full disk, or a home that is read-only: everything is counted again.
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
