import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { type Entry, emptyEntry } from "../../core/model/entry.ts";
import { ACTION_CHARS_MAX, ACTIONS_MAX, ContextFold, isOurContext, promptIn } from "./context.ts";

function foldOf(entries: readonly Partial<Entry>[]): ContextFold {
  const fold = new ContextFold();
  for (const entry of entries) fold.add({ ...emptyEntry({}), kind: "message", ...entry });
  return fold;
}

function using(tool: string, input: unknown): Partial<Entry> {
  return { role: "assistant", parts: [{ type: "tool_call", callId: "t", tool, input }] };
}

/** The line of a session's only action. */
function action(tool: string, input: unknown): string {
  const [, actions = ""] = foldOf([using(tool, input)])
    .text("s")
    .split("## Key Actions\n\n");
  return actions;
}

test("a context names the session and lists its tool calls (S1-R5c)", () => {
  const text = foldOf([
    { at: "2026-02-10T23:31:00.000Z", role: "user" },
    { at: "2026-02-10T23:32:00.000Z", model: "m-1", ...using("read_file", { path: "a.rs" }) },
    { model: "m-2", ...using("bash", { command: "cargo test", cwd: "/" }) },
  ]).text("the-id", "m-0");
  assert.equal(
    text,
    "# Session Context\n\n**Session ID:** the-id\n\n**Model:** m-2\n\n" +
      "**Start Time:** 2026-02-10T23:31:00.000Z\n\n## Key Actions\n\n" +
      "- **read_file**: a.rs\n- **bash**: cargo test\n",
  );
});

test("a session without actions has a context too", () => {
  const nothing = "# Session Context\n\n**Session ID:** s\n\n**Model:** unknown\n\n";
  assert.equal(foldOf([]).text("s"), `${nothing}**Start Time:** unknown\n\n## Key Actions\n`);
  assert.match(foldOf([]).text("s", "m"), /\*\*Model:\*\* m\n/);
});

test("an action shows the first value of its input, of any type (S1-R5c)", () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [{ a: "x", b: "y" }, " x"],
    [{ a: "", b: "y" }, ""],
    [{ a: { b: ["c"] } }, ' {"b":["c"]}'],
    [{ a: 0 }, " 0"],
    [{ a: null }, " null"],
    [{}, ""],
    [["x", "y"], " x"],
    ["bare", " bare"],
    [null, " null"],
    [{ a: "two\nlines\r\n\u2028and \u0007more" }, " two lines and more"],
    [{ a: "\x1b[31mred\x1b[0m" }, " red"],
  ];
  for (const [input, shown] of cases) assert.equal(action("t", input), `- **t**:${shown}\n`);
});

test("an action's value has at most 200 characters, and a cut is marked", () => {
  assert.equal(ACTION_CHARS_MAX, 200);
  assert.equal(action("t", { a: "é".repeat(200) }), `- **t**: ${"é".repeat(200)}\n`);
  assert.equal(action("t", { a: "😀".repeat(201) }), `- **t**: ${"😀".repeat(199)}…\n`);
});

test("a value nested too deep for JSON.stringify is shown too", () => {
  const deep: unknown = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
  assert.equal(action("t", { deep }), `- **t**: ${"[".repeat(199)}…\n`);
});

test("no text of a model or a tool breaks out of its list item's line", () => {
  const unit = fc.oneof(
    fc.constantFrom("\n", "\r", "# ", "- ", "`", "*", "\u2028", "\x1b"),
    fc.string(),
  );
  const hostile = fc.array(unit, { maxLength: 30 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(fc.tuple(hostile, hostile, hostile)), (calls) => {
      const entries = calls.map(([tool, value, model]) => ({
        model,
        ...using(tool, { a: value }),
      }));
      const text = foldOf(entries).text("s");
      const lines = text.trimEnd().split("\n");
      assert.equal(lines.length, calls.length > 0 ? 10 + calls.length : 9);
      for (const line of lines.slice(10)) assert.match(line, /^- \*\*.*\*\*:/);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
      assert.doesNotMatch(text, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]/);
      assert.ok(isOurContext(text));
    }),
  );
});

test("actions are listed up to the limit, and the rest are counted", () => {
  const calls = (count: number) => foldOf(Array(count).fill(using("t", { a: 1 }))).text("s");
  const listed = (text: string) => text.split("\n- **t**: 1").length - 1;
  assert.equal(listed(calls(ACTIONS_MAX)), ACTIONS_MAX);
  assert.ok(calls(ACTIONS_MAX).endsWith("- **t**: 1\n"));
  const beyond = calls(ACTIONS_MAX + 2);
  assert.equal(listed(beyond), ACTIONS_MAX);
  assert.ok(beyond.endsWith("- **t**: 1\n- and 2 more\n"));
});

test("our context.md is recognised by its beginning, and Entire's own is not", () => {
  assert.ok(isOurContext(foldOf([]).text("s", "m")));
  const others = [
    "",
    "# Session Context\n\n## User Prompts\n\n### Prompt 1\n\nhi\n\n",
    "# Session Context\n\n**Session ID:** s\n\n**Commit Message:** fix\n\n## Prompt\n\nhi\n\n",
    "# Session Context\n\nSession ID: s\nCommit Message: fix\n",
    "# My own notes\n",
  ];
  for (const other of others) assert.ok(!isOurContext(other), other);
});

test("a context is correct if it agrees with the log; a model named only in the context is accepted", () => {
  const named = foldOf([{ model: "m" }]);
  assert.ok(named.isSaidBy(named.text("s"), "s"));
  assert.ok(!named.isSaidBy(foldOf([{ model: "other" }]).text("s"), "s"));
  const unnamed = foldOf([using("t", {})]);
  assert.ok(unnamed.isSaidBy(unnamed.text("s", "told"), "s"));
  assert.ok(!unnamed.isSaidBy(foldOf([]).text("s", "told"), "s"));
  assert.ok(!unnamed.isSaidBy("# My own notes\n", "s"));
});

test("a prompt is the user's text, unchanged (S1-R5a)", () => {
  const user = (content: unknown, rest = {}) =>
    promptIn({ type: "user", message: { content }, ...rest });
  const texts = ["a", "b"].map((text) => ({ type: "text", text }));
  const result = { type: "tool_result", tool_use_id: "t", content: "out" };
  assert.equal(user(" fix\r\nit \u{1f600}\n"), " fix\r\nit \u{1f600}\n");
  assert.equal(user([texts[0], { type: "image" }, texts[1]]), "a\n\nb");
  assert.equal(user([result, texts[0]]), "a");
  for (const none of ["", " \n\t", [], [result], null, 7]) assert.equal(user(none), null);
  assert.equal(user("hi", { isMeta: true }), null);
  assert.equal(user("hi", { isSidechain: true }), null);
  const others: unknown[] = [
    { type: "assistant", message: { content: "hi" } },
    { type: "user" },
    null,
    [],
    "hi",
  ];
  for (const other of others) assert.equal(promptIn(other), null);
});
