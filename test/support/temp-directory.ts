/** A directory of its own for one test, gone when the test is over. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export function tempDirectory(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
