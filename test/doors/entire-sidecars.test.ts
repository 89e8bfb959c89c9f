/** The sidecar files of an Entire session: prompt.txt, context.md, and nothing else. */

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { CALL, openTranscript as open, RESULT, USAGE } from "../support/entire-session.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** Every file and directory below a path, with its bytes, mode and modification time. */
function treeOf(path: string): Record<string, unknown> {
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const { mode, mtimeMs } = statSync(join(path, name));
      const isFile = statSync(join(path, name)).isFile();
      const bytes = isFile ? readFileSync(join(path, name), "hex") : null;
      return [name, { mode, mtimeMs: isFile ? mtimeMs : null, bytes }];
    }),
  );
}

// R5. Supporting files

test("prompt.txt has the first input that is not blank, as soon as that is acknowledged (S1-R5a, S1-R6c)", async () => {
  const { transcript, pathOf, textOf } = await open();
  await transcript.user("");
  await transcript.user(" \n");
  await transcript.toolResults([RESULT]);
  await transcript.assistant({ content: "I wait." });
  assert.equal(existsSync(pathOf("prompt.txt")), false);
  await transcript.user("explain\nmain.rs é\n");
  assert.equal(textOf("prompt.txt"), "explain\nmain.rs é\n");
  await transcript.user("and now this");
  await transcript.end();
  assert.equal(textOf("prompt.txt"), "explain\nmain.rs é\n");
});

test("the prompt.txt of a prompt in blocks has their texts (S1-R5a)", async () => {
  const { transcript, textOf } = await open();
  const texts = ["look", "at this"].map((text) => ({ type: "text", text }));
  await transcript.user([...texts, { type: "image", source: {} }]);
  assert.equal(textOf("prompt.txt"), "look\n\nat this");
});

test("an existing prompt.txt is unchanged, and one that is missing is written on resuming (S1-R5a)", async () => {
  const { cwd, transcript, pathOf, textOf } = await open();
  const { sessionId } = transcript;
  mkdirSync(dirname(transcript.path), { recursive: true });
  writeFileSync(pathOf("prompt.txt"), "another program's");
  await transcript.user("mine");
  await transcript.end();
  assert.equal(textOf("prompt.txt"), "another program's");

  rmSync(pathOf("prompt.txt"));
  const again = await open({ cwd, sessionId });
  await again.transcript.assistant({ content: "on we go" });
  assert.equal(textOf("prompt.txt"), "mine");
});

test("summary.txt is never written (S1-R5b)", async () => {
  const { transcript, pathOf } = await open();
  await transcript.user("hi");
  await transcript.assistant({ content: "ho" });
  await transcript.end();
  assert.deepEqual(readdirSync(pathOf(".")).sort(), [
    "context.md",
    "full.jsonl",
    "full.jsonl.lock",
    "prompt.txt",
  ]);
});

test("context.md is written at the end: id, model, start, and an action per tool use (S1-R5c, S1-R6d)", async () => {
  const { transcript, pathOf, textOf, rows } = await open();
  await transcript.user("explain main.rs");
  await transcript.assistant({ content: [CALL] });
  await transcript.toolResults([RESULT]);
  const edit = {
    type: "tool_use",
    id: "t2",
    name: "bash",
    input: { command: "cargo\n  test", n: 1 },
  };
  await transcript.assistant({ content: [{ type: "text", text: "Now." }, edit] });
  assert.equal(existsSync(pathOf("context.md")), false);
  await transcript.end();
  assert.equal(
    textOf("context.md"),
    `# Session Context\n\n**Session ID:** ${transcript.sessionId}\n\n**Model:** claude-opus-4-5\n\n` +
      `**Start Time:** ${String(rows()[0]?.timestamp)}\n\n## Key Actions\n\n` +
      "- **read_file**: src/main.rs\n- **bash**: cargo test\n",
  );
});

test("a resumed session's context.md is ours to replace, and another program's is not (S1-R5c, S1-R7)", async () => {
  const { cwd, transcript, pathOf, textOf } = await open();
  const { sessionId } = transcript;
  await transcript.assistant({ content: [CALL] });
  await transcript.end();
  const resume = async () => {
    const again = await open({ cwd, sessionId });
    await again.transcript.assistant({ content: [{ ...CALL, name: "again" }] });
    await again.transcript.end();
  };
  await resume();
  assert.match(textOf("context.md"), /read_file[\s\S]*again/);
  writeFileSync(pathOf("context.md"), "# Session Context\n\n## User Prompts\n\n");
  await resume();
  assert.equal(textOf("context.md"), "# Session Context\n\n## User Prompts\n\n");
});

test("a session opened without a write is unchanged, or not created at all (S1-R7)", async () => {
  const { cwd, transcript } = await open();
  await transcript.user("hi");
  await transcript.end();
  const before = treeOf(cwd);
  const again = await open({ cwd, sessionId: transcript.sessionId });
  await again.transcript.end();
  const other = await open({ cwd });
  await other.transcript.end();
  assert.deepEqual(treeOf(cwd), before);
  await refusal(again.transcript.user("too late"), "LOG_CLOSED");
});

// R7. Directories

test("nothing else under .entire or in the project is touched: bytes, modes and times (S1-R7, S1-N)", async () => {
  const cwd = tempDirectory();
  const files = {
    ".entire/settings.json": '{"strategy":"manual-commit"}',
    ".entire/settings.local.json": "{}",
    ".entire/logs/entire.log": "old\n",
    ".entire/metadata/other/full.jsonl": '{"type":"user"}',
    ".entire/metadata/other/prompt.txt": "theirs",
    ".entire/metadata/other/context.md": "theirs",
    ".entire/metadata/other/summary.txt": "theirs",
    ".entire/metadata/mine/tasks/toolu_1/checkpoint.json": "{}",
    ".entire/metadata/mine/tasks/toolu_1/agent-1.jsonl": "{}\n",
    ".entire/metadata/mine/summary.txt": "theirs",
    ".git/entire-sessions/other.json": "{}",
    ".git/HEAD": "ref: refs/heads/main\n",
    "src/main.rs": "fn main() {}\n",
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true, mode: 0o755 });
    writeFileSync(join(cwd, name), content, { mode: 0o644 });
    utimesSync(join(cwd, name), 1_700_000_000, 1_700_000_000);
  }
  const before = treeOf(cwd);
  const { transcript } = await open({ cwd, sessionId: "mine" });
  await transcript.user("hi");
  await transcript.assistant({ content: [CALL], usage: USAGE });
  await transcript.end();
  const after = treeOf(cwd);
  const made = ["full.jsonl", "full.jsonl.lock", "prompt.txt", "context.md"];
  for (const name of made) delete after[`.entire/metadata/mine/${name}`];
  assert.deepEqual(after, before);
});
