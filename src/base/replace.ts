/**
 * Replace: puts a small file's new contents in place of the old, whole or not at all.
 *
 * The callers hold a lock, so the temporary name is one that a later call may take over.
 */

import { errnoOf } from "./errors.ts";
import type { Directory } from "./files.ts";

/** Replaces the file, not yet durable: a power cut may bring back the old one. */
export function replaceFile(directory: Directory, name: string, text: string): void {
  const file = openTemporary(directory, name, text);
  file.close();
  directory.rename(`${name}.tmp`, name);
}

/** Replaces the file; on resolving, a power cut brings back neither the old one nor half of it. */
export async function replaceFileDurably(
  directory: Directory,
  name: string,
  text: string,
): Promise<void> {
  const file = openTemporary(directory, name, text);
  try {
    await file.sync();
  } finally {
    file.close();
  }
  directory.rename(`${name}.tmp`, name);
  await directory.sync();
}

/** The contents of a small file; null when there is none. */
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

function openTemporary(directory: Directory, name: string, text: string) {
  const file = directory.open(`${name}.tmp`, "update");
  try {
    const bytes = new TextEncoder().encode(text);
    file.truncate(0);
    if (file.writeAt(bytes, 0) !== bytes.length) {
      throw Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
    }
    return file;
  } catch (cause) {
    file.close();
    throw cause;
  }
}
