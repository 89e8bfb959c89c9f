/** Package file: the version and the files of the installed package. */

import { readFileSync } from "node:fs";

let known: string | null = null;

/** A file of the package: it is two levels up, whether compiled, bundled or run as sources. */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}

/** The version in package.json; "unknown" when a bundler left it out. */
export function packageVersion(): string {
  known ??= readVersion();
  return known;
}

function readVersion(): string {
  try {
    const text = readFileSync(packageFile("package.json"), "utf8");
    const { name, version } = JSON.parse(text) as { name?: unknown; version?: unknown };
    return name === "verbatim-log" && typeof version === "string" ? version : "unknown";
  } catch {
    return "unknown"; // The version is not worth failing for.
  }
}
