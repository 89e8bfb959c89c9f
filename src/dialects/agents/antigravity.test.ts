/** The examples of docs/formats/antigravity.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { decode, isOwn } from "./antigravity.ts";

const steps = docsPage("formats/antigravity")
  .lines("jsonl antigravity")
  .map((line): unknown => JSON.parse(line));

test("the example steps are decoded as the page says", () => {
  const entries = steps.map((step) => decode(step).entry ?? assert.fail());
  assert.deepEqual(
    entries.map(({ kind, role, parts }) => [kind, role, parts.map(({ type }) => type).join()]),
    [
      ["message", "user", "text"],
      ["other", null, ""],
      ["message", "assistant", "reasoning,tool_call"],
      ["message", "tool", "tool_result"],
      ["message", "assistant", "text"],
      ["message", "system", "text"],
    ],
  );
  assert.deepEqual(entries[2]?.parts[1], {
    type: "tool_call",
    callId: null,
    tool: "list_dir",
    input: { DirectoryPath: "/tmp/repo" },
  });
  assert.equal(entries[4]?.isPartial, true);
  assert.ok(steps.every(isOwn));
});

test("a value that is not an object is a fault, and odd fields are kept as they are", () => {
  for (const odd of [null, 7, "x", []]) assert.equal(decode(odd).fault, "not an object");
  for (const odd of [
    {},
    { type: "PLANNER_RESPONSE", tool_calls: [null, {}, { name: "x", args: 7 }], thinking: 7 },
    { type: "PLANNER_RESPONSE", tool_calls: [{ name: "x", args: { a: "{", b: 7 } }] },
    { type: "RUN_COMMAND", content: "", status: "ERROR" },
    { type: "USER_INPUT", content: 7, truncated_fields: 7 },
  ]) {
    assert.equal(decode(odd).entry?.native, odd);
  }
});
