/** A directory of its own for one test, gone when the test is over. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";

/** In memory, where the system has room there (run.ts). */
export function tempDirectory(): string {
  return directoryIn(tmpdir());
}

/** On a disk: for tests in which it matters that one has to be waited for. */
export function diskDirectory(): string {
  return directoryIn(inject("diskDirectory"));
}

function directoryIn(parent: string): string {
  const path = realpathSync(mkdtempSync(join(parent, "verbatim-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
