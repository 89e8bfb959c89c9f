/** Scan worker: scans files of the list that scan-files.ts shares, next to the main thread. */

import { parentPort, workerData } from "node:worker_threads";
import { type Scanned, type SharedWork, scanNext } from "./shared-work.ts";

/** Results are sent when there are this many. */
const BATCH = 128;

const work = workerData as SharedWork;
let batch: Scanned[] = [];
for (let next = scanNext(work); next !== null; next = scanNext(work)) {
  batch.push(next);
  if (batch.length < BATCH) continue;
  parentPort?.postMessage(batch);
  batch = [];
}
parentPort?.postMessage(batch);
