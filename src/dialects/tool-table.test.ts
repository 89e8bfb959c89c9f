import assert from "node:assert/strict";
import { test } from "vitest";
import { SUBJECT_CHARS_MAX, type ToolTable, toolView } from "./tool-table.ts";

/** As a reader would say it: `Read a.ts:3–5`. */
function said(tool: string, input: unknown, table?: ToolTable): string {
  const { kind, verb, subject, path, lines } = toolView(table, tool, input);
  return [kind, verb, subject, path, lines?.join("–")].filter((each) => each).join(" ");
}

test("a command is what a shell runs, also when it is a list of words", () => {
  assert.equal(said("bash", { command: "npm test" }), "command $ npm test");
  assert.equal(said("shell", { command: ["bash", "-lc", "npm test"] }), "command $ npm test");
  assert.equal(said("shell", { command: ["ls", "-l"] }), "command $ ls -l");
  assert.equal(said("bash", { command: "\n cd a\nmake" }), "command $ cd a …");
  assert.equal(said("bash", "ls"), "command $ ls");
});

test("a call that reads names its file, and its lines where the input has them", () => {
  assert.equal(said("read", { path: "a.ts" }), "read Read a.ts");
  assert.equal(said("read", { path: "a.ts", offset: 3, limit: 3 }), "read Read a.ts 3–5");
  assert.equal(said("Read", { file_path: "a.ts", limit: 9 }), "read Read a.ts 1–9");
  assert.equal(said("read", { path: "a.ts", view_range: [4, 8] }), "read Read a.ts 4–8");
  assert.equal(said("read", { path: "a.ts", offset: -1, limit: "9" }), "read Read a.ts");
});

test("a patch is an edit of its first file, also when a command applies it", () => {
  const patch = "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-x\n+y\n*** End Patch";
  assert.equal(said("apply_patch", patch), "edit Edit src/a.ts");
  assert.equal(said("apply_patch", { patch }), "edit Edit src/a.ts");
  const command = ["bash", "-lc", `apply_patch <<'EOF'\n${patch}\nEOF`];
  assert.equal(said("shell", { command }), "edit Edit src/a.ts");
  const two = `${patch}\n*** Add File: b.ts\n+z`;
  assert.equal(said("apply_patch", two), "edit Edit and 1 more file src/a.ts");
});

test("a dialect's table counts before the well-known names", () => {
  const editor: ToolTable = {
    find: { kind: "search", verb: "Find", subject: ["Query"] },
    editor: { kind: "edit", by: { field: "command", kinds: { view: "read" } } },
    bash: { kind: "other", verb: "Bash" },
  };
  assert.equal(said("find", { Query: "x" }, editor), "search Find x");
  assert.equal(said("editor", { command: "view", path: "a" }, editor), "read Read a");
  assert.equal(said("editor", { command: "insert", path: "a" }, editor), "edit Edit a");
  assert.equal(said("bash", { command: "ls" }, editor), "other Bash");
  assert.equal(said("grep", { pattern: "x" }, editor), "search Grep x");
});

test("a call that asks the user says the questions", () => {
  const questions = [{ header: "DB", question: "Which database?" }, { question: "And when?" }];
  assert.equal(said("AskUserQuestion", { questions }), "other Asks Which database? And when?");
  assert.equal(said("ask_user", { question: "Go on?", choices: ["y"] }), "other Asks Go on?");
  assert.equal(said("request_user_input", { questions: [1, null, {}] }), "other Asks");
});

test("of an unknown tool's input, the field that says most is shown", () => {
  const input = { owner: "me", repo: "boat", title: "It leaks", n: 4 };
  assert.equal(said("mcp__github__create_issue", input), "mcp github create_issue It leaks");
});

test("an unknown tool has its own name, and its first short value; an MCP tool its server", () => {
  assert.equal(said("translate", { deep: {}, text: "hello" }), "other translate hello");
  assert.equal(said("mcp__github__create_issue", { n: 4 }), "mcp github create_issue 4");
  assert.equal(said("github__search", {}), "mcp github search");
  for (const name of ["constructor", "__proto__", "toString", ""]) {
    assert.equal(toolView({}, name, { constructor: 1 }).kind, "other", name);
  }
});

test("any input is taken, and a label has a limit", () => {
  let deep: unknown = [];
  for (let at = 0; at < 100_000; at++) deep = [deep];
  for (const input of [null, undefined, 1, [], deep, { command: deep, path: deep, offset: deep }]) {
    for (const tool of ["bash", "read", "apply_patch", "x"]) {
      assert.ok((toolView(undefined, tool, input).subject ?? "").length <= SUBJECT_CHARS_MAX);
    }
  }
  const long = "x".repeat(SUBJECT_CHARS_MAX);
  assert.equal(toolView(undefined, "bash", { command: long }).subject, long);
  assert.equal(toolView(undefined, "bash", { command: `${long}x` }).subject, `${long}…`);
});

test("a command that prints lines of one file reads it, where the dialect says so", () => {
  const table: ToolTable = { shell: { kind: "command", readsIn: "workdir" } };
  const read = (command: string, workdir?: string) =>
    said("shell", { command: ["bash", "-lc", command], workdir }, table);
  assert.equal(read("cat src/a.ts"), "read Read src/a.ts");
  assert.equal(read("cat a.ts", "/home/me/src/"), "read Read /home/me/src/a.ts");
  assert.equal(read("sed -n '1,200p' ./a.ts", "/w"), "read Read /w/a.ts 1–200");
  assert.equal(read("sed -n 7p /etc/hosts", "/w"), "read Read /etc/hosts 7–7");
  assert.equal(read("nl -ba 'my file' | sed -n '3,9p'"), "read Read my file 3–9");
  for (const command of [
    "cat a b",
    "cat > a",
    "cat -A a",
    "cat a | wc",
    "sed -i 's/a/b/' a",
    "cat $x",
    "cat a\nls",
    "sed -n '1,2p' a; rm a",
    "nl -ba a | head",
    'cat "`rm a`"',
    "cat <<EOF",
  ]) {
    assert.match(read(command), /^command/, command);
  }
  assert.equal(said("shell", { command: "cat a.ts" }), "command $ cat a.ts");
});
