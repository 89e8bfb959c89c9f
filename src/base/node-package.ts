/** Node package: what the package says of itself, read where it is installed. */

import { readFileSync } from "node:fs";

let known: string | null = null;

/**
 * The version in package.json: two levels above, compiled, bundled or as sources. "unknown" where
 * somebody's bundle has left that behind.
 */
export function packageVersion(): string {
  known ??= readVersion();
  return known;
}

function readVersion(): string {
  try {
    const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    const { name, version } = JSON.parse(text) as { name?: unknown; version?: unknown };
    return name === "verbatim-log" && typeof version === "string" ? version : "unknown";
  } catch {
    return "unknown"; // No reason not to keep a transcript.
  }
}
