/** Scan worker: scans files of the list that scan-files.ts shares, next to the main thread. */

import { parentPort, workerData } from "node:worker_threads";
import { type SharedWork, scanPacks } from "./scan-files.ts";

for (const pack of scanPacks(workerData as SharedWork)) {
  if (pack !== null) parentPort?.postMessage(pack);
}
