/**
 * Spill check: whether the files in which lines keep their long texts are there, and are what was
 * recorded of them. Which files a line refers to is for its dialect to say.
 */

import { createHash } from "node:crypto";
import type { Directory } from "../base/files.ts";
import type { SpillReference } from "../dialects/dialect.ts";
import { openIfThere } from "../dialects/files/aside.ts";
import { clipped, type Finding, type FoundAt, finding } from "../findings/finding.ts";
import { troubleOf } from "../findings/trouble.ts";
import { readChunks } from "../log/bytes.ts";

/** What is wrong with a line's spill file; null when it is as recorded. */
export async function checkSpill(
  directory: Directory,
  reference: SpillReference,
  line: FoundAt,
): Promise<Finding | null> {
  const { path: name } = reference;
  if (!isNameBeside(name)) {
    const detail = `it refers to ${clipped(name)}, which is no file beside the log`;
    return finding("SPILL_MISSING", line, detail);
  }
  const at = { ...line, path: `${directory.path}/${name}` };
  try {
    const file = openIfThere(directory, name);
    if (file === null) return finding("SPILL_MISSING", at, `${clipped(name)} is missing`);
    try {
      const size = file.size();
      if (size !== reference.bytes) {
        const detail = `${clipped(name)} has ${size} bytes, not the ${reference.bytes} recorded`;
        return finding("SPILL_CHANGED", at, detail);
      }
      const hash = createHash("sha256");
      for await (const chunk of readChunks(file, 0, size)) hash.update(chunk);
      if (hash.digest("hex") === reference.sha256) return null;
      return finding("SPILL_CHANGED", at, `${clipped(name)} does not have the hash recorded`);
    } finally {
      file.close();
    }
  } catch (cause) {
    return troubleOf(at, cause);
  }
}

/** One segment of a path, so that no line leads out of the log's directory. */
function isNameBeside(name: string): boolean {
  return !/^\.{0,2}$/.test(name) && !name.includes("/") && !name.includes("\0");
}
