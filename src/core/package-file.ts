/**
 * Package file: the version and the files of the installed package, and packages next to it that may
 * be missing. In a bundle that was moved, all of them are.
 */

import { readFileSync } from "node:fs";

/** In a constant: where they are literal, bundlers would copy the files, or look for the package. */
const HERE = import.meta.url;

let packageRoot: string | null = null;

/** A file of the package: it is two levels up, whether compiled, bundled or run as sources. */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, HERE);
}

/**
 * Loads a package. With `require`, which takes two thirds of the time of `import`; a bundler that
 * sees where it comes from would replace it.
 */
export function requirePackage(name: string): unknown {
  return process.getBuiltinModule("node:module").createRequire(HERE)(name);
}

/** The version in package.json; "unknown" when a bundler left it out. */
export function packageVersion(): string {
  packageRoot ??= readVersion();
  return packageRoot;
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
