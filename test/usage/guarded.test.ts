/** What only the guard still has counts, too. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { put } from "../agents/sample.ts";
import { CliUser } from "../cli/cli.ts";

const row = (id: string) =>
  `${JSON.stringify({
    type: "assistant",
    sessionId: "s1",
    cwd: "/home/me/app",
    uuid: id,
    timestamp: "2026-11-10T10:00:00.000Z",
    message: { id, model: "gpt-5", usage: { input_tokens: 1_000_000, output_tokens: 0 } },
  })}\n`;

test("a lost ledger is made again from the sessions that the guard keeps", async () => {
  const user = new CliUser();
  const path = join(user.home, ".claude/projects/-home-me-app/s1.jsonl");
  put(path, row("a") + row("b"));
  assert.equal((await user.run(["guard", "--once"])).code, 0);
  const cost = async () =>
    JSON.parse((await user.run(["usage", "daily", "--json"])).stdout).totals.cost;
  assert.equal(await cost(), 2.5);
  rmSync(path);
  assert.equal(await cost(), 2.5);
  rmSync(join(user.home, ".local/share/verbatim/usage"), { recursive: true });
  assert.equal(await cost(), 2.5);
});

test("a session that was rewritten to a stub keeps its totals, also after the ledger is lost", async () => {
  const user = new CliUser();
  const path = join(user.home, ".claude/projects/-home-me-app/s1.jsonl");
  put(path, row("a") + row("b"));
  assert.equal((await user.run(["guard", "--once"])).code, 0);
  put(path, row("b"));
  assert.equal((await user.run(["guard", "--once"])).code, 0);
  const report = async () => JSON.parse((await user.run(["usage", "session", "--json"])).stdout);
  const first = await report();
  assert.equal(first.totals.cost, 2.5);
  rmSync(join(user.home, ".local/share/verbatim/usage"), { recursive: true });
  const again = await report();
  assert.equal(again.totals.cost, 2.5);
  assert.equal(again.rows.length, 1);
});
