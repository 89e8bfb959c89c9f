/**
 * Replace: atomically replaces a small file.
 *
 * Callers hold a lock, so a temporary file that is already there is left over and may be removed.
 */

import { openAgain, openIfThere, writeAtOnce } from "./file-steps.ts";
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

/** Replaces the file durably: once resolved, a power cut brings back neither the old nor half. */
export async function replaceFileDurably(
  directory: Directory,
  name: string,
  text: string | Uint8Array,
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
  const file = openIfThere(directory, name);
  if (file === null) return null;
  try {
    const bytes = new Uint8Array(file.size());
    const count = await file.read(bytes, 0);
    return new TextDecoder().decode(bytes.subarray(0, count));
  } finally {
    file.close();
  }
}

/** Always creates a new file: truncating one makes ext4 flush it on close, which is slow. */
function openTemporary(directory: Directory, name: string, text: string | Uint8Array): OpenFile {
  const file = openAgain(directory, `${name}.tmp`);
  try {
    writeAtOnce(file, typeof text === "string" ? new TextEncoder().encode(text) : text);
    return file;
  } catch (cause) {
    file.close();
    throw cause;
  }
}
