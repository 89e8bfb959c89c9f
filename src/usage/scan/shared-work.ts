/** Shared work: a list of files from which threads take the next one. */

import { errnoOf } from "../../base/errors.ts";
import { type FileScan, type FileToScan, scanFile } from "./file-scan.ts";

export interface SharedWork {
  readonly files: readonly FileToScan[];
  /** The number of the next file; shared by all threads. */
  readonly next: Int32Array<SharedArrayBuffer>;
}

export interface Scanned {
  /** Which of the files. */
  readonly index: number;
  readonly scan: FileScan | null;
  /** Why it was not scanned: "ENOENT". */
  readonly errno: string | null;
}

export function sharedWork(files: readonly FileToScan[]): SharedWork {
  return { files, next: new Int32Array(new SharedArrayBuffer(4)) };
}

/** Takes and scans a file; null: none is left. */
export function scanNext({ files, next }: SharedWork): Scanned | null {
  const index = Atomics.add(next, 0, 1);
  const file = files[index];
  if (file === undefined) return null;
  try {
    return { index, scan: scanFile(file), errno: null };
  } catch (cause) {
    return { index, scan: null, errno: errnoOf(cause) };
  }
}
