/** A directory for one test, removed when the test is over. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";

/** In memory, if the system has space there (run.ts). */
export function tempDirectory(): string {
  return directoryIn(tmpdir());
}

/** On a disk: for tests in which its latency matters. */
export function diskDirectory(): string {
  return directoryIn(inject("diskDirectory"));
}

function directoryIn(parent: string): string {
  const path = realpathSync(mkdtempSync(join(parent, "verbatim-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
