import assert from "node:assert/strict";
import { test } from "vitest";
import { asideOf } from "./aside.ts";

const row = (type: string, model: string, more = {}) => ({
  type,
  message: { role: type, model, content: "API Error" },
  ...more,
});

test("rows for another agent, and error texts in the model's name, stand beside the conversation", () => {
  assert.equal(asideOf(row("user", "", { isSidechain: true })), "other_agent");
  assert.equal(asideOf(row("assistant", "<synthetic>", { isSidechain: true })), "other_agent");
  assert.equal(asideOf({ type: "summary", isSidechain: true }), "other_agent");
  assert.equal(asideOf(row("assistant", "<synthetic>")), "program");
});

test("every other row is part of it", () => {
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
