/**
 * Spill files: what a dialect keeps beside a log because a line would be too long for it.
 *
 * SF1  A file is durable before the line that refers to it is written. A crash in between leaves a
 *      file that nothing refers to, and no line that lacks its file.
 * SF2  Read, it is what the line says it is, by length and hash, or it is told what is wrong.
 */

import { createHash } from "node:crypto";
import { errnoOf, ioError, isNoSpace, VerbatimError } from "../../base/errors.ts";
import type { Directory, OpenFile } from "../../base/files.ts";
import { encodeLine } from "../../log/json.ts";
import type {
  Dialect,
  Native,
  SpillFile,
  Spilling,
  SpillReference,
  SpillTools,
  Understood,
} from "../dialect.ts";

export const SPILL_TOOLS: SpillTools = {
  encode: encodeLine,
  sha256: (bytes) => createHash("sha256").update(bytes).digest("hex"),
};

export type SpillFault = "missing" | "not a file of ours" | "of another length" | "altered";

/** Writes the files of one line, 0600, and makes them durable; none of them is left on failure. */
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

/** Takes files away whose line was not written. */
export function removeSpills(directory: Directory, spills: readonly SpillFile[]): void {
  for (const { name } of spills) {
    try {
      directory.remove(name);
    } catch {
      // Not there, or left: nothing refers to it, and doctor lists it.
    }
  }
}

/** A write may be short; what a full disk refuses, it refuses of the rest. */
function writeAll(file: OpenFile, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    const taken = file.write(bytes.subarray(at));
    if (taken === 0) throw Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
    at += taken;
  }
}

function spillError(path: string, spills: readonly SpillFile[], cause: unknown): VerbatimError {
  if (!isNoSpace(cause)) return ioError(path, "writing what a line is too short for", cause);
  const bytes = spills.reduce((sum, spill) => sum + spill.bytes.length, 0);
  return new VerbatimError(
    "NO_SPACE",
    `no room for ${bytes} bytes beside the log in ${path}; nothing was written, and the log ` +
      "takes appends again when there is room",
    { path, end: 0, bytes },
    { cause },
  );
}

/** What a file holds, or what is wrong with it. Never throws for what the file is. */
export async function readSpill(
  directory: Directory,
  { path, bytes, sha256 }: SpillReference,
): Promise<{ readonly content: Uint8Array } | { readonly fault: SpillFault }> {
  let file: OpenFile;
  try {
    file = directory.open(path, "read");
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

/** The line as it was given, from its files; or which of them fails it, and how. */
export async function restoreSpilled(
  directory: Directory,
  spilling: Spilling,
  native: Native,
): Promise<{ readonly native: Native } | { readonly fault: string }> {
  const contents: Uint8Array[] = [];
  for (const reference of spilling.referencesOf(native)) {
    const read = await readSpill(directory, reference);
    if ("fault" in read) return { fault: `${reference.path} is ${read.fault}` };
    contents.push(read.content);
  }
  const restored = spilling.restore(native, contents);
  return restored ? { native: restored } : { fault: "its spilled strings have no place in it" };
}

/** As the dialect's `decode`, of the line as it was given; one that cannot be restored is bad. */
export async function decodeWhole(
  dialect: Dialect,
  value: unknown,
  openDirectory: () => Promise<Directory>,
): Promise<Understood> {
  const { spilling } = dialect;
  const isSpilled = spilling && spilling.referencesOf(value).length > 0;
  if (!isSpilled) return dialect.decode(value);
  const directory = await openDirectory();
  try {
    const restored = await restoreSpilled(directory, spilling, value as Native);
    if ("fault" in restored) return { entry: null, fault: restored.fault };
    return dialect.decode(restored.native);
  } finally {
    directory.close();
  }
}
