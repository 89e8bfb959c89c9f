/** The validators refuse what the providers refuse: each rule, broken once. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { aiSdkFaults } from "./validators/ai-sdk.ts";
import { anthropicFaults } from "./validators/anthropic.ts";
import { openaiChatFaults } from "./validators/openai-chat.ts";
import { openaiResponsesFaults } from "./validators/openai-responses.ts";

type Judge = (messages: never[]) => string[];

function refuses(judge: Judge, good: readonly unknown[], bad: readonly (readonly unknown[])[]) {
  assert.deepEqual(judge(good as never[]), []);
  for (const messages of bad) {
    assert.ok(judge(messages as never[]).length > 0, JSON.stringify(messages));
  }
}

test("the validator of Anthropic's requests enforces its rules", () => {
  const text = (said: string) => ({ type: "text", text: said });
  const user = (...content: unknown[]) => ({ role: "user", content });
  const model = (...content: unknown[]) => ({ role: "assistant", content });
  const use = { type: "tool_use", id: "a", name: "t", input: {} };
  const back = { type: "tool_result", tool_use_id: "a", content: [text("1")] };
  const thinking = { type: "thinking", thinking: "Hm.", signature: "s" };
  const go = user(text("go"));
  refuses(
    anthropicFaults,
    [go, model(thinking, use), user(back, text("and?"))],
    [
      [],
      [model(text("hi")), go],
      [go, go],
      [go, model(text("hi"))],
      [user()],
      [user(text(" "))],
      [user(text("\0"))],
      [user(text("\ud800"))],
      [go, model(use), go],
      [go, model(use), user(text("first"), back)],
      [go, model(use), user(back, back)],
      [user(back)],
      [go, model(use, use), user(back)],
      [go, model(use), user(back), model(use), user(back)],
      [go, model({ ...use, id: "a.b" }), user({ ...back, tool_use_id: "a.b" })],
      [go, model({ ...use, name: "a.b" }), user(back)],
      [go, model({ ...use, input: "x" }), user(back)],
      [go, model(thinking), go],
      [go, model(text("x"), thinking, text("y")), go],
      [go, model({ ...thinking, thinking: "" }, text("x")), go],
      [go, model({ ...thinking, signature: "" }, text("x")), go],
      [go, model(use), user({ ...back, content: [], is_error: true })],
      [go, model(use), user({ ...back, content: undefined, is_error: true })],
      [{ ...go, unverified: true }],
    ],
  );
});

test("the validator of chat completions enforces its rules", () => {
  const user = { role: "user", content: "go" };
  const called = (id = "a", name = "t", args = "{}") => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name, arguments: args } }],
  });
  const back = { role: "tool", tool_call_id: "a", content: "" };
  refuses(
    openaiChatFaults,
    [{ role: "system", content: "Be brief." }, user, called(), back, user],
    [
      [],
      [user, called()],
      [user, called(), user, back],
      [user, back],
      [user, called(), back, back],
      [user, called(), back, called(), back],
      [user, { role: "assistant", content: null }, user],
      [user, { role: "assistant", content: "" }, user],
      [user, { role: "assistant", content: "x", tool_calls: [] }, user],
      [user, { role: "assistant", content: "x" }],
      [user, called("x".repeat(41)), { ...back, tool_call_id: "x".repeat(41) }],
      [user, called("a", "a.b"), back],
      [user, called("a", "t", "[]"), back],
      [user, called("a", "t", '{"a":"\\u0000"}'), back],
      [{ role: "user", content: [] }],
    ],
  );
});

test("the validator of a response's input enforces its rules", () => {
  const user = { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] };
  const call = { type: "function_call", call_id: "a", name: "t", arguments: "{}" };
  const back = { type: "function_call_output", call_id: "a", output: "1" };
  const said = { type: "message", role: "assistant", content: "x" };
  refuses(
    openaiResponsesFaults,
    [user, said, call, back],
    [
      [],
      [said, user],
      [user, said],
      [user, call],
      [user, back],
      [user, call, user, back],
      [user, call, back, back],
      [user, call, back, call, back],
      [user, { ...call, id: "fc_1" }, back],
      [user, { ...call, arguments: "x" }, back],
      [user, { ...said, content: "" }, user],
      [{ ...user, content: [] }],
    ],
  );
});

test("the validator of the AI SDK's messages enforces its rules", () => {
  const user = { role: "user", content: [{ type: "text", text: "go" }] };
  const call = { type: "tool-call", toolCallId: "a", toolName: "t", input: {} };
  const named = { toolCallId: "a", toolName: "t" };
  const back = { type: "tool-result", ...named, output: { type: "text", value: "" } };
  const said = { role: "assistant", content: [call] };
  const results = { role: "tool", content: [back] };
  refuses(
    aiSdkFaults,
    [user, said, results, user],
    [
      [],
      [user, said],
      [user, said, user],
      [user, results],
      [user, said, { ...results, content: [{ ...back, toolName: "u" }] }],
      [
        user,
        said,
        { ...results, content: [{ ...back, output: { type: "error-text", value: "" } }] },
      ],
      [user, { ...said, content: [call, { ...call, toolCallId: "b" }] }, results],
      [user, said, results, said, results],
      [{ ...user, content: [] }],
    ],
  );
});
