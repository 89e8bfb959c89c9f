import assert from "node:assert/strict";
import { test } from "vitest";
import { groupOf } from "./call-sessions.ts";

test("a program's session is named by its header, if the program sent it", () => {
  const named = (header: string, agent: string) => groupOf({ [header]: "s1", "user-agent": agent });
  assert.equal(named("x-claude-code-session-id", "claude-cli/2.1"), "claude-code.s1");
  assert.equal(named("thread-id", "codex_exec/0.169.0"), "codex.s1");
  assert.equal(named("x-session-id", "opencode/1.18.33 ai-sdk"), "opencode.s1");
  assert.equal(named("x-opencode-session", "opencode/1.18.33"), "opencode.s1");
  assert.equal(named("x-session-id", "python-requests/2"), "");
  assert.equal(groupOf({ "x-session-id": "../s1", "user-agent": "opencode" }), "");
});
