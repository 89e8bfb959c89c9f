import assert from "node:assert/strict";
import { test } from "vitest";
import { asideOf, isProgramsPrompt } from "./aside.ts";

const row = (type: string, model: string, more = {}) => ({
  type,
  message: { role: type, model, content: "API Error" },
  ...more,
});

test("rows for another agent, and error texts written as the model's, are not part of the conversation", () => {
  assert.equal(asideOf(row("user", "", { isSidechain: true })), "other_agent");
  assert.equal(asideOf(row("assistant", "<synthetic>", { isSidechain: true })), "other_agent");
  assert.equal(asideOf({ type: "summary", isSidechain: true }), "other_agent");
  assert.equal(asideOf(row("assistant", "<synthetic>")), "program");
});

test("in the other agent's own log, its rows are the conversation", () => {
  const isOwn = (of: object) => asideOf({ ...of, isSidechain: true }, null, true);
  assert.equal(isOwn(row("user", "")), null);
  assert.equal(isOwn(row("assistant", "<synthetic>")), "program");
});

test("every other row is part of the conversation", () => {
  const rows = [
    row("assistant", "claude-opus-4-5"),
    row("assistant", "claude-opus-4-5", { isSidechain: false }),
    row("assistant", "claude-opus-4-5", { isSidechain: "true" }),
    row("user", "<synthetic>"),
    { type: "assistant", message: null },
    { type: "assistant", model: "<synthetic>" },
    {},
  ];
  for (const each of rows) assert.equal(asideOf(each), null, JSON.stringify(each));
});

test("rows that a program writes as the user are part of the conversation, but are not user prompts", () => {
  const meta = row("user", "", { isMeta: true });
  assert.deepEqual([asideOf(meta), isProgramsPrompt(meta)], [null, true]);
  for (const each of [row("user", ""), row("user", "", { isMeta: false }), { isMeta: true }]) {
    assert.equal(isProgramsPrompt(each), false, JSON.stringify(each));
  }
});
