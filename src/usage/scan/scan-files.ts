/**
 * Scan files: counts many files, on this thread and on one more if there is much to read and the
 * machine has another processor. A worker takes some 40 ms to start.
 */

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { FileToScan } from "./file-scan.ts";
import { type Scanned, type SharedWork, scanNext, sharedWork } from "./shared-work.ts";

/** Less is scanned before a worker has started. */
const WORKER_BYTES_MIN = 48 * 1024 * 1024;
/** Files between which the results of the worker, and other work, get their turn. */
const TURN_FILES = 64;

export interface ScanOptions {
  /** The bytes of all files. */
  readonly bytes: number;
  readonly onScanned: (scanned: Scanned) => void;
  readonly onProgress?: (done: number) => void;
}

export async function scanFiles(files: readonly FileToScan[], options: ScanOptions): Promise<void> {
  const { bytes, onScanned, onProgress = () => {} } = options;
  const work = sharedWork(files);
  let done = 0;
  const take = (scanned: Scanned) => {
    onScanned(scanned);
    done++;
    if (done % TURN_FILES === 0) onProgress(done);
  };
  const worker = bytes < WORKER_BYTES_MIN ? null : startWorker(work, take);
  for (let next = scanNext(work), n = 1; next !== null; next = scanNext(work), n++) {
    take(next);
    if (n % TURN_FILES === 0) await nextTurn();
  }
  await worker;
}

/** Resolves when the worker has ended; null: there is none. */
function startWorker(work: SharedWork, take: (scanned: Scanned) => void): Promise<void> | null {
  // Sources that were not compiled, in tests, have none.
  const path = fileURLToPath(new URL("./scan-worker.js", import.meta.url));
  if (availableParallelism() < 2 || !existsSync(path)) return null;
  const worker = new Worker(path, { workerData: work });
  return new Promise((resolve, reject) => {
    worker.on("message", (batch: readonly Scanned[]) => {
      for (const scanned of batch) take(scanned);
    });
    worker.on("error", reject);
    worker.on("exit", () => resolve());
  });
}
