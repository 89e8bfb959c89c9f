import assert from "node:assert/strict";
import { test } from "vitest";
import { ParsedHtml } from "../../../../test/e2e/parsed-html.ts";
import { type Entry, emptyEntry, type Part } from "../../../core/model/entry.ts";
import type { ToolView } from "../../../core/model/tool-view.ts";
import { CallPlaces, CallResults } from "./call-results.ts";
import { BLOCK_CHARS_MAX, type EntryContext, entryHtml, insideOf } from "./entry-html.ts";
import type { PlacedEntry } from "./placed-entry.ts";

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
    results: paired(given),
    ...context,
  });
  return ParsedHtml.fragment(shown?.toString() ?? "");
}

function paired(...entries: readonly PlacedEntry[]): CallResults {
  const results = new CallResults();
  for (const each of entries) results.add(each);
  return results;
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
  assert.deepEqual(shown.withClass("time"), ["04:03"]);
  const time = shown.elements.find(({ attrs }) => attrs.some(({ value }) => value === "time"));
  assert.equal(
    time?.attrs.find(({ name }) => name === "title")?.value,
    "2026-02-09 04:03:50 UTC · 1,200 in · 3,000 from cache · 8 out · $0.5000",
  );
  assert.deepEqual(shown.withClass("model"), ["m"]);
  assert.deepEqual(shown.withClass("partial"), ["broke off"]);
  assert.deepEqual(shown.named("strong"), ["hi"]);
  assert.deepEqual(shown.withClass("source"), ["Source**hi**"]);
  assert.deepEqual(shown.named("footer"), ["stopped: max_tokens"]);
  const atByte = parsed({ ...said({ type: "text", text: "x" }), line: null });
  assert.deepEqual(atByte.withClass("at"), ["#"]);
  assert.ok(atByte.elements[0]?.attrs.some(({ value }) => value === "byte-70"));
});

test("the start and end of a session or a turn are a line across the page", () => {
  const texts = (given: PlacedEntry) => parsed(given).withClass("mark");
  assert.deepEqual(texts(entry({ kind: "start", model: "m" })), ["Started · m04:03#7"]);
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

test("a prompt is what a person typed; a program's text in the user role is folded", () => {
  const user = (text: string) =>
    parsed(entry({ kind: "message", role: "user", parts: [{ type: "text", text }] }));
  const clear = user("<command-name>/clear</command-name>\n<command-args></command-args>");
  assert.deepEqual(clear.named("h2"), ["Program"]);
  assert.deepEqual(clear.withClass("preview"), ["/clear"]);
  assert.equal(clear.withClass("by-user").length, 0);
  const reminded = user("<system-reminder>\nBe brief.\n</system-reminder>\n\nFix it");
  assert.deepEqual(reminded.named("h2"), ["User"]);
  assert.deepEqual(reminded.withClass("text"), ["Fix it"]);
  assert.match(reminded.withClass("source")[0] ?? "", /Be brief/);
  assert.deepEqual(user("Fix it").withClass("source"), []);
  assert.deepEqual(user("<local-command-stdout></local-command-stdout>").elements, []);
});

test("an entry with nothing to show is null (EH1)", () => {
  const silent = [
    entry({ kind: "other" }),
    entry({ kind: "turn_start" }),
    entry({ kind: "message", role: "user" }),
  ];
  const results = new CallResults();
  const context = { thinking: false, tools: false, calls: new CallPlaces(), results };
  for (const each of [...silent, said(RESULT)]) assert.equal(entryHtml(each, context), null);
  assert.deepEqual(parsed(said({ type: "text", text: " \n" })).withClass("none"), [
    "An empty text",
  ]);
});

const VIEW = { kind: "command", verb: "$", subject: "ls", path: null, lines: null } as const;

test("a call and its result are one row, and the result's own entry shows nothing", () => {
  const call = { ...said(CALL), tools: [VIEW] };
  const result = { ...entry({ kind: "message", role: "tool", parts: [RESULT] }), start: 90 };
  const context = { results: paired(call, result), calls: new CallPlaces() };
  const row = parsed(call, context);
  assert.deepEqual(row.named("summary"), ["$ ls 12 ms"]);
  assert.deepEqual(row.withClass("output"), ["out"]);
  assert.deepEqual(row.named("dt"), [], "the row has said it");
  assert.equal(parsed(result, context).text, "");
  const names = parsed(call, { ...context, tools: false });
  assert.deepEqual(names.withClass("call"), ["shell"]);
  assert.deepEqual(names.named("pre"), []);
});

test("a row that is unfolded later has nothing below it until then", () => {
  const call = { ...said(CALL), tools: [VIEW] };
  const result = { ...said(RESULT), start: 90 };
  const context = { results: paired(call, result), calls: new CallPlaces() };
  assert.deepEqual(parsed(call, { ...context, isLazy: true }).named("pre"), []);
  const inside = insideOf(call, 0, { ...context, thinking: false, tools: true });
  assert.deepEqual(ParsedHtml.fragment(`${inside}`).named("pre"), ["out"]);
  assert.equal(insideOf(call, 1, { ...context, thinking: false, tools: true }), null);
});

test("a failed call is unfolded, with its first and last lines", () => {
  const output = Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n");
  const failed: Part = { ...RESULT, output, error: "exit code 1" };
  const row = parsed(said(CALL, failed), { isLazy: true });
  assert.ok(row.elements.some(({ attrs }) => attrs.some(({ name }) => name === "open")));
  assert.deepEqual(row.withClass("state"), ["exit code 1"]);
  assert.deepEqual(row.withClass("error"), [], "the row has said it");
  const [first, between, last] = row.named("pre").slice(-3);
  assert.ok(first?.startsWith("line 0\n") && first.endsWith("line 7"), first);
  assert.ok(between?.startsWith("line 8\n") && between.endsWith("line 47"), between);
  assert.ok(last?.startsWith("line 48\n") && last.endsWith("line 59"), last);
  assert.ok(row.withClass("between")[0]?.startsWith("40 more lines"));
  const same = parsed(said(CALL, { ...RESULT, output: "why\n", error: "why" }));
  assert.deepEqual(same.withClass("error"), ["why\n"], "once");
});

test("a result whose call is not in the page has its own row, with a link to the call", () => {
  const calls = new CallPlaces();
  parsed({ ...said(CALL), line: 3, tools: [VIEW] }, { calls });
  const result = parsed(entry({ kind: "message", role: "tool", parts: [RESULT] }), { calls });
  assert.deepEqual(result.named("summary"), ["$ ls call 12 ms"]);
  assert.deepEqual(hrefsOf(result), ["#entry-7", "#entry-3"]);
});

test("a row says what is known of the result: lines read, files found, lines changed", () => {
  const rowOf = (view: Partial<ToolView>, input: unknown, output: unknown) => {
    const call: Part = { ...CALL, input } as Part;
    const given = { ...said(call, { ...RESULT, output, durationMs: 0 } as Part) };
    return parsed(
      { ...given, tools: [{ ...VIEW, subject: null, ...view }] },
      { project: "/p" },
    ).named("summary")[0];
  };
  const read = { kind: "read", verb: "Read", path: "/p/src/a.ts" } as const;
  assert.equal(rowOf(read, {}, "a\nb\nc\n"), "Read src/a.ts:1–3");
  assert.equal(rowOf(read, {}, "    7→a\n    8→b\n\n<note>"), "Read src/a.ts:7–8");
  assert.equal(rowOf({ ...read, lines: [5, 9] }, {}, "a\nb"), "Read src/a.ts:5–6");
  const grep = { kind: "search", verb: "Grep", subject: "x" } as const;
  assert.equal(rowOf(grep, {}, "Found 4 files\na\nb"), 'Grep "x" 4 files');
  assert.equal(rowOf(grep, {}, ""), 'Grep "x" nothing found');
  assert.equal(rowOf(grep, {}, "No matches found"), 'Grep "x" nothing found');
  assert.equal(rowOf(grep, {}, "a.ts:1: x\nb.ts:2: x"), 'Grep "x" 2 lines');
  const edit = { kind: "edit", verb: "Edit", path: "/q/a.ts" } as const;
  const change = { old_string: "x\ny", new_string: "x\nz\nw" };
  assert.equal(rowOf(edit, change, "ok"), "Edit /q/a.ts +2 −1");
  assert.equal(rowOf({ ...edit, kind: "write" }, { content: "a\nb" }, "ok"), "Edit /q/a.ts +2");
  const plan = { todos: [{ content: "a", status: "completed" }, { content: "b" }] };
  assert.equal(rowOf({ kind: "plan", verb: "Plan" }, plan, "ok"), "Plan 1 of 2 done");
});

test("a plan is a checklist, and open", () => {
  const input = {
    plan: [
      { step: "a", status: "completed" },
      { step: "b", status: "in_progress" },
    ],
  };
  const row = parsed({ ...said({ ...CALL, input } as Part), tools: [{ ...VIEW, kind: "plan" }] });
  assert.deepEqual(row.named("li"), ["done: a", "in progress: b"]);
});

test("a subagent's task and answer are Markdown", () => {
  const call = { ...CALL, input: { prompt: "Do **this**" } } as Part;
  const given = said(call, { ...RESULT, output: "# Done\n\n- it" } as Part);
  const row = parsed({ ...given, tools: [{ ...VIEW, kind: "agent" }] });
  assert.deepEqual(row.named("strong"), ["this"]);
  assert.deepEqual(row.named("h3"), ["Done"]);
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
  const view = { ...VIEW, kind: "edit", path: "a" } as const;
  assert.deepEqual(parsed({ ...said(call), tools: [view] }).withClass("diff"), ["-x\n+y\n"]);
  const output = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y";
  assert.deepEqual(parsed(said({ ...RESULT, output })).withClass("gone"), ["-x\n"]);
});
