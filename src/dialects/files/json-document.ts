/**
 * JSON document: a small file that another program keeps, or a session that it keeps as one
 * document, safely read.
 *
 * - No link is followed below the root, and only a regular file is read, up to a limit.
 */

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { readUserFile } from "../../base/node-user-files.ts";
import { compactJson } from "../../base/print-json.ts";

/** The text of a file below a root; null if it is missing, not regular, or too large. */
export function textBelow(
  root: string,
  path: readonly string[],
  bytesMax = SMALL_BYTES_MAX,
): string | null {
  try {
    const [directories, name = ""] = [path.slice(0, -1), path.at(-1)];
    const real = join(realpathSync(root), ...directories);
    if (realpathSync(real) !== real) return null; // A link leads elsewhere.
    return readUserFile(join(real, name), { bytesMax, access: "anyone" })?.text ?? null;
  } catch {
    return null; // Not readable: reading the session reports it, if it is the session's.
  }
}

/** The same, parsed; undefined if it is not JSON. */
export function jsonBelow(
  root: string,
  path: readonly string[],
  bytesMax = SMALL_BYTES_MAX,
): unknown {
  try {
    return JSON.parse(textBelow(root, path, bytesMax) ?? "");
  } catch {
    return undefined;
  }
}

/** Files with facts about sessions. */
const SMALL_BYTES_MAX = 2 ** 20;
/** Sessions that are one document. Longer ones are read as plain text, which is not a session. */
export const DOCUMENT_BYTES_MAX = 2 ** 27;

/** Lines of a log: one compact JSON text for each value. */
export function linesOf(values: readonly unknown[]): Uint8Array {
  const texts = values.map((value) => `${compactJson(value)}\n`);
  return new TextEncoder().encode(texts.join(""));
}
