/** The guard's memory while it copies many small files for the first time. */

import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { putClaude } from "../agents/claude-files.ts";
import { CliUser } from "../cli/cli.ts";
import { measured } from "../cli/measured.ts";

const SESSIONS = 10_000;

test("the first copy of 10,000 sessions takes less than 100 MB of memory", async () => {
  const user = new CliUser();
  for (let at = 0; at < SESSIONS; at++) {
    const id = `6f1c2d3e-1000-4000-8000-${String(at).padStart(12, "0")}`;
    putClaude(user.home, { id, cwd: `/home/me/p${at % 100}` });
  }
  const { code, stdout, mib } = await measured(user, ["guard", "--once"]);
  assert.equal(code, 0);
  expect(stdout).toContain(`${SESSIONS} sessions`);
  expect(mib).toBeLessThan(100);
});
