/** Shared work: a list of files from which threads take the next one, and count it into packs. */

import { errnoOf } from "../../base/errors.ts";
import { type FileScan, FileScanner, type FileToScan } from "./file-scan.ts";

export interface SharedWork {
  readonly files: readonly FileToScan[];
  /** The number of the next file; shared by all threads. */
  readonly next: Int32Array<SharedArrayBuffer>;
  /** There is so little to read that rows are parsed (message-rows.ts). */
  readonly isLittle: boolean;
}

export interface Scanned {
  /** Which of the files. */
  readonly index: number;
  readonly scan: FileScan | null;
  /** Why it was not scanned: "ENOENT". */
  readonly errno: string | null;
}

/** Files that were scanned together. */
export interface ScannedPack {
  readonly scanned: readonly Scanned[];
  readonly models: readonly string[];
  readonly rowCount: number;
  /** The rows of all of them (columns.ts). */
  readonly rows: Uint8Array;
}

const LITTLE_BYTES = 4 * 1024 * 1024;
const PACK_FILES = 256;
const PACK_ROWS = 16_384;

export function sharedWork(files: readonly FileToScan[], bytes: number): SharedWork {
  const next = new Int32Array(new SharedArrayBuffer(4));
  return { files, next, isLittle: bytes < LITTLE_BYTES };
}

/** Takes files until none is left, and yields what it counted; null after each other file. */
export function* scanPacks(work: SharedWork): Generator<ScannedPack | null> {
  const scanner = new FileScanner();
  if (work.isLittle) scanner.parseRows();
  let scanned: Scanned[] = [];
  for (let next = scanNext(work, scanner); next !== null; next = scanNext(work, scanner)) {
    scanned.push(next);
    if (scanned.length < PACK_FILES && scanner.set.rows.length < PACK_ROWS) {
      yield null;
      continue;
    }
    yield packOf(scanned, scanner);
    scanned = [];
  }
  if (scanned.length > 0) yield packOf(scanned, scanner);
}

function packOf(scanned: readonly Scanned[], { set }: FileScanner): ScannedPack {
  const { rows, models } = set;
  const pack = {
    ...{ scanned, models: [...models], rowCount: rows.length },
    rows: rows.toBytes(),
  };
  set.clear();
  return pack;
}

function scanNext({ files, next }: SharedWork, scanner: FileScanner): Scanned | null {
  const index = Atomics.add(next, 0, 1);
  const file = files[index];
  if (file === undefined) return null;
  try {
    return { index, scan: scanner.scan(file), errno: null };
  } catch (cause) {
    return { index, scan: null, errno: errnoOf(cause) };
  }
}
