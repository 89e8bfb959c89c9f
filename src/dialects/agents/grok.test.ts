/** The examples of docs/formats/grok.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import type { Native } from "../../core/model/entry.ts";
import { decode, isOwn, isProgramsPrompt } from "./grok.ts";

const page = docsPage("formats/grok");
const rowsOf = (info: string) => page.lines(info).map((line) => JSON.parse(line) as Native);

function decoded(rows: readonly Native[]) {
  return rows.map((row) => {
    const { kind, role, saidBy, parts } = decode(row).entry ?? assert.fail();
    return [kind, role, saidBy ?? null, parts.map(({ type }) => type).join()];
  });
}

test("the example rows are decoded as the page says", () => {
  const rows = rowsOf("jsonl grok");
  assert.deepEqual(decoded(rows), [
    ["message", "system", null, "text"],
    ["message", "user", "program", "text"],
    ["message", "user", "program", "text"],
    ["message", "user", null, "text"],
    ["message", "assistant", null, "reasoning"],
    ["message", "assistant", null, "text,tool_call"],
    ["message", "tool", null, "tool_result"],
    ["message", "assistant", null, "other"],
    ["message", "user", null, "text"],
  ]);
  assert.deepEqual(decode(rows[5]).entry?.parts[1], {
    type: "tool_call",
    callId: "call-1",
    tool: "read_file",
    input: { target_file: "hello.py" },
  });
  assert.deepEqual(rows.map(isProgramsPrompt).lastIndexOf(true), 2);
  assert.deepEqual(rows.map(isOwn), [false, false, true, true, false, true, false, true, true]);
});

test("older rows are decoded the same way", () => {
  assert.deepEqual(decoded(rowsOf("jsonl grok-older")), [
    ["message", "user", null, "text"],
    ["message", "assistant", null, "reasoning,text,tool_call"],
    ["message", "tool", null, "tool_result"],
  ]);
});

test("a value that is not an object is a fault, and odd fields are kept as they are", () => {
  for (const odd of [null, 7, "x", []]) assert.equal(decode(odd).fault, "not an object");
  for (const odd of [
    {},
    { type: "user", content: [null, { type: "text", text: 7 }], synthetic_reason: "__proto__" },
    { type: "assistant", content: 7, tool_calls: [null, { name: 7 }, { function: 7, name: "x" }] },
    { type: "assistant", tool_calls: [{ name: "x", arguments: "{" }] },
    { type: "reasoning", summary: [7, { text: 7 }] },
    { type: "tool_result", images: 7 },
  ]) {
    assert.equal(decode(odd).entry?.native, odd);
  }
});
