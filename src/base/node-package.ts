/** Node package: the version of the installed package. */

import { readFileSync } from "node:fs";

let known: string | null = null;

/**
 * The version in package.json: two levels up, whether compiled, bundled or run as sources.
 * "unknown" when a bundler left it out.
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
    return "unknown"; // The version is not worth failing for.
  }
}
