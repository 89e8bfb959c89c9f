/** The examples of docs/formats/qwen.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import type { Native } from "../../core/model/entry.ts";
import { about, decode, isOwn, takingBack } from "./qwen.ts";

const rows = docsPage("formats/qwen")
  .lines("jsonl qwen")
  .map((line) => JSON.parse(line) as Native);

test("the example rows are decoded as the page says", () => {
  const entries = rows.flatMap((row) => decode(row).entry ?? []);
  assert.deepEqual(
    entries.map(({ kind, role, saidBy, parts }) => {
      return [kind, role, saidBy ?? null, parts.map(({ type }) => type).join()];
    }),
    [
      ["message", "user", null, "text"],
      ["message", "assistant", null, "reasoning,tool_call"],
      ["message", "tool", null, "tool_result"],
      ["message", "user", "program", "text"],
      ["other", null, null, ""],
      ["other", null, null, ""],
    ],
  );
  assert.deepEqual(entries[1]?.usage, {
    inputTokens: 60,
    outputTokens: 20,
    cacheReadTokens: 40,
    totalTokens: 120,
    spend: null,
  });
  assert.ok(rows.every(isOwn));
  assert.deepEqual(about(rows[0] ?? {}, "p/chats/s"), { cwd: "/home/me/app", branch: "main" });
  assert.equal(about(rows[4] ?? {}, "p/chats/s")?.title, "Reading");
  assert.equal(about(rows[0] ?? {}, "p/subagents/s/agent-1")?.parent, "p/chats/s");
  const firstTaken = rows.findIndex(
    (row) => takingBack.idOf?.(row) === takingBack.backTo?.(rows[5] ?? {}),
  );
  assert.equal(rows[firstTaken]?.uuid, "a4");
});

test("a value that is not an object is a fault, and odd fields are kept as they are", () => {
  for (const odd of [null, 7, "x", []]) assert.equal(decode(odd).fault, "not an object");
  for (const odd of [
    {},
    { type: "user", message: 7 },
    { type: "assistant", message: { parts: 7 }, usageMetadata: [], model: 7 },
    { type: "tool_result", message: { parts: [{ functionResponse: { response: 7 } }, null] } },
    { type: "user", subtype: "__proto__", message: { parts: [{ functionCall: { name: 7 } }] } },
  ]) {
    assert.equal(decode(odd).entry?.native, odd);
  }
});
