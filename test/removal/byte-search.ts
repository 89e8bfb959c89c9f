/** Byte search: which files below a directory have a text. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** All files below a directory, by their paths in it. */
export function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.isFile())
    .sort();
}

/** Names of files that have a text, as it is or in base64. */
export function holding(directory: string, text: string): string[] {
  const inner = Buffer.from(text).toString("base64").slice(4, -4);
  return filesIn(directory).filter((name) => {
    const bytes = readFileSync(join(directory, name));
    return bytes.includes(text) || bytes.includes(inner);
  });
}
