/**
 * What each target accepts of thinking, images and system messages, and what is not part of the
 * conversation.
 */

import assert from "node:assert/strict";
import { test } from "vitest";
import { piped } from "../../test/resume/judged.ts";
import { back, call, entriesOf, result, resumed, type Said, text } from "../../test/resume/said.ts";
import type { Part } from "../core/model/entry.ts";
import { SYSTEM_SAID } from "./wire-text.ts";

const thought = (said: string, more: object = { signature: "seal" }): Part => {
  return { type: "reasoning", text: said, ...more };
};

test("thinking is sent whole with its signature, or not at all, and none is emptied", () => {
  const good: Said = ["assistant", [thought("Hm."), thought("", { withheld: "x" }), "yes"]];
  assert.deepEqual(resumed(["user", ["go"]], good).messages[1], [
    "assistant",
    { type: "thinking", thinking: "Hm.", signature: "seal" },
    { type: "redacted_thinking", data: "x" },
    text("yes"),
  ]);
  const cases: readonly (readonly [Said, readonly string[]])[] = [
    [["assistant", [thought("Hm.", {}), "yes"]], ["thinking_unsigned 2"]],
    [
      ["assistant", [thought("Hm.", { signature: "[REDACTED_SIGNATURE]" }), "yes"]],
      ["thinking_unsigned 2"],
    ],
    [["assistant", [thought(""), "yes"]], ["thinking_empty 2"]],
    [["assistant", [thought("\ud800"), "yes"]], ["thinking_unsendable 2"]],
    [
      ["assistant", [thought("", { withheld: "x" }), "yes"], { model: "gpt-5.5" }],
      ["thinking_foreign 2"],
    ],
    [["assistant", [thought("Hm."), "yes"], { model: "gemini-3-pro" }], ["thinking_foreign 2"]],
    [
      ["assistant", [thought("Hm."), thought(""), "yes"]],
      ["thinking_with_it 2", "thinking_empty 2"],
    ],
  ];
  for (const [said, done] of cases) {
    const { messages, done: told } = resumed(["user", ["go"]], said);
    assert.deepEqual([messages[1], told], [["assistant", text("yes")], done]);
  }
  const unnamed: Said = ["assistant", [thought("Hm."), "yes"], { model: null }];
  assert.deepEqual(
    resumed(["user", ["go"]], unnamed).done,
    [],
    "it is not known to be another provider's",
  );
  const cut = resumed(["user", ["go"]], ["assistant", [thought("Hm.")]]);
  assert.deepEqual(cut, { messages: [["user", text("go")]], done: ["thinking_last 2"] });
});

test("two assistant messages in a row become one without thinking inside", () => {
  const first: Said = ["assistant", [thought("Hm."), "one"], { messageId: "m1" }];
  const second: Said = ["assistant", [thought("So."), "two"], { messageId: "m2" }];
  const plain: Said = ["assistant", ["two"], { messageId: "m2" }];
  const both = resumed(["user", ["go"]], first, second);
  assert.deepEqual(both.messages[1], ["assistant", text("one"), text("two")]);
  assert.deepEqual(both.done, ["thinking_not_first 2", "thinking_not_first 3"]);
  const kept = resumed(["user", ["go"]], first, plain);
  assert.deepEqual(kept.messages[1]?.slice(2), [text("one"), text("two")]);
  assert.deepEqual(resumed(["user", ["go"]], ["assistant", ["a", thought("Hm."), "b"]]).done, [
    "thinking_not_first 2",
  ]);
});

test("only Anthropic's thinking is sent back, and only to targets that accept it", () => {
  const entries = entriesOf(["user", ["go"]], ["assistant", [thought("Hm."), "yes"]]);
  for (const name of ["openai-chat", "openai-responses"] as const) {
    const { messages, actions } = piped(name, entries);
    assert.ok(!JSON.stringify(messages).includes("Hm."));
    assert.equal(actions[0]?.why, "thinking_not_taken");
  }
  const [, said] = piped("ai-sdk", entries).messages;
  assert.deepEqual(said?.content[0], {
    type: "reasoning",
    text: "Hm.",
    providerOptions: { anthropic: { signature: "seal" } },
  });
});

test("system messages are the system prompt; later ones stay in place, marked where necessary", () => {
  const entries = entriesOf(["system", ["Be brief."]], ["user", ["go"]], ["system", ["Stop."]]);
  const { system, messages, madeSystem } = piped("anthropic", entries);
  assert.deepEqual([system, madeSystem], ["Be brief.", { lines: [1] }]);
  assert.deepEqual(messages, [
    { role: "user", content: [text("go"), text(`${SYSTEM_SAID}\nStop.`)] },
  ]);
  assert.deepEqual(piped("openai-chat", entries).messages, [
    { role: "user", content: "go" },
    { role: "system", content: "Stop." },
  ]);
});

test("lines that programs write outside the conversation are not part of it", () => {
  const report: Part = { type: "other", native: { type: "resume_report" } };
  const { messages, done } = resumed(
    ["user", ["go"]],
    ["user", ["to another agent"], { aside: "other_agent" }],
    ["assistant", ["API Error"], { model: "<synthetic>", aside: "program" }],
    ["system", [report]],
    ["user", ["x"], { kind: "other", role: null }],
    ["user", [{ type: "child", session: "s", agent: null }], { kind: "other", role: null }],
  );
  assert.deepEqual(messages, [["user", text("go")]]);
  assert.deepEqual(done, [
    "sidechain 2",
    "synthetic 3",
    "resume_report 4",
    "not_understood 5",
    "child 6",
  ]);
});

test("images are sent in each target's form, also those of tools where that is possible", () => {
  const image = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "AAAA" },
  };
  const entries = entriesOf(
    ["user", ["see", { type: "image", mediaType: "image/png", data: "AAAA" }]],
    ["assistant", [call("a")]],
    ["tool", [result("a", [text("out"), image])]],
  );
  const url = "data:image/png;base64,AAAA";
  assert.deepEqual(piped("anthropic", entries).messages[0]?.content[1], image);
  assert.deepEqual(piped("anthropic", entries).messages[2]?.content[0], {
    ...back("a", "out"),
    content: [text("out"), image],
  });
  const chat = piped("openai-chat", entries);
  assert.deepEqual(chat.messages[0]?.content?.[1], { type: "image_url", image_url: { url } });
  assert.deepEqual(
    chat.actions.map(({ why }) => why),
    ["image_not_taken"],
  );
  assert.deepEqual(piped("openai-responses", entries).messages[2], {
    type: "function_call_output",
    call_id: "a",
    output: [
      { type: "input_text", text: "out" },
      { type: "input_image", image_url: url, detail: "auto" },
    ],
  });
  assert.deepEqual(piped("ai-sdk", entries).messages[2]?.content[0], {
    type: "tool-result",
    toolCallId: "a",
    toolName: "look",
    output: {
      type: "content",
      value: [text("out"), { type: "media", data: "AAAA", mediaType: "image/png" }],
    },
  });
});

test("every message made from unsigned lines is reported", () => {
  const entries = entriesOf(["user", ["go"]], ["assistant", ["yes"], { verified: false }]);
  assert.deepEqual(piped("anthropic", entries).made, [
    { lines: [1] },
    { lines: [2], unverified: true },
    { lines: [] },
  ]);
});

test("an input that nests too deep for a request is sent as its text", () => {
  let deep: unknown = [];
  for (let n = 0; n < 100_000; n++) deep = [deep];
  const entry = { kind: "message", role: "assistant", parts: [call("a", deep)] } as const;
  const more = { model: null, native: {}, start: 0, line: 1, verified: true };
  const { messages, actions } = piped("openai-chat", [{ ...entry, ...more }]);
  assert.ok(JSON.stringify(messages).includes(`${"[".repeat(1000)}`));
  assert.ok(actions.some(({ why }) => why === "input_wrapped"));
});

test("OpenRouter's reasoning details are sent back flat in a chat request, and nowhere else", () => {
  const reasoning_details = [{ type: "reasoning.text", text: "Hm.", signature: "s", index: 0 }];
  const details: Part = { type: "other", native: { type: "delta", reasoning_details } };
  const thoughts: Part = { type: "reasoning", text: "Hm." };
  const said: Said = ["assistant", [thoughts, "yes", details]];
  const entries = entriesOf(["user", ["go"]], said);
  const { messages, actions } = piped("openai-chat", entries, null);
  assert.deepEqual(messages[1], { role: "assistant", content: "yes", reasoning_details });
  assert.deepEqual(
    actions.map(({ why }) => why),
    ["thinking_unsigned"],
  );
  for (const name of ["anthropic", "openai-responses", "ai-sdk"] as const) {
    const other = piped(name, entries, null);
    assert.ok(!JSON.stringify(other.messages).includes("Hm."));
    assert.ok(other.actions.some(({ why }) => why === "thinking_not_taken"));
  }
  const alone = piped("openai-chat", entriesOf(["user", ["go"]], ["assistant", [details]]), null);
  assert.deepEqual(
    alone.actions.map(({ why }) => why),
    ["thinking_last"],
  );
});
