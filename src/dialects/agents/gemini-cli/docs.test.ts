/** The examples of docs/formats/gemini-cli.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../../test/support/docs-page.ts";
import type { Native } from "../../../core/model/entry.ts";
import { rows as asked, decode, GrowingMessages, isOwn, turns } from "./decode.ts";

const rows = docsPage("formats/gemini-cli")
  .lines("jsonl gemini-cli")
  .map((line) => JSON.parse(line) as Native);

test("the example rows are decoded as the page says", () => {
  const entries = rows.flatMap((row) => decode(row).entry ?? []);
  assert.deepEqual(
    entries.map(({ kind, role, saidBy, parts }) => {
      return [kind, role, saidBy ?? null, parts.map(({ type }) => type).join()];
    }),
    [
      ["start", null, null, ""],
      ["message", "user", null, "text"],
      ["message", "user", "program", "text"],
      ["message", "assistant", null, "reasoning,tool_call,tool_result"],
      ["message", "tool", null, "tool_result"],
      ["message", "system", null, "text"],
      ["other", null, null, ""],
      ["other", null, null, ""],
      ["message", "user", "summary", "text"],
    ],
  );
  const answer = entries[3];
  assert.deepEqual(answer?.usage, {
    inputTokens: 5750,
    outputTokens: 491,
    cacheReadTokens: 8156,
    totalTokens: 14397,
    spend: null,
  });
  assert.deepEqual(answer?.parts[0], { type: "reasoning", text: "**Looking** I list them." });
  assert.deepEqual(rows.map(asked.asideOf).indexOf("program"), 5);
  assert.deepEqual(asked.about(rows[6] ?? {}), { title: "Listing files" });
  assert.equal(turns.takingBack.backTo?.(rows[7] ?? {}), "u1");
  assert.deepEqual(rows.map(isOwn).indexOf(true), 0);
});

test("the memory of earlier parts can be saved and continued", () => {
  const memory = new GrowingMessages();
  const entries = rows.flatMap((row) => decode(row).entry ?? []).map((entry) => memory.read(entry));
  assert.equal(entries[4]?.kind, "other");
  const later = new GrowingMessages(JSON.parse(JSON.stringify(memory.state())));
  const again = rows.flatMap((row) => decode(row).entry ?? []).map((entry) => later.read(entry));
  assert.deepEqual(
    again.flatMap(({ parts }) => parts),
    [],
  );
});

test("a value that is not an object is a fault, and odd fields are kept as they are", () => {
  for (const odd of [null, 7, "x", []]) assert.equal(decode(odd).fault, "not an object");
  for (const odd of [
    { id: "x" },
    { id: "x", type: "gemini", content: [7, { inlineData: {} }], toolCalls: [null, {}, 7] },
    { id: "x", type: "gemini", thoughts: "no list", tokens: { input: "7", total: -1 } },
    { id: "x", type: "user", content: { functionCall: {} }, displayContent: 7 },
    { $set: 7 },
  ]) {
    assert.equal(decode(odd).entry?.native, odd);
  }
});
