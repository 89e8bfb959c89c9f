/**
 * Spill check: whether the spill files of a log's lines exist and match their record. The dialect
 * says which files a line refers to.
 */

import { createHash } from "node:crypto";
import type { Directory } from "../base/files.ts";
import type { SpillReference } from "../dialects/dialect.ts";
import { openIfThere } from "../dialects/files/aside.ts";
import { clipped, type Finding, type FoundAt, finding, troubleOf } from "../findings/finding.ts";
import { readChunks } from "../log/bytes.ts";

/** The fault of a line's spill file; null if it matches its record. */
export async function checkSpill(
  directory: Directory,
  reference: SpillReference,
  line: FoundAt,
): Promise<Finding | null> {
  const { path: name } = reference;
  if (!isPlainName(name)) {
    const detail = `it refers to ${clipped(name)}, which is not a file next to the log`;
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

/** One path segment, so that no line can lead out of the log's directory. */
function isPlainName(name: string): boolean {
  return !/^\.{0,2}$/.test(name) && !name.includes("/") && !name.includes("\0");
}
