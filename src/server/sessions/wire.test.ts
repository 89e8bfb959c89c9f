import assert from "node:assert/strict";
import { test } from "vitest";
import { resumeCommandOf } from "./wire.ts";

const ID = "0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0001";
const CLAUDE = `projects/-work/${ID}`;
const about = (directory: string | null, parent: string | null = null) => ({ directory, parent });

test("a session's command continues it in its directory", () => {
  const command = resumeCommandOf("claude-code", CLAUDE, about("/home/me/my app's"));
  assert.equal(command, `cd '/home/me/my app'\\''s' && claude --resume ${ID}`);
  assert.equal(
    resumeCommandOf("claude-code", CLAUDE, about("/home/me/app")),
    `cd /home/me/app && claude --resume ${ID}`,
  );
  assert.equal(resumeCommandOf("claude-code", CLAUDE, about(null)), `claude --resume ${ID}`);
});

test("hostile directories and ids give no command that runs anything else", () => {
  for (const project of ["/a\nrm -rf ~", "/a\u001b[2J", "relative", "/a\u202eb", "-x"]) {
    const command = resumeCommandOf("claude-code", CLAUDE, about(project));
    assert.equal(command, `claude --resume ${ID}`, JSON.stringify(project));
  }
  assert.equal(resumeCommandOf("claude-code", "projects/-w/a;reboot", about(null)), null);
  assert.equal(resumeCommandOf("claude-code", "projects/-w/--help", about(null)), null);
  const command = resumeCommandOf("claude-code", CLAUDE, about("/a/$(reboot)`x`"));
  assert.equal(command, `cd '/a/$(reboot)\`x\`' && claude --resume ${ID}`);
});

test("subagents, and sessions of programs without such a command, have none", () => {
  assert.equal(resumeCommandOf("claude-code", CLAUDE, about(null, "x")), null);
  assert.equal(resumeCommandOf("rye", "hello-1", about("/a")), null);
});
