/** Scratch: a directory for a bench's files, removed when the bench ends, however it ends. */

import { mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";

/** `statfs` types of the file systems that are in memory (Linux's magic.h). */
const MEMORY_FILE_SYSTEMS = new Map([
  [0x01021994, "tmpfs"],
  [0x858458f6, "ramfs"],
]);

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Creates the directory below `parent`, by default the system's temporary directory. */
export function makeScratch(parent = tmpdir()): string {
  mkdirSync(parent, { recursive: true });
  const directory = mkdtempSync(join(parent, "verbatim-bench-"));
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  for (const signal of SIGNALS) {
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
  }
  return directory;
}

/** The name of the file system if it is in memory and not on a disk, else null. */
export function memoryFileSystem(directory: string): string | null {
  return MEMORY_FILE_SYSTEMS.get(statfsSync(directory).type) ?? null;
}
