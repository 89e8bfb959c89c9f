/**
 * Aside: keeps a copy of a file before repair replaces it, and replaces it.
 *
 * The copy, `<name>.before-repair-<n>` with the first unused number, is durable before the original
 * is replaced. It never ends in `.jsonl`, so it is never taken for a log. Replacement is atomic:
 * after a kill at any point, either the old or the new file is there.
 */

import { errnoOf } from "../../core/base/errors.ts";
import { openAgain, openIfThere, writeAll } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { readChunks } from "../../core/log/bytes.ts";

/** Text is buffered before writing: events are short, and one call for each would be slow. */
const WRITTEN_CHARS = 64 * 1024;

/** Copies a file aside, durably; returns the copy's name, or null if there is no such file. */
export async function copyAside(directory: Directory, name: string): Promise<string | null> {
  const original = openIfThere(directory, name);
  if (original === null) return null;
  try {
    const { asideName, file } = openAside(directory, name);
    try {
      for await (const chunk of readChunks(original, 0, original.size())) writeAll(file, chunk);
      await file.sync();
    } finally {
      file.close();
    }
    await directory.sync();
    return asideName;
  } finally {
    original.close();
  }
}

/** Moves a file aside, durably; returns its new name. */
export async function moveAside(directory: Directory, name: string): Promise<string> {
  // Created first, so that no other file of that name can be overwritten.
  const { asideName, file } = openAside(directory, name);
  file.close();
  directory.rename(name, asideName);
  await directory.sync();
  return asideName;
}

/** Replaces a file atomically by a text that comes in pieces; durable when it resolves. */
export async function replaceWith(
  directory: Directory,
  name: string,
  pieces: AsyncIterable<string>,
): Promise<void> {
  const temporary = `${name}.tmp`;
  const file = openAgain(directory, temporary);
  try {
    let text = "";
    for await (const piece of pieces) {
      text += piece;
      if (text.length < WRITTEN_CHARS) continue;
      writeAll(file, Buffer.from(text));
      text = "";
    }
    if (text !== "") writeAll(file, Buffer.from(text));
    await file.sync();
  } finally {
    file.close();
  }
  directory.rename(temporary, name);
  await directory.sync();
}

/** Creates a new, empty file for the copy. */
export function openAside(
  directory: Directory,
  name: string,
): { readonly asideName: string; readonly file: OpenFile } {
  for (let n = 0; ; n++) {
    const asideName = `${name}.before-repair-${n}`;
    try {
      return { asideName, file: directory.open(asideName, "new") };
    } catch (cause) {
      if (errnoOf(cause) !== "EEXIST") throw cause;
    }
  }
}
