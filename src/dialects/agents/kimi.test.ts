/** The examples of docs/formats/kimi.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import type { Native } from "../../core/model/entry.ts";
import {
  about,
  compaction,
  decode,
  idAt,
  isOwn,
  isProgramsPrompt,
  logPath,
  nameOf,
  parentOf,
} from "./kimi.ts";

const page = docsPage("formats/kimi");
const recordsOf = (info: string) => page.lines(info).map((line) => JSON.parse(line) as Native);

function decoded(records: readonly Native[]) {
  return records.map((record) => {
    const { kind, role, saidBy, parts } = decode(record).entry ?? assert.fail();
    return [kind, role, saidBy ?? null, parts.map(({ type }) => type).join()];
  });
}

test("the example records of Kimi Code are decoded as the page says", () => {
  const records = recordsOf("jsonl kimi");
  assert.deepEqual(decoded(records), [
    ["start", null, null, ""],
    ["other", null, null, ""],
    ["other", null, null, ""],
    ["message", "user", null, "text"],
    ["message", "user", "program", "text"],
    ["other", null, null, ""],
    ["message", "assistant", null, "reasoning"],
    ["message", "assistant", null, "tool_call"],
    ["message", "tool", null, "tool_result"],
    ["other", null, null, ""],
    ["turn_end", null, null, ""],
    ["message", "user", "summary", "text"],
  ]);
  const entries = records.map((record) => decode(record).entry);
  assert.equal(entries[0]?.at, "2026-08-01T19:33:23.281Z");
  assert.equal(entries[5]?.model, "kimi-k2.7-code");
  assert.deepEqual(entries[10]?.usage, {
    inputTokens: 9431,
    outputTokens: 42,
    cacheReadTokens: 14848,
    totalTokens: null,
    spend: null,
  });
  assert.deepEqual(about(records[1] ?? {}), { cwd: "/home/me/app" });
  assert.deepEqual(records.map(isOwn).lastIndexOf(true), 0);
  assert.deepEqual(records.map(isProgramsPrompt).indexOf(true), 4);
  assert.deepEqual(records.map(compaction.isSummary).indexOf(true), 11);
});

test("the example records of Kimi CLI are decoded as the page says", () => {
  const records = recordsOf("jsonl kimi-cli");
  assert.deepEqual(decoded(records), [
    ["start", null, null, ""],
    ["message", "user", null, "text"],
    ["message", "assistant", null, "text"],
    ["message", "assistant", null, "tool_call"],
    ["message", "tool", null, "tool_result"],
    ["turn_end", null, null, ""],
    ["other", null, null, ""],
  ]);
  const [call, result] = [3, 4].map((at) => decode(records[at]).entry?.parts[0]);
  assert.deepEqual(call, {
    type: "tool_call",
    callId: "c1",
    tool: "Shell",
    input: { command: "ls" },
  });
  assert.deepEqual(result, {
    type: "tool_result",
    callId: "c1",
    output: "",
    durationMs: null,
    error: "It was refused.",
  });
});

test("each place has its own id, name and parent", () => {
  for (const [path, id, name, parent] of [
    ["d/s/agents/main", "d/s/agents/main", "s", null],
    ["d/s/agents/agent-0", "d/s/agents/agent-0", "s/agent-0", "d/s/agents/main"],
    ["d/s", "d/s", "s", null],
    ["d/s/subagents/a", "d/s/subagents/a", "s/a", "d/s"],
  ] as const) {
    const segments = ["sessions", ...path.split("/"), "wire.jsonl"];
    assert.equal(idAt(segments), id);
    assert.deepEqual(logPath(id), segments);
    assert.equal(nameOf(id), name);
    assert.equal(parentOf(id, null), parent);
  }
  assert.equal(idAt(["sessions", "d", "wire.jsonl"]), null);
  assert.equal(idAt(["sessions", "d", "s", "other", "a", "wire.jsonl"]), null);
  assert.throws(() => logPath("../s"), { code: "BAD_ID" });
});

test("a value that is not an object is a fault, and odd fields are kept as they are", () => {
  for (const odd of [null, 7, "x", []]) assert.equal(decode(odd).fault, "not an object");
  for (const odd of [
    {},
    { message: { type: "ToolCall", payload: { function: 7 } }, timestamp: "x" },
    { type: "context.append_message", message: { role: "assistant", toolCalls: [7, {}] } },
    { type: "context.append_message", message: { role: "user", content: [null], origin: 7 } },
    { type: "context.append_loop_event", event: { type: "tool.result", result: null } },
    { type: "usage.record", usage: { output: "7", inputOther: -1 }, time: 1e300 },
  ]) {
    assert.equal(decode(odd).entry?.native, odd);
  }
});
