/** Markdown, compared with golden files made by running the document's renderer in Python. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../../../test/support/seed.ts";
import { type RyeEvent, readEnvelope } from "./envelope.ts";
import { LIVE_OPTIONS, RENDERER_OPTIONS, renderEvent } from "./markdown.ts";
import { EVENT_TYPES } from "./vocabulary.ts";

const GOLDEN = new URL("../../../test/golden/rye/events.json", import.meta.url);
const golden = JSON.parse(readFileSync(GOLDEN, "utf8")) as {
  readonly line: string;
  readonly prints: readonly string[];
}[];

/** As the golden file has them. */
const OPTIONS = [
  LIVE_OPTIONS,
  RENDERER_OPTIONS,
  { thinking: false, toolDetails: false, assistantMetadata: false },
];

function read(value: unknown): RyeEvent {
  const { event, fault } = readEnvelope(value);
  assert.equal(fault, null);
  return event;
}

function flat(type: string, data: object = {}): RyeEvent {
  return read({ ts: "T", type, ...data });
}

/** The same event in the other envelope. */
function inPayload({ type, data, native, ts }: RyeEvent): RyeEvent {
  return read({ timestamp: ts, thread_id: native.thread_id, event_type: type, payload: data });
}

test("every event prints byte for byte as Python prints it (S2-7, S2-11)", () => {
  for (const { line, prints } of golden) {
    for (const [n, options] of OPTIONS.entries()) {
      assert.equal(renderEvent(read(JSON.parse(line)), options), prints[n], line);
    }
  }
});

test("the golden file has each of the twelve events, and unknown ones (S2-2)", () => {
  const types = new Set(golden.map(({ line }) => String(JSON.parse(line).type)));
  assert.deepEqual([...types].sort(), [...EVENT_TYPES, "no_such_event", "token_delta"].sort());
});

test("an event prints the same in either envelope", () => {
  for (const { line } of golden) {
    const event = read(JSON.parse(line));
    // A time that is not text is printed as ISO in the payload envelope only.
    if (event.ts === null) continue;
    assert.equal(renderEvent(inPayload(event), LIVE_OPTIONS), renderEvent(event, LIVE_OPTIONS));
  }
});

test("an unknown event, or one without text for people, prints nothing (S2-7)", () => {
  const silent = ["hook_triggered", "spawn_child", "step_start", "token_delta", "checkpoint", "x"];
  for (const type of [...silent, "checkpoint_saved", "directive_return", "toString"]) {
    assert.equal(renderEvent(flat(type, { text: "unheard", hook: "test" }), LIVE_OPTIONS), "");
  }
});

test("thinking is left out by default, and included in the live Markdown (S2-11)", () => {
  const event = flat("assistant_reasoning", { text: "Let me think..." });
  assert.equal(renderEvent(event), "");
  assert.equal(renderEvent(event, { thinking: true }), "_Thinking:_\n\nLet me think...\n\n");
  assert.equal(renderEvent(event, LIVE_OPTIONS), "_Thinking:_\n\nLet me think...\n\n");
});

test("without tool details only the names of tools are printed (S2-11)", () => {
  const call = flat("tool_call_start", { tool: "fs_read", call_id: "1", input: { path: "/x" } });
  const result = flat("tool_call_result", { call_id: "1", output: "contents" });
  assert.equal(renderEvent(call, { toolDetails: false }), "**Tool: fs_read**\n\n");
  assert.equal(renderEvent(result, { toolDetails: false }), "");
});

test("without assistant metadata the assistant's text has no heading (S2-11)", () => {
  const event = flat("assistant_text", { text: "Hello!" });
  assert.equal(renderEvent(event), "## Assistant\n\nHello!\n\n");
  assert.equal(renderEvent(event, { assistantMetadata: false }), "Hello!\n\n");
});

test("a fence is longer than any run of backticks inside it", () => {
  for (let run = 0; run <= 12; run++) {
    const output = `a\n${"`".repeat(run)}\n# posing as a heading`;
    const fence = "`".repeat(Math.max(3, run + 1));
    assert.equal(
      renderEvent(flat("tool_call_result", { output })),
      `\n**Output:**\n${fence}\n${output}\n${fence}\n\n`,
    );
  }
});

test("no text of a tool ends its fence", () => {
  // Method: a fence ends at the first line of at least as many backticks and nothing else.
  const unit = fc.constantFrom("`", "``", "```", "\n", "x", " ");
  fc.assert(
    fc.property(fc.string({ unit }), fc.constantFrom("output", "error"), (text, field) => {
      const lines = renderEvent(flat("tool_call_result", { [field]: text })).split("\n");
      const opened = lines.findIndex((line) => line.startsWith("```"));
      const fence = lines[opened] ?? "";
      const closed = lines.findIndex(
        (line, n) => n > opened && /^`+$/.test(line) && line.length >= fence.length,
      );
      assert.equal(lines.slice(opened + 1, closed).join("\n"), text);
    }),
  );
});

test("the runtime's keys for cost and failure are printed in its envelope (S2-7)", () => {
  const cost = { turns: 3, input_tokens: 5289, output_tokens: 460, spend: 0.007589 };
  const done = {
    timestamp: 1,
    event_type: "thread_completed",
    payload: { cost: { ...cost, elapsed_seconds: 8.328 } },
  };
  assert.equal(
    renderEvent(read(done)),
    "---\n\n**Completed** · 3 turns · 5749 tokens · $0.0076 · 8.3s\n",
  );
  const failed = { timestamp: 1, event_type: "thread_error", payload: { error: "Escalation" } };
  assert.equal(renderEvent(read(failed)), "---\n\n**Error:**  — Escalation\n");
  // In the document's own envelope they are not: its renderer prints missing fields as nothing.
  assert.equal(renderEvent(flat("thread_error", { error: "x" })), "---\n\n**Error:**  — \n");
  assert.match(renderEvent(flat("thread_complete", { cost })), / 0 tokens .* 0\.0s/);
});

test("the vocabulary of the other envelope prints as the document's events do", () => {
  const asked = flat("cognition_in", { text: "hi", role: "tool" });
  assert.equal(renderEvent(asked), "## Tool\n\nhi\n\n---\n\n");
  const said = flat("cognition_out", { text: "hello", model: "m" });
  assert.equal(renderEvent(said), "## Assistant\n\nhello\n\n");
});

test("a start in the payload envelope prints seconds as a time", () => {
  const event = read({ timestamp: 0.5, thread_id: "t", event_type: "thread_start", payload: {} });
  assert.match(renderEvent(event), /\*\*Started:\*\* 1970-01-01T00:00:00\.500000\+00:00\n/);
});

test("any JSON in any field renders without throwing", () => {
  const keys = ["directive", "model", "text", "role", "tool", "input", "output", "error", "cost"];
  const value = fc.jsonValue({ maxDepth: 3 });
  const data = fc.dictionary(
    fc.constantFrom(...keys, "tokens", "detail", "error_code", "thread_id", "__proto__"),
    fc.oneof(value, fc.dictionary(fc.constantFrom("spend", "turns", "tokens"), value)),
  );
  fc.assert(
    fc.property(fc.constantFrom(...EVENT_TYPES, "cognition_in", "x"), data, (type, fields) => {
      const event = read(JSON.parse(JSON.stringify({ ...fields, ts: null, type })));
      for (const options of OPTIONS) {
        assert.equal(typeof renderEvent(event, options), "string");
        assert.equal(typeof renderEvent(inPayload(event), options), "string");
      }
    }),
    { numRuns: runs(1000) },
  );
});
