/** A provider's summary is sent back to that provider only. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { piped } from "../../test/resume/judged.ts";
import { call, entriesOf, result, resumed, type Said, text } from "../../test/resume/said.ts";
import type { Part } from "../core/model/entry.ts";

const summary = (content: string | null, more: object = {}): Part => {
  return { type: "other", native: { type: "compaction", content, ...more } };
};
const sealed = (id: string): Part => {
  return { type: "other", native: { type: "compaction", id, encrypted_content: `sealed ${id}` } };
};
const thought: Part = { type: "reasoning", text: "Hm.", signature: "seal" };

test("Anthropic's conversation begins with the last summary, byte for byte", () => {
  const more = { encrypted_content: "x", signature: "y", unknown_deltas: [{}], tool_changes: null };
  const block = {
    type: "compaction",
    content: "All so far.",
    encrypted_content: "x",
    signature: "y",
  };
  const { messages, done } = resumed(
    ["user", ["go"]],
    ["assistant", [summary("Before."), "one", call("c")]],
    ["tool", [result("c", "out")]],
    ["assistant", ["two", summary("All so far.", more), thought, "three"], { messageId: "m" }],
    ["user", ["on"]],
  );
  assert.deepEqual(messages, [
    ["assistant", block, { type: "thinking", thinking: "Hm.", signature: "seal" }, text("three")],
    ["user", text("on")],
  ]);
  assert.deepEqual(done, ["compacted 1", "compacted 2", "compacted 3", "compacted 4"]);
});

test("the system prompt stays, and only messages after a summary keep their thinking", () => {
  const entries = entriesOf(
    ["system", ["Be kind."]],
    ["user", ["go"]],
    ["assistant", [summary("All.")], { messageId: "m1" }],
    ["assistant", [thought, "on"], { messageId: "m2" }],
  );
  const { messages, system } = piped("anthropic", entries, null);
  assert.equal(system, "Be kind.");
  const types = messages.map(({ content }) => content.map(({ type }) => type));
  assert.deepEqual(types, [["compaction", "thinking", "text"]]);
});

test("OpenAI's encrypted items are sent back in their place, without ids, and the messages before them stay", () => {
  const gpt = { model: "gpt-5.5" };
  const entries = entriesOf(
    ["user", ["go"]],
    ["assistant", [sealed("a"), "one"], gpt],
    ["user", ["on"]],
    ["assistant", ["two", sealed("b")], gpt],
  );
  const { messages, actions } = piped("openai-responses", entries, null);
  assert.deepEqual(
    messages.map((item) => (item.type === "message" ? item.role : item)),
    [
      "user",
      { type: "compaction", encrypted_content: "sealed a" },
      "assistant",
      "user",
      "assistant",
      { type: "compaction", encrypted_content: "sealed b" },
    ],
  );
  assert.deepEqual(actions, []);
});

test("another provider gets the summarised messages, and the report says why the summary was left out", () => {
  const [foreign, notTaken] = ["compaction_foreign", "compaction_not_taken"];
  const none = [notTaken, notTaken];
  const cases: readonly { said: Said; whys: readonly string[] }[] = [
    { said: ["assistant", [summary("All."), "yes"]], whys: ["", foreign, ...none] },
    {
      said: ["assistant", [sealed("a"), "yes"], { model: "gpt-5.5" }],
      whys: [foreign, "", ...none],
    },
    {
      said: ["assistant", [sealed("a"), "yes"], { model: "grok-5" }],
      whys: [foreign, foreign, ...none],
    },
    {
      said: ["assistant", [summary(null), "yes"]],
      whys: ["compaction_empty", foreign, ...none],
    },
    {
      said: ["assistant", [summary("\ud800"), "yes"]],
      whys: ["compaction_unsendable", foreign, ...none],
    },
  ];
  for (const { said, whys } of cases) {
    const entries = entriesOf(["user", ["go"]], said);
    const targets = ["anthropic", "openai-responses", "openai-chat", "ai-sdk"] as const;
    for (const [at, name] of targets.entries()) {
      const { messages, actions } = piped(name, entries, null);
      if (whys[at] === "") continue;
      assert.deepEqual(
        actions.map(({ why }) => why),
        [whys[at]],
        name,
      );
      assert.match(JSON.stringify(messages), /go.*yes/, name);
    }
  }
});
