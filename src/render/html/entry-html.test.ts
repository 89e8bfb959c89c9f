import assert from "node:assert/strict";
import { test } from "vitest";
import { ParsedHtml } from "../../../test/e2e/parsed-html.ts";
import { type Entry, emptyEntry, type Part } from "../../model/entry.ts";
import { CallPlaces } from "./call-places.ts";
import { BLOCK_CHARS_MAX, type EntryContext, entryHtml, type PlacedEntry } from "./entry-html.ts";

function entry(fields: Partial<Entry>): PlacedEntry {
  return { ...emptyEntry({}), at: "2026-02-09T04:03:50.365Z", start: 70, line: 7, ...fields };
}

function said(...parts: readonly Part[]): PlacedEntry {
  return entry({ kind: "message", role: "assistant", parts });
}

function parsed(given: PlacedEntry, context: Partial<EntryContext> = {}): ParsedHtml {
  const shown = entryHtml(given, {
    thinking: false,
    tools: true,
    calls: new CallPlaces(),
    ...context,
  });
  return ParsedHtml.fragment(shown?.toString() ?? "");
}

function hrefsOf({ elements }: ParsedHtml): (string | undefined)[] {
  return elements
    .filter(({ tagName }) => tagName === "a")
    .map(({ attrs }) => attrs.find(({ name }) => name === "href")?.value);
}

const USAGE = { inputTokens: 1200, outputTokens: 8, totalTokens: null, spend: 0.5 };
const CALL: Part = { type: "tool_call", callId: "c1", tool: "shell", input: { command: "ls" } };
const RESULT: Part = {
  type: "tool_result",
  callId: "c1",
  output: "out",
  error: null,
  durationMs: 12,
};

test("each entry has an anchor, a name and its known facts (EH2)", () => {
  const shown = parsed({
    ...said({ type: "text", text: "**hi**" }),
    model: "m",
    usage: { ...USAGE, cacheReadTokens: 3000 },
    stopReason: "max_tokens",
    messageId: "msg_1",
    isPartial: true,
  });
  const [article] = shown.elements;
  assert.deepEqual(
    article?.attrs.map(({ name, value }) => [name, value]),
    [
      ["class", "entry by-assistant"],
      ["id", "entry-7"],
    ],
  );
  assert.deepEqual(shown.named("h2"), ["Assistant"]);
  assert.deepEqual(shown.withClass("at"), ["#7"]);
  assert.deepEqual(shown.withClass("time"), ["2026-02-09 04:03:50"]);
  assert.deepEqual(shown.withClass("model"), ["m"]);
  assert.deepEqual(shown.withClass("partial"), ["broke off"]);
  assert.deepEqual(shown.named("strong"), ["hi"]);
  assert.deepEqual(shown.withClass("source"), ["Source**hi**"]);
  assert.deepEqual(shown.named("footer"), [
    "1,200 in · 3,000 from cache · 8 out · $0.5000 · stopped: max_tokensmsg_1",
  ]);
  const atByte = parsed({ ...said({ type: "text", text: "x" }), line: null });
  assert.deepEqual(atByte.withClass("at"), ["@70"]);
  assert.ok(atByte.elements[0]?.attrs.some(({ value }) => value === "byte-70"));
});

test("the start and end of a session or a turn are a line across the page", () => {
  const texts = (given: PlacedEntry) => parsed(given).withClass("mark");
  assert.deepEqual(texts(entry({ kind: "start", model: "m" })), [
    "Started · m · 2026-02-09 04:03:50#7",
  ]);
  assert.deepEqual(texts(entry({ kind: "turn_end", usage: USAGE })), [
    "Turn · 1,200 in · 8 out · $0.5000#7",
  ]);
  const failed = parsed(
    entry({ kind: "end", outcome: "error", error: { code: "E1", detail: "why" }, usage: USAGE }),
  );
  assert.deepEqual(failed.named("h2"), ["Failed"]);
  assert.deepEqual(failed.withClass("error"), ["E1why"]);
  const completed = parsed(entry({ kind: "end", outcome: "completed" }));
  assert.deepEqual(completed.named("h2"), ["Completed"]);
});

test("an entry with nothing to show is null (EH1)", () => {
  const silent = [
    entry({ kind: "other" }),
    entry({ kind: "turn_start" }),
    entry({ kind: "message", role: "user" }),
  ];
  const context = { thinking: false, tools: false, calls: new CallPlaces() };
  for (const each of [...silent, said(RESULT)]) assert.equal(entryHtml(each, context), null);
  assert.deepEqual(parsed(said({ type: "text", text: " \n" })).withClass("none"), [
    "An empty text",
  ]);
});

test("tools show input and output, and results link to their calls", () => {
  const calls = new CallPlaces();
  const call = parsed({ ...said(CALL), line: 3 }, { calls });
  assert.deepEqual(call.named("h2"), ["Tool call"]);
  assert.deepEqual(call.withClass("tool"), ["shell"]);
  assert.deepEqual(call.named("pre"), ['{\n  "command": "ls"\n}']);

  const result = parsed(entry({ kind: "message", role: "tool", parts: [RESULT] }), { calls });
  assert.deepEqual(result.withClass("caption"), ["Output · 12 ms shell"]);
  const link = result.elements.find(({ attrs }) => attrs.some(({ value }) => value === "tool"));
  assert.ok(link?.attrs.some(({ name, value }) => name === "href" && value === "#entry-3"));

  const failed = parsed(said({ ...RESULT, error: "no", output: "half" }));
  assert.deepEqual(failed.withClass("error"), ["Error · 12 msno"]);
  assert.deepEqual(failed.withClass("output"), ["Outputhalf"]);
  assert.deepEqual(failed.withClass("failed").length, 1);
  assert.deepEqual(parsed(said({ ...RESULT, output: null })).withClass("output"), [
    "No output · 12 ms",
  ]);

  const named = parsed(said(CALL, RESULT), { tools: false });
  assert.deepEqual(named.withClass("tool"), ["shell"]);
  assert.deepEqual(named.named("pre"), []);
});

test("thinking is folded, or open on request", () => {
  const thought = said({ type: "reasoning", text: "hm" });
  const isOpen = (shown: ParsedHtml) =>
    shown.elements
      .filter(({ tagName }) => tagName === "details")
      .map(({ attrs }) => attrs.some(({ name }) => name === "open"));
  assert.deepEqual(isOpen(parsed(thought)), [false]);
  assert.deepEqual(isOpen(parsed(thought, { thinking: true })), [true]);
  assert.deepEqual(parsed(thought).withClass("text"), ["hm"]);
  const withheld = parsed(said({ type: "reasoning", text: "", withheld: "secret" }));
  assert.equal(withheld.withClass("thinking")[0], "Thinking · withheld by the provider");
  assert.ok(!withheld.text.includes("secret"));
});

test("long system prompts and tool outputs are folded, other messages never", () => {
  const folds = (role: Entry["role"], text: string) => {
    const { elements } = parsed(entry({ kind: "message", role, parts: [{ type: "text", text }] }));
    return elements.some(({ tagName }) => tagName === "details");
  };
  const long = "words ".repeat(1000);
  assert.deepEqual(
    (["system", "tool", "user", "assistant"] as const).map((role) => folds(role, long)),
    [true, true, false, false],
  );
  assert.deepEqual([folds("system", "words"), folds("tool", "words")], [false, false]);
});

test("an unknown block is shown up to a limit, and named beyond it", () => {
  const block = (length: number) => {
    const native = { type: "video", data: "" };
    native.data = "x".repeat(length - JSON.stringify(native).length);
    return parsed(said({ type: "other", native }));
  };
  assert.equal(block(BLOCK_CHARS_MAX).named("pre").length, 1);
  const long = block(BLOCK_CHARS_MAX + 1);
  assert.deepEqual(long.named("pre"), []);
  assert.deepEqual(long.withClass("block"), ["Block video 10,001 characters, not shown here"]);
  assert.deepEqual(parsed(said({ type: "other", native: undefined })).named("pre"), ["null"]);
});

test("a child session is named, with its agent", () => {
  const shown = parsed(said({ type: "child", session: "s-1", agent: "cook" }));
  assert.deepEqual(shown.withClass("child"), ["Began s-1 · cook"]);
  assert.deepEqual(hrefsOf(shown), ["#entry-7"]);
});

test("the caller decides where links lead", () => {
  const links = {
    toEntry: (_line: number | null, start: number) => `#/s/1?at=${start}`,
    toSession: (session: string, agent: string | null) => `#/s/${session}-of-${agent}`,
  };
  const calls = new CallPlaces();
  const child = parsed(said({ type: "child", session: "s-1", agent: "cook" }), { links, calls });
  assert.deepEqual(child.withClass("child"), ["Began s-1 · cook"]);
  assert.deepEqual(hrefsOf(child), ["#/s/1?at=70", "#/s/s-1-of-cook"]);
  assert.deepEqual(hrefsOf(parsed(said(CALL), { links, calls })), ["#/s/1?at=70"]);
  const result = parsed({ ...said(RESULT), start: 90 }, { links, calls });
  assert.deepEqual(hrefsOf(result), ["#/s/1?at=90", "#/s/1?at=70"]);
  for (const kind of ["start", "turn_end", "end"] as const) {
    assert.deepEqual(hrefsOf(parsed(entry({ kind, usage: USAGE }), { links })), ["#/s/1?at=70"]);
  }
});

test("a change is shown as a diff, in a tool's input and in its output", () => {
  const call = { ...CALL, input: { path: "a", old_string: "x", new_string: "y" } };
  assert.deepEqual(parsed(said(call)).withClass("diff"), ["-x\n+y\n"]);
  const output = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y";
  assert.deepEqual(parsed(said({ ...RESULT, output })).withClass("gone"), ["-x\n"]);
});
