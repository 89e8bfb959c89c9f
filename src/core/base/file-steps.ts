/** File steps: what most callers of `files.ts` do with a file, in one call. */

import { errnoOf } from "./errors.ts";
import type { Directory, OpenFile } from "./files.ts";

/** Opens a file to read; null if there is none. */
export function openIfThere(directory: Directory, name: string): OpenFile | null {
  try {
    return directory.open(name, "read");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return null;
    throw cause;
  }
}

/** Creates a file in place of one that a killed process left. The caller holds a lock. */
export function openAgain(directory: Directory, name: string): OpenFile {
  try {
    return directory.open(name, "new");
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw cause;
    directory.remove(name);
    return directory.open(name, "new");
  }
}

/** Writes all bytes in one system call, or throws. */
export function writeAtOnce(file: OpenFile, bytes: Uint8Array, at?: number): void {
  const taken = at === undefined ? file.write(bytes) : file.writeAt(bytes, at);
  if (taken !== bytes.length) throw diskFull();
}

/** Writes all bytes, at the end or in place. A write may be short; a full disk refuses the rest. */
export function writeAll(file: OpenFile, bytes: Uint8Array, start?: number): void {
  for (let at = 0; at < bytes.length; ) {
    const rest = bytes.subarray(at);
    const taken = start === undefined ? file.write(rest) : file.writeAt(rest, start + at);
    if (taken === 0) throw diskFull();
    at += taken;
  }
}

/** For a write that was short. */
export function diskFull(): Error {
  return Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
}
