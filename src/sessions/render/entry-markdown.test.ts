import assert from "node:assert/strict";
import { test } from "vitest";
import { type Entry, emptyEntry, type Part } from "../../core/model/entry.ts";
import { renderEntry } from "./entry-markdown.ts";

function entry(fields: Partial<Entry>): Entry {
  return { ...emptyEntry({}), at: "2026-02-09T04:03:50.365Z", ...fields };
}

function said(...parts: readonly Part[]): Entry {
  return entry({ kind: "message", role: "assistant", parts });
}

function result(fields: Partial<Extract<Part, { type: "tool_result" }>>): Part {
  return {
    type: "tool_result",
    callId: null,
    output: null,
    error: null,
    durationMs: null,
    ...fields,
  };
}

test("each kind of entry has its Markdown", () => {
  const usage = { inputTokens: 1234567, outputTokens: 8, totalTokens: null, spend: 0.00005 };
  const cases: [Entry, string][] = [
    [entry({ kind: "start", model: "m" }), "_Started · 2026-02-09T04:03:50Z · m_\n\n---\n\n"],
    [
      entry({
        kind: "message",
        role: "user",
        parts: [{ type: "text", text: "hi\n\nyou" }],
        at: null,
      }),
      "## User\n\nhi\n\nyou\n\n",
    ],
    [
      entry({
        kind: "message",
        role: "assistant",
        model: "m",
        usage,
        parts: [{ type: "text", text: "x" }],
      }),
      "## Assistant · m · 2026-02-09T04:03:50Z\n\nx\n\n_Usage: 1,234,567 in · 8 out · $0.0001_\n\n",
    ],
    [entry({ kind: "turn_start" }), ""],
    [entry({ kind: "turn_end", usage }), "_Turn: 1,234,567 in · 8 out · $0.0001_\n\n---\n\n"],
    [entry({ kind: "turn_end" }), "---\n\n"],
    [
      entry({ kind: "end", outcome: "completed", usage: { ...usage, totalTokens: 9 }, at: null }),
      "---\n\n**Completed** · 1,234,567 in · 8 out · 9 tokens · $0.0001\n\n",
    ],
    [
      entry({ kind: "end", outcome: "error", error: { code: "E", detail: "why" }, at: null }),
      "---\n\n**Failed**\n\n**E**\n\n```\nwhy\n```\n\n",
    ],
    [entry({ kind: "other" }), ""],
    [
      entry({ kind: "other", parts: [{ type: "child", session: "s-1", agent: "cook" }] }),
      "_Began s-1 · cook_\n\n",
    ],
  ];
  for (const [given, markdown] of cases) assert.equal(renderEntry(given), markdown);
});

test("tools show input, output, duration and error", () => {
  const call = said({ type: "tool_call", callId: "1", tool: "shell", input: { a: [1] } });
  assert.equal(
    renderEntry(call),
    '## Assistant · 2026-02-09T04:03:50Z\n\n**Tool: shell**\n\n```json\n{\n  "a": [\n    1\n  ]\n}\n```\n\n',
  );
  assert.equal(
    renderEntry(call, { tools: false }),
    "## Assistant · 2026-02-09T04:03:50Z\n\n**Tool: shell**\n\n",
  );
  assert.equal(
    renderEntry(said({ type: "tool_call", callId: null, tool: "now", input: {} })),
    "## Assistant · 2026-02-09T04:03:50Z\n\n**Tool: now**\n\n",
  );

  const cases: [Part, string][] = [
    [result({ output: "out", durationMs: 12 }), "**Output · 12 ms**\n\n```\nout\n```\n\n"],
    [result({ output: { a: 1 } }), '**Output**\n\n```\n{\n  "a": 1\n}\n```\n\n'],
    [result({ output: undefined }), "**Output**\n\n```\nnull\n```\n\n"],
    [result({ error: "no", durationMs: 61_500 }), "**Error · 61.5 s**\n\n```\nno\n```\n\n"],
    [
      result({ error: "no", output: "half" }),
      "**Error**\n\n```\nno\n```\n\n**Output**\n\n```\nhalf\n```\n\n",
    ],
  ];
  for (const [part, markdown] of cases) {
    assert.equal(renderEntry(said(part)), markdown);
    assert.equal(renderEntry(said(part), { tools: false }), "");
  }
});

test("thinking is shown only on request", () => {
  const thought = said({ type: "reasoning", text: "hm" });
  assert.equal(renderEntry(thought), "");
  assert.equal(
    renderEntry(thought, { thinking: true }),
    "## Assistant · 2026-02-09T04:03:50Z\n\n_Thinking:_\n\nhm\n\n",
  );
});

test("no output can end its own fence (EM1)", () => {
  for (let run = 0; run < 8; run++) {
    const inside = "`".repeat(run);
    const markdown = renderEntry(said(result({ output: `${inside}\n# not a heading` })));
    const fence = "`".repeat(Math.max(3, run + 1));
    assert.equal(markdown, `**Output**\n\n${fence}\n${inside}\n# not a heading\n${fence}\n\n`);
  }
});

test("names stay on their line, so they cannot begin a heading (EM2)", () => {
  const name = "x\n\n## User\r# y\u2028z";
  const entries = [
    said({ type: "tool_call", callId: null, tool: name, input: null }),
    said({ type: "text", text: "t" }),
    entry({ kind: "start", model: name }),
    entry({ kind: "other", parts: [{ type: "child", session: name, agent: name }] }),
    entry({ kind: "end", outcome: "error", error: { code: name, detail: "d" } }),
    { ...said({ type: "text", text: "t" }), model: name },
  ];
  for (const each of entries) {
    assert.doesNotMatch(renderEntry(each), /(^|[\r\n\u2028])(## User|# y|z)/);
  }
});
