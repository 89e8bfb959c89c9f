/**
 * The examples run from the built package and print what is expected; those of frameworks from the
 * installed one.
 *
 * Every program in `examples` must be listed here, so that none goes stale.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isBuilt } from "../scripts/setup.mjs";
import { installedPackage } from "./support/installed-package.ts";
import { tempDirectory } from "./support/temp-directory.ts";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const hasDist = isBuilt();

/** What each prints, line by line; `where` is the directory that was passed to it. */
const EXPECTED: Readonly<Record<string, (stdout: string, where: string) => void>> = {
  "ai-sdk.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "killed; what was seen is kept: true, marked: true",
      "nothing is under way: 204",
      "resumed: true, done: true",
      "stopped: true, and the call of the model: true",
      "6 messages, 2 of them broken off",
      `kept in ${where}`,
      "",
    ]);
  },
  "capture.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "said: Let me ",
      "said: look.",
      "tool_use after 21 tokens",
      "broken off: terminated",
      'text: {"type":"text","text":"Let me look."}',
      'tool_call: {"type":"tool_call","callId":"toolu_1","tool":"oven.status","input":{"room":"kitchen"}}',
      'text: {"type":"text","text":"Let me look."}',
      'other, partial: {"type":"other","native":{"type":"tool_use","id":"toolu_1","name":"oven.status","input_text":"{\\"room\\":"}}',
      `kept in ${where}`,
      "",
    ]);
    assert.ok(existsSync(join(where, ".ai/threads/kitchen-1/transcript.jsonl")));
  },
  "claude-agent.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "a new session",
      "turn 1 is on the disk",
      "turn 2 is on the disk",
      "turn 3 is on the disk",
      "6 messages, the last: Dish 3 is done.",
      "listed as: Is dish 1 done?",
      "verified",
      `kept in ${where}`,
      "",
    ]);
  },
  "claude-code-hooks.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "0 hooks are there already",
      "recorded: SessionStart",
      "recorded: UserPromptSubmit",
      "recorded: PreToolUse",
      "recorded: PostToolUse",
      "recorded: Stop",
      "user: What is in here?",
      "assistant: tool_call",
      "tool: tool_result",
      `kept in ${where}`,
      "",
    ]);
  },
  "entire.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "prompt.txt: explain main.rs",
      "INVALID_ENTRY: message.usage.output_tokens",
      "user: text",
      "assistant: text, tool_call",
      "tool: tool_result",
      "assistant: text",
      "- **read_file**: src/main.rs",
      `kept in ${where}`,
      "",
    ]);
  },
  "langgraph.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "after the kill, it still asks: Which room?",
      "human: Is it warm?",
      "human: The kitchen.",
      "ai: It is warm there.",
      "verified",
      `kept in ${where}`,
      "",
    ]);
  },
  "mcp.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "list_sessions, search_sessions, read_session, verify_session",
      "kitchen-1: Which «spice» was missing?",
      "Cardamom. I put it on the list.",
      "unsigned",
      `kept in ${where}`,
      "",
    ]);
  },
  "openai-agents.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "killed; all that was acknowledged is there: true",
      "cook: Yes, it is warm.",
      "added: user, function_call, function_call_result, assistant",
      "popped: Yes, it is warm.",
      "0 items; the log ends: item,pop,clear",
      "nothing was altered",
      `kept in ${where}`,
      "",
    ]);
  },
  "otel.mjs": (stdout, where) => {
    const lines = stdout.replaceAll(/^[0-9a-f]{16} /gm, "").split("\n");
    assert.match(lines.at(-3) ?? "", /^4 spans, up to byte \d+$/);
    assert.deepEqual(lines.toSpliced(-3, 1), [
      "0 entries are there already",
      "execute_tool oven.status",
      "chat claude-opus-5",
      "turn",
      "invoke_agent kitchen",
      `kept in ${where}`,
      "",
    ]);
  },
  "record.sh": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "4 turns are on the disk",
      "prompt.txt: How many lines has the readme?",
      "- **bash**: wc -l < readme",
      "3 lines of ETF",
      "",
    ]);
    assert.equal(readdirSync(join(where, ".entire/metadata")).length, 1);
  },
  "homeagent.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "user: Is the oven on?",
      'assistant: [{"id":"call-1","name":"oven.status","args":{"room":"kitchen"}}]',
      'tool: [{"callId":"call-1","result":{"isOn":true,"celsius":180}}]',
      "assistant: Yes, at 180 degrees.",
      "nurse has 3 turns",
      "INVALID_ENTRY: role",
      `kept in ${where}`,
      "",
    ]);
    assert.ok(existsSync(join(where, "agents/kitchen/sessions/2026-11-15.jsonl")));
  },
  "resume.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "user: Is the oven on?",
      "assistant: No.",
      "user: Then turn it on.",
      "assistant: oven_on",
      "tool: Error: UNCERTAIN: no result of this call was recorded. The tool may have run, wholly, in part or not at all. Check what it did before you call it again.",
      "line 4: changed, tool_renamed",
      "line 4: added, uncertain_result",
      "fork of kitchen/evening",
      "Is the oven on?",
      "No.",
      "NOT_VERIFIED incomplete",
      `kept in ${where}`,
      "",
    ]);
  },
  "rye.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "live markdown equals the rendered one: true",
      "completed after 1 turn, $0.0004",
      "thread_start, thread_error; 0 bad lines",
      "2 threads: 1 completed, 1 failed, $0.0004",
      `kept in ${where}`,
      "",
    ]);
    assert.ok(existsSync(join(where, ".ai/threads/deploy-1/thread.json")));
  },
  "signed.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      stdout.split("\n")[0],
      "may spend 0.5",
      "signed: The tests pass.",
      "signed: I will not deploy on a Friday.",
      "signed: Waiting for Monday.",
      "tampered: turn 2",
      "rollback",
      "incomplete",
      "refused: NOT_VERIFIED",
      "homeagent verified",
      "entire verified",
      "object: true",
      "altered object: altered",
      `kept in ${where}`,
      "",
    ]);
    assert.match(stdout, /^verified, \d+ checkpoints\n/);
  },
  "streams.mjs": (stdout, where) => {
    assert.deepEqual(stdout.split("\n"), [
      "INVALID_ENTRY: role",
      "user: hello",
      "user: is anybody there?",
      "assistant: Hi there!",
      "1 of 3 since 0000000000000000_0000000000000080",
      '{"role":"user","content":"hello"}',
      '{"role":"user","content":"is anybody there?"}',
      '{"role":"assistant","content":"Hi there!"}',
      "OFFSET_GONE: made again, it is another stream",
      `kept in ${where}`,
      "",
    ]);
    assert.ok(existsSync(join(where, "logs/chat__session-1.jsonl")));
  },
  "kill-and-recover.mjs": (stdout) => {
    const rounds = [...stdout.matchAll(/^round \d+: (\d+) lines acknowledged, (\d+) found$/gm)];
    assert.ok(rounds.length > 0);
    for (const [, acknowledged, found] of rounds) assert.ok(Number(found) >= Number(acknowledged));
  },
};

/** Their frameworks are next to the package, as users have them. */
const INSTALLED = ["ai-sdk.mjs", "langgraph.mjs", "openai-agents.mjs"];

/** Where an example is run. */
async function placeOf(name: string): Promise<string> {
  const here = join(root, "examples", name);
  if (!INSTALLED.includes(name)) return here;
  const there = join((await installedPackage()).user, name);
  copyFileSync(here, there);
  return there;
}

test("every example is tested here", () => {
  assert.deepEqual(readdirSync(join(root, "examples")).sort(), Object.keys(EXPECTED).sort());
});

test.each(Object.entries(EXPECTED))(
  "examples/%s does what its comment says",
  async (name, check) => {
    expect(hasDist, "dist is older than src: run `npm run build` first").toBe(true);
    const where = tempDirectory();
    // The demo's argument selects the role it plays; it creates its own directory.
    const args = name === "kill-and-recover.mjs" ? [] : [where];
    const { stdout, stderr } = await execute(
      name.endsWith(".sh") ? "sh" : process.execPath,
      [await placeOf(name), ...args],
      {
        env: { ...process.env, TMPDIR: where },
      },
    );

    assert.equal(stderr, "");
    check(stdout, where);
  },
);
