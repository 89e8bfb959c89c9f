/** Doctor reports what `verify` reports on a forged thread.json and on checkpoints without a log. */

import assert from "node:assert/strict";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asLines, CliUser } from "../cli/cli.ts";

const META = ".ai/threads/hello-1739012630/thread.json";

async function record(user: CliUser, dialect: string, more: readonly string[], entry: object) {
  const args = ["record", "--dialect", dialect, "--sign", "--root", ".", ...more];
  const { code, stderr } = await user.run(args, { input: asLines(entry) });
  assert.deepEqual([code, stderr], [0, ""]);
}

const THREAD = ["--session", "hello-1739012630", "--directive", "hello"];

test("doctor reports a forged thread.json, named or in its store", async () => {
  const user = new CliUser();
  const path = join(user.cwd, META);
  await record(user, "rye", THREAD, { type: "user_message", text: "hi" });
  const old = readFileSync(path, "utf8");
  await record(user, "rye", THREAD, { type: "thread_complete" });
  const honest = readFileSync(path, "utf8");
  const { _signature, _signature2, ...stripped } = JSON.parse(honest);
  const escalated = { ...JSON.parse(honest), capabilities: ["everything"] };
  for (const [text, told] of [
    [JSON.stringify(escalated), /tampered: its thread\.json was altered \(META_ALTERED\)/],
    [JSON.stringify(stripped), /tampered: .*lost its signatures \(META_STRIPPED\)/],
    [old, /rollback: .*revision.*\(META_BEHIND\)/],
  ] as const) {
    writeFileSync(path, text);
    for (const args of [["hello"], ["--root", "."]]) {
      const { code, stdout } = await user.run(["doctor", ...args]);
      assert.equal(code, 1);
      expect(stdout).toMatch(/error SIGNED_FILE_FORGED/);
      expect(stdout).toMatch(told);
    }
  }
  writeFileSync(path, honest);
  assert.equal((await user.run(["doctor", "hello"])).code, 0);
});

test("doctor and repair report checkpoints whose log is gone, pinned or not", async () => {
  const user = new CliUser();
  const log = join(user.cwd, "agents/kitchen/sessions/s.jsonl");
  const entry = { turnId: "1", role: "user", content: "hi", ts: 1 };
  await record(user, "homeagent", ["--session", "s", "--agent", "kitchen"], entry);
  renameSync(log, join(user.home, "moved"));
  for (const isPinned of [true, false]) {
    if (!isPinned) rmSync(join(user.home, ".local/state/verbatim"), { recursive: true });
    for (const args of [
      ["--root", "."],
      ["kitchen/s", "--root", "."],
    ]) {
      const { code, stdout } = await user.run(["doctor", ...args]);
      assert.equal(code, 1);
      expect(stdout).toMatch(/error SIGNED_LOG_MISSING.*rollback: s\.jsonl is gone/);
    }
  }
  const { code, stdout } = await user.run(["doctor", "--fix", "kitchen/s", "--root", "."]);
  assert.equal(code, 1);
  expect(stdout).toMatch(/left.*SIGNED_LOG_MISSING/);
});
