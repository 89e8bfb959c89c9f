/**
 * Spill files: content next to a log that is too long for a line.
 *
 * SF1  A file is durable before the line that refers to it is written. A crash in between leaves a
 * file without a reference, and never a line without its file.
 *
 * A file is read only if it matches the line's length and hash; otherwise the fault is returned.
 */

import { createHash, randomUUID } from "node:crypto";
import { basename } from "node:path";
import { errnoOf, ioError, isNoSpace, VerbatimError } from "../../core/base/errors.ts";
import { writeAll } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { encodeLine } from "../../core/log/json.ts";
import type { Native } from "../../core/model/entry.ts";
import type { Dialect } from "../dialect.ts";
import type { DecodedValue } from "../facets/reading.ts";
import type { SpillFile, Spilling, SpillReference, SpillTools } from "../facets/writing.ts";

export const SPILL_TOOLS: SpillTools = {
  encode: encodeLine,
  sha256: (bytes) => createHash("sha256").update(bytes).digest("hex"),
  newId: randomUUID,
};

export type SpillFault = "missing" | "not a file of ours" | "of another length" | "altered";

/** Writes the files of one line, mode 0600, durably; leaves none on failure. */
export async function writeSpills(
  directory: Directory,
  spills: readonly SpillFile[],
): Promise<void> {
  try {
    for (const { name, bytes } of spills) {
      const file = directory.open(name, "new");
      try {
        writeAll(file, bytes);
        await file.sync();
      } finally {
        file.close();
      }
    }
    await directory.sync();
  } catch (cause) {
    removeSpills(directory, spills);
    throw spillError(directory.path, spills, cause);
  }
}

/** Removes files whose line was not written. */
export function removeSpills(directory: Directory, spills: readonly SpillFile[]): void {
  for (const { name } of spills) {
    try {
      directory.remove(name);
    } catch {
      // Missing, or left behind: nothing refers to it, and doctor lists it.
    }
  }
}

function spillError(path: string, spills: readonly SpillFile[], cause: unknown): VerbatimError {
  if (!isNoSpace(cause)) return ioError(path, "writing what a line is too short for", cause);
  const bytes = spills.reduce((sum, spill) => sum + spill.bytes.length, 0);
  return new VerbatimError(
    "NO_SPACE",
    `no room for ${bytes} bytes next to the log in ${path}; nothing was written, and the log ` +
      "takes appends again when there is room",
    { path, end: 0, bytes },
    { cause },
  );
}

/** The content of a file, or its fault. Never throws for bad content. */
export async function readSpill(
  directory: Directory,
  { name, bytes, sha256 }: Pick<SpillReference, "name" | "bytes" | "sha256">,
): Promise<{ readonly content: Uint8Array } | { readonly fault: SpillFault }> {
  let file: OpenFile;
  try {
    file = directory.open(name, "read");
  } catch (cause) {
    return { fault: errnoOf(cause) === "ENOENT" ? "missing" : "not a file of ours" };
  }
  try {
    if (file.size() !== bytes) return { fault: "of another length" };
    const content = new Uint8Array(bytes);
    if ((await file.read(content, 0)) !== bytes) return { fault: "of another length" };
    return SPILL_TOOLS.sha256(content) === sha256 ? { content } : { fault: "altered" };
  } finally {
    file.close();
  }
}

/** The original line, restored from its files; or the file that prevents it, and why. */
export async function restoreSpilled(
  directory: Directory,
  spilling: Spilling,
  native: Native,
  logName: string,
): Promise<{ readonly native: Native } | { readonly fault: string }> {
  const contents: Uint8Array[] = [];
  for (const reference of spilling.referencesOf(native, logName)) {
    const read = await readSpill(directory, reference);
    if ("fault" in read) return { fault: `${reference.name} is ${read.fault}` };
    contents.push(read.content);
  }
  const restored = spilling.restore(native, contents);
  return restored ? { native: restored } : { fault: "its spilled strings have no place in it" };
}

/** A log and the dialect of its lines. */
export interface UnderstoodLog {
  readonly dialect: Dialect;
  readonly path: string;
  /** Opens the directory of its spill files. */
  readonly openDirectory: () => Promise<Directory>;
}

/** Like the dialect's `decode`, for the original line; a line that cannot be restored is bad. */
export async function decodeWhole(
  { dialect, path, openDirectory }: UnderstoodLog,
  value: unknown,
): Promise<DecodedValue> {
  const { spilling } = dialect.writing ?? {};
  const logName = basename(path);
  const isSpilled = spilling && spilling.referencesOf(value, logName).length > 0;
  if (!isSpilled) return dialect.reading.decode(value);
  const directory = await openDirectory();
  try {
    const restored = await restoreSpilled(directory, spilling, value as Native, logName);
    if ("fault" in restored) return { entry: null, fault: restored.fault };
    return dialect.reading.decode(restored.native);
  } finally {
    directory.close();
  }
}
