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
import type { FileToScan } from "./file-scan.ts";
import { type ScannedPack, type SharedWork, scanPacks, sharedWork } from "./shared-work.ts";

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

/** Resolves when the worker has ended; null: there is none. */
function startWorker(work: SharedWork, onPack: (pack: ScannedPack) => void): Promise<void> | null {
  // Sources that were not compiled, in tests, have none.
  const path = fileURLToPath(new URL("./scan-worker.js", import.meta.url));
  if (!existsSync(path)) return null;
  const worker = new Worker(path, { workerData: work });
  return new Promise((resolve, reject) => {
    worker.on("message", onPack);
    worker.on("error", reject);
    worker.on("exit", () => resolve());
  });
}
