/**
 * Scan files: counts many files, on this thread and on one more if there is much to read and the
 * machine has another processor. A worker takes some 40 ms to start.
 *
 * A thread with other work (`isPatient`) leaves all but a little to the worker: one large file would
 * keep it busy for seconds.
 */

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { errnoOf } from "../../core/base/errors.ts";
import { type FileScan, FileScanner, type FileToScan } from "./file-scan.ts";

/** Less is scanned before a worker has started. */
const WORKER_BYTES_MIN = 48 * 1024 * 1024;
const PATIENT_BYTES_MAX = 1024 * 1024;

/** Calls `onPack` for all files, some at a time. `bytes` is how much there is to read. */
export async function scanFiles(
  files: readonly FileToScan[],
  bytes: number,
  onPack: (pack: ScannedPack) => void,
  isPatient = false,
): Promise<void> {
  if (files.length === 0) return;
  const work = sharedWork(files, bytes);
  const isMuch = bytes >= (isPatient ? PATIENT_BYTES_MAX : WORKER_BYTES_MIN);
  const mayStart = isMuch && (isPatient || availableParallelism() > 1);
  const worker = mayStart ? startWorker(work, onPack) : null;
  if (isPatient && worker !== null) return worker;
  for (const pack of scanPacks(work)) {
    if (pack !== null) onPack(pack);
    if (pack !== null || isPatient) await nextTurn(); // The worker's packs are taken now.
  }
  await worker;
}

/** In constants: a bundler would copy this file alone. */
const HERE = import.meta.url;
const WORKER_NAME = "./scan-worker.js";

/** Resolves when the worker has ended; null: there is none. */
function startWorker(work: SharedWork, onPack: (pack: ScannedPack) => void): Promise<void> | null {
  // Sources that were not compiled, in tests, have none; nor has a bundle.
  if (!URL.canParse(WORKER_NAME, HERE)) return null;
  const path = fileURLToPath(new URL(WORKER_NAME, HERE));
  if (!existsSync(path)) return null;
  const worker = new Worker(path, { workerData: work });
  return new Promise((resolve, reject) => {
    worker.on("message", onPack);
    worker.on("error", reject);
    worker.on("exit", () => resolve());
  });
}

export interface SharedWork {
  readonly files: readonly FileToScan[];
  /** The number of the next file; shared by all threads. */
  readonly next: Int32Array<SharedArrayBuffer>;
  /** There is so little to read that rows are parsed (message-rows.ts). */
  readonly isLittle: boolean;
}

interface ScanResult {
  /** Which of the files. */
  readonly index: number;
  readonly scan: FileScan | null;
  /** Why it was not scanned: "ENOENT". */
  readonly errno: string | null;
}

/** Files that were scanned together. */
interface ScannedPack {
  readonly scanned: readonly ScanResult[];
  readonly models: readonly string[];
  readonly rowCount: number;
  /** The rows of all of them (columns.ts). */
  readonly rows: Uint8Array;
}

const LITTLE_BYTES = 4 * 1024 * 1024;
const PACK_FILES = 256;
const PACK_ROWS = 16_384;

function sharedWork(files: readonly FileToScan[], bytes: number): SharedWork {
  const next = new Int32Array(new SharedArrayBuffer(4));
  return { files, next, isLittle: bytes < LITTLE_BYTES };
}

/** Takes files until none is left, and yields what it counted; null after each other file. */
export function* scanPacks(work: SharedWork): Generator<ScannedPack | null> {
  const scanner = new FileScanner();
  if (work.isLittle) scanner.parseRows();
  let scanned: ScanResult[] = [];
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

function packOf(scanned: readonly ScanResult[], { set }: FileScanner): ScannedPack {
  const { rows, models } = set;
  const pack = {
    scanned,
    models: [...models],
    rowCount: rows.length,
    rows: rows.toBytes(),
  };
  set.clear();
  return pack;
}

function scanNext({ files, next }: SharedWork, scanner: FileScanner): ScanResult | null {
  const index = Atomics.add(next, 0, 1);
  const file = files[index];
  if (file === undefined) return null;
  try {
    return { index, scan: scanner.scan(file), errno: null };
  } catch (cause) {
    return { index, scan: null, errno: errnoOf(cause) };
  }
}
