import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { type Entry, emptyEntry, type Part, type Usage } from "../../core/model/entry.ts";
import { decode } from "./decode.ts";
import { EtfExport, HELD_CHARS_MAX, HELD_LINES_MAX } from "./etf.ts";

interface Line {
  readonly type: string;
  readonly id?: string;
  readonly output_tokens?: number;
  readonly content: { text?: string; id?: string; result?: { output: string; status: string } }[];
}

function entry(made: Partial<Entry>): Entry {
  return { ...emptyEntry({}), kind: "message", ...made };
}

function says(role: Entry["role"], ...parts: readonly Part[]): Partial<Entry> {
  return { role, parts };
}

const text = (said: string): Part => ({ type: "text", text: said });
const call = (callId: string | null): Part => ({
  type: "tool_call",
  callId,
  tool: "bash",
  input: {},
});
const result = (
  callId: string | null,
  output: unknown = "out",
  error: string | null = null,
): Part => {
  return { type: "tool_result", callId, output, error, durationMs: null };
};

function exported(entries: readonly Partial<Entry>[]) {
  const etf = new EtfExport({ agent: "a", cliVersion: "1" });
  const lines = [...entries.flatMap((made) => [...etf.add(entry(made))]), ...etf.end()];
  for (const line of lines)
    assert.match(line, /^\{"v":1,"agent":"a","cli_version":"1",[^\n]*\}\n$/);
  return { lines: lines.map((line) => JSON.parse(line) as Line), report: etf.report };
}

test("a result next to its call, in one message, is placed in the call", () => {
  const { lines, report } = exported([says("assistant", call("a"), result("a", "A"), text("ok"))]);
  assert.deepEqual(lines[0]?.content[0]?.result, { output: "A", status: "success" });
  assert.deepEqual([report.unanswered, report.strayResults], [0, 0]);
});

test("results are placed in the calls that they answer, and have no line of their own", () => {
  const { lines, report } = exported([
    says("user", text("go")),
    says("assistant", text("two calls"), call("a"), call("b")),
    says("tool", result("b", "B"), result("a", null, "boom")),
    says("assistant", text("done")),
  ]);
  assert.deepEqual(
    lines.map(({ type, content }) => [type, content.length]),
    [
      ["user", 1],
      ["assistant", 3],
      ["assistant", 1],
    ],
  );
  assert.deepEqual(lines[1]?.content.slice(1), [
    {
      type: "tool_use",
      id: "a",
      name: "bash",
      input: {},
      result: { output: "boom", status: "error" },
    },
    {
      type: "tool_use",
      id: "b",
      name: "bash",
      input: {},
      result: { output: "B", status: "success" },
    },
  ]);
  assert.deepEqual(report, { unanswered: 0, strayResults: 0, unplaced: 0, unplacedBlocks: 0 });
});

test("a tool's output of any type is exported as text", () => {
  const outputs: readonly (readonly [unknown, string])[] = [
    ["plain", "plain"],
    ["", ""],
    [null, ""],
    [[text("a"), text("b")], "a\n\nb"],
    [[{ type: "image" }], '[{"type":"image"}]'],
    [{ isOn: true }, '{"isOn":true}'],
    [7, "7"],
  ];
  for (const [output, expected] of outputs) {
    const asked = says("assistant", call("a"));
    const { lines, report } = exported([asked, says("tool", result("a", output))]);
    assert.equal(lines[0]?.content[0]?.result?.output, expected);
    assert.equal(report.unplacedBlocks, 0);
  }
});

test("non-text output next to a tool's texts, and parts that are not blocks, are counted", () => {
  const output = [text("a"), { type: "image" }, text("b"), { type: "resource_link", uri: "u" }];
  const { lines, report } = exported([
    says("assistant", call("a"), { type: "other", native: 7 }),
    says("tool", result("a", output)),
  ]);
  assert.deepEqual(
    lines[0]?.content.map((block) => block.result?.output),
    ["a\n\nb"],
  );
  assert.equal(report.unplacedBlocks, 3);
});

test("a failed tool's result has both its output and its error", () => {
  const outputs = ["so far", "boom at 1", [text("so far"), text("boom")]].map((output) => {
    const answered = says("tool", result("a", output, "boom"));
    return exported([says("assistant", call("a")), answered]).lines[0]?.content[0]?.result?.output;
  });
  assert.deepEqual(outputs, ["so far\n\nboom", "boom at 1", "so far\n\nboom"]);
});

test("a result answers the latest call before it, not an interrupted call with the same id", () => {
  const named = (tool: string): Part => ({ type: "tool_call", callId: "1", tool, input: {} });
  const { lines, report } = exported([
    says("user", text("deploy")),
    { ...says("assistant", named("deploy")), messageId: "m1" },
    says("user", text("stop! what is the status?")),
    { ...says("assistant", named("status")), messageId: "m2" },
    says("tool", result("1", "all green")),
  ]);
  assert.deepEqual(
    lines.map(({ id, content }) => [id, content[0]?.result?.output]),
    [
      [undefined, undefined],
      ["m1", undefined],
      [undefined, undefined],
      ["m2", "all green"],
    ],
  );
  assert.deepEqual([report.unanswered, report.strayResults], [1, 0]);
});

test("a result without an id answers no call of an earlier turn", () => {
  const { lines, report } = exported([
    says("assistant", call(null)),
    says("user", text("stop")),
    says("tool", result(null)),
  ]);
  assert.equal(lines[0]?.content[0]?.result, undefined);
  assert.deepEqual([report.unanswered, report.strayResults], [1, 1]);
});

test("fragments of one message are one line, with the highest usage of them", () => {
  const used = (outputTokens: number): Usage => {
    return { inputTokens: 9, outputTokens, totalTokens: null, spend: null };
  };
  const fragment = (part: Part, usage: Usage) => ({
    ...says("assistant", part),
    messageId: "m",
    usage,
  });
  const { lines } = exported([
    fragment({ type: "reasoning", text: "hm" }, used(3)),
    fragment(text("first"), used(3)),
    fragment(call("a"), used(40)),
    says("tool", result("a")),
    fragment(call("b"), used(7)),
    fragment(call("b"), used(7)),
    says("tool", result("b")),
    { ...says("assistant", text("next")), messageId: "n" },
  ]);
  assert.deepEqual(
    lines.map(({ id, output_tokens, content }) => [id, output_tokens, content.length]),
    [
      ["m", 40, 3],
      ["n", undefined, 1],
    ],
  );
});

test("thinking is left out, and a user's non-text blocks are kept unchanged", () => {
  const image = { type: "image", source: { data: "…" } };
  const { lines } = exported([
    says("user", text("look"), { type: "other", native: image }),
    says("assistant", { type: "reasoning", text: "hm" }),
  ]);
  assert.deepEqual(
    lines.map(({ content }) => content),
    [[{ text: "look" }, image]],
  );
});

test("tokens counted at the end of a turn are assigned to its last answer", () => {
  const usage = { inputTokens: 5, outputTokens: 2, totalTokens: 7, spend: 1 };
  const { lines } = exported([
    says("assistant", text("a")),
    says("assistant", text("b")),
    { kind: "turn_end", usage },
    says("assistant", text("c")),
  ]);
  assert.deepEqual(
    lines.map(({ output_tokens }) => output_tokens),
    [undefined, 2, undefined],
  );
});

test("calls, results and entries that cannot be placed are counted", () => {
  const { lines, report } = exported([
    { kind: "start" },
    says("system", text("be brief")),
    { kind: "other" },
    says("assistant", call("never answered")),
    says("tool", result("never asked"), result(null)),
    { kind: "end" },
  ]);
  assert.equal(lines.length, 1);
  assert.deepEqual(report, { unanswered: 1, strayResults: 2, unplaced: 2, unplacedBlocks: 0 });
});

test("calls without an id are answered in their order", () => {
  const { lines } = exported([
    says("assistant", call(null), call(null)),
    says("tool", result(null, "1")),
    says("tool", result(null, "2")),
  ]);
  const outputs = lines[0]?.content.map((block) => block.result?.output);
  assert.deepEqual(outputs, ["1", "2"]);
});

test("an open call holds back lines only up to the limit", () => {
  const etf = new EtfExport({ agent: "a", cliVersion: "1" });
  const add = (made: Partial<Entry>) => [...etf.add(entry(made))];
  assert.deepEqual(add(says("assistant", call("a"))), []);
  for (let n = 1; n < HELD_LINES_MAX; n++) assert.deepEqual(add(says("user", text("?"))), []);
  assert.equal(add(says("user", text("?"))).length, HELD_LINES_MAX + 1);
  assert.deepEqual(add(says("tool", result("a"))), []);
  const report = { unanswered: 1, strayResults: 1, unplaced: 0, unplacedBlocks: 0 };
  assert.deepEqual(etf.report, report);
});

test("an open call holds back characters only up to the limit", () => {
  const etf = new EtfExport({ agent: "a", cliVersion: "1" });
  const add = (made: Partial<Entry>) => [...etf.add(entry(made))].length;
  const half = "x".repeat(HELD_CHARS_MAX / 2 - 200);
  assert.equal(add(says("assistant", call("a"))), 0);
  assert.equal(add(says("user", text(half))), 0);
  assert.equal(add(says("user", text(half))), 0);
  assert.equal(add(says("user", text("x".repeat(400)))), 4);
});

test("whatever the order of calls and results, every line is exported once and in order", () => {
  const ids = fc.constantFrom("a", "b", "c", null);
  const step = fc.oneof(
    ids.map((id) => says("assistant", call(id))),
    ids.map((id) => says("tool", result(id))),
    fc.nat().map((n) => says("user", text(String(n)))),
  );
  fc.assert(
    fc.property(fc.array(step), (entries) => {
      const { lines, report } = exported(entries);
      const asked = entries.filter(({ role }) => role === "user");
      const prompts = lines.filter(({ type }) => type === "user");
      assert.deepEqual(
        prompts.map(({ content }) => content[0]?.text),
        asked.map(({ parts }) => (parts?.[0]?.type === "text" ? parts[0].text : null)),
      );
      const results = entries.filter(({ role }) => role === "tool").length;
      const answered = lines.flatMap(({ content }) => content).filter((block) => block.result);
      assert.equal(answered.length + report.strayResults, results);
    }),
  );
});

test("rows that a program wrote as the user are lines of type user, since ETF has no other type", () => {
  const message = { role: "user", content: "Caveat: the messages below were generated." };
  for (const mark of [{ isMeta: true }, { isCompactSummary: true }]) {
    const { entry: decoded } = decode({ type: "user", message, ...mark });
    assert.ok(decoded);
    const { lines } = exported([decoded]);
    assert.deepEqual(lines[0]?.type, "user");
    assert.deepEqual(lines[0]?.content, [{ text: message.content }]);
  }
});
