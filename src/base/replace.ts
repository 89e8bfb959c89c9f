/**
 * Replace: atomically replaces a small file.
 *
 * Callers hold a lock, so a temporary file that is already there is left over and may be removed.
 */

import { errnoOf } from "./errors.ts";
import type { Directory, OpenFile } from "./files.ts";

/** Replaces the file, not durably: a power cut may bring back the old one. */
export function replaceFile(directory: Directory, name: string, text: string): void {
  try {
    openTemporary(directory, name, text).close();
    directory.rename(`${name}.tmp`, name);
  } catch (cause) {
    removeTemporary(directory, name);
    throw cause;
  }
}

/**
 * Replaces the file durably: once resolved, a power cut brings back neither the old nor half a
 * file.
 */
export async function replaceFileDurably(
  directory: Directory,
  name: string,
  text: string,
): Promise<void> {
  try {
    const file = openTemporary(directory, name, text);
    try {
      await file.sync();
    } finally {
      file.close();
    }
    directory.rename(`${name}.tmp`, name);
  } catch (cause) {
    removeTemporary(directory, name);
    throw cause;
  }
  await directory.sync();
}

function removeTemporary(directory: Directory, name: string): void {
  try {
    directory.remove(`${name}.tmp`);
  } catch {
    // Missing, or it stays; the caller throws the original error.
  }
}

/** The contents of a small file; null when it is missing. */
export async function readSmallFile(directory: Directory, name: string): Promise<string | null> {
  try {
    const file = directory.open(name, "read");
    try {
      const bytes = new Uint8Array(file.size());
      const count = await file.read(bytes, 0);
      return new TextDecoder().decode(bytes.subarray(0, count));
    } finally {
      file.close();
    }
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return null;
    throw cause;
  }
}

/**
 * Always creates a new file: truncating one makes ext4 flush it on close, which takes several times
 * as long.
 */
function openTemporary(directory: Directory, name: string, text: string): OpenFile {
  const file = openNew(directory, `${name}.tmp`);
  try {
    const bytes = new TextEncoder().encode(text);
    if (file.write(bytes) !== bytes.length) {
      throw Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
    }
    return file;
  } catch (cause) {
    file.close();
    throw cause;
  }
}

function openNew(directory: Directory, name: string): OpenFile {
  try {
    return directory.open(name, "new");
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw cause;
    directory.remove(name); // Left by a process that was killed.
    return directory.open(name, "new");
  }
}
