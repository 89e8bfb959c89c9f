/**
 * Packages: programs that tests need and that scripts/test-packages.sh installs. A test that lacks
 * one is skipped; the run says once, in one line, which are missing (run.ts).
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { postgresPrograms } from "./postgres-server.ts";

const { VERBATIM_CHROMIUM, PATH = "" } = process.env;

/**
 * The headless shell first. It is the same engine without the browser around it, and opens a page
 * in a third of the time.
 */
const BROWSERS = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Where the browser is; null where none is found. */
export const chromiumPath =
  (VERBATIM_CHROMIUM ? [VERBATIM_CHROMIUM] : BROWSERS).find((path) => existsSync(path)) ?? null;

const PROGRAMS = ["fish", "gcc", "groff", "jq", "openssl", "python3", "script", "zsh"] as const;

export function hasProgram(name: string): boolean {
  return PATH.split(":").some((folder) => existsSync(join(folder, name)));
}

let isCryptographyThere: boolean | undefined;

/** Whether python3 has its package `cryptography`. */
export function hasCryptography(): boolean {
  isCryptographyThere ??= spawnSync("python3", ["-c", "import cryptography"]).status === 0;
  return isCryptographyThere;
}

/** What is missing, as one line; null if nothing is. */
export function missingPackages(): string | null {
  const missing = [
    ...(chromiumPath === null ? ["Chromium"] : []),
    ...(postgresPrograms === null ? ["PostgreSQL"] : []),
    ...PROGRAMS.filter((name) => !hasProgram(name)),
    ...(hasCryptography() ? [] : ["python3-cryptography"]),
  ];
  if (missing.length === 0) return null;
  const how = hasProgram("apt-get") ? "as root with scripts/test-packages.sh" : "to run all tests";
  return `Missing here, and their tests are skipped: ${missing.join(", ")}. Install them ${how}.\n`;
}
