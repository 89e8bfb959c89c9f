/** The examples of docs/formats/codex.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../../test/support/docs-page.ts";
import type { Native } from "../../../core/model/entry.ts";
import { decode, isOwn, rows, turns } from "./decode.ts";
import { RolloutMemory } from "./memory.ts";

const page = docsPage("formats/codex");
const ID = "sessions/2026/08/03/rollout-2026-08-03T10-48-56-019fc8be-3658-7ca3-9e29-0123456789ab";

function entriesOf(info: string) {
  const memory = new RolloutMemory();
  return page.lines(info).map((line) => {
    const { entry } = decode(JSON.parse(line) as Native);
    assert.ok(entry);
    return memory.read(entry);
  });
}

function shapes(info: string) {
  return entriesOf(info).map(({ kind, role, saidBy = "", parts }) =>
    [kind, role, saidBy, parts.map(({ type }) => type).join()].join(" "),
  );
}

test("the example rows are read as the page says", () => {
  assert.deepEqual(shapes("jsonl codex-row"), [
    "start   ",
    "turn_start   ",
    "message user summary text",
    "other   ",
  ]);
  const [meta, context, compacted] = entriesOf("jsonl codex-row");
  assert.deepEqual(rows.about(meta?.native ?? {}, ID), {
    cwd: "/home/me/app",
    branch: "main",
    parent: "",
    remote: "",
  });
  assert.equal(rows.about(meta?.native ?? {}, ID.replace("89ab", "89ac")), null);
  assert.equal(context?.model, "gpt-5.6");
  assert.equal(turns.compaction.isSummary(compacted?.native ?? {}), true);
  assert.ok(entriesOf("jsonl codex-row").every(({ native }) => isOwn(native)));
});

test("the example items are read as the page says", () => {
  assert.deepEqual(shapes("jsonl codex-item"), [
    "message user program text",
    "message user  text",
    "message assistant  reasoning",
    "message assistant  tool_call",
    "message tool  tool_result",
    "message assistant  tool_call",
    "message tool  tool_result",
    "message assistant  tool_call",
    "message assistant  text",
    "other   ",
  ]);
  const parts = entriesOf("jsonl codex-item").map((entry) => entry.parts[0]);
  assert.deepEqual(parts[2], { type: "reasoning", text: "A listing.", withheld: "gAAA" });
  assert.deepEqual(parts[3], {
    type: "tool_call",
    callId: "c1",
    tool: "shell",
    input: { command: ["ls"] },
  });
  assert.deepEqual(parts[4], {
    type: "tool_result",
    callId: "c1",
    output: "no such file",
    error: "exit code 1",
    durationMs: 200,
  });
  assert.deepEqual(parts[6], {
    type: "tool_result",
    callId: "c2",
    output: "done",
    error: null,
    durationMs: null,
  });
});

test("the example events are read as the page says", () => {
  assert.deepEqual(shapes("jsonl codex-event"), [
    "message user  text",
    "turn_end   ",
    "other   ",
    "message assistant  reasoning",
    "other   ",
  ]);
  const [, counted, , aborted, named] = entriesOf("jsonl codex-event");
  assert.deepEqual(counted?.usage, {
    inputTokens: 40,
    cacheReadTokens: 60,
    cacheWriteTokens: 0,
    outputTokens: 7,
    totalTokens: 107,
    spend: null,
  });
  assert.equal(aborted?.stopReason, "interrupted");
  assert.deepEqual(rows.about(named?.native ?? {}, ID), { title: "Listing" });
});

test("the example rows of older versions are read as the page says", () => {
  assert.deepEqual(shapes("jsonl codex-legacy"), [
    "start   ",
    "other   ",
    "message user  text",
    "message assistant  tool_call",
  ]);
  const [meta] = entriesOf("jsonl codex-legacy");
  assert.equal(rows.about(meta?.native ?? {}, "any")?.branch, "main");
});
