/** Sessions of agent frameworks as conversations: their own messages are not distorted. */

import assert from "node:assert/strict";
import { convertToModelMessages, type UIMessage } from "ai";
import { test } from "vitest";
import { sdk } from "../../src/dialects/verbatim/sdk-dialect.ts";
import { decoded } from "./any-session.ts";
import { judgeAll, piped } from "./judged.ts";

const PNG = "data:image/png;base64,AAAA";

function entriesOf(lines: readonly object[]) {
  const at = "2026-11-15T10:00:00.000Z";
  const entries = lines.map((line, n) => {
    return decoded(sdk, JSON.stringify({ id: `l${n}`, at, ...line }), n);
  });
  judgeAll(entries, "the lines of the test");
  return entries;
}

const ofChat = (messages: readonly object[]) => {
  return entriesOf(messages.map((message) => ({ type: "message", message })));
};
const ofAgents = (items: readonly object[]) => {
  return entriesOf(items.map((item) => ({ type: "item", item })));
};

const STEP = { type: "step-start" } as const;
const toolPart = (name: string, toolCallId: string, output: string, more: object = {}) => {
  const state = "output-available" as const;
  return { type: `tool-${name}` as const, toolCallId, state, input: { of: name }, output, ...more };
};

/** Each speaker with texts, and calls and results by their ids. */
function outline(messages: readonly { role: string; content: unknown }[]): unknown[] {
  return messages.map(({ role, content }) => {
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const said = (parts as Record<string, unknown>[]).map(
      ({ type, text, toolCallId }) => `${type} ${text ?? toolCallId}`,
    );
    return [role, ...said];
  });
}

const ASKED = { id: "u1", role: "user", parts: [{ type: "text", text: "Remove Bob." }] } as const;

test("an answer in several steps is several messages, as the AI SDK itself makes them", async () => {
  const messages: UIMessage[] = [
    { ...ASKED, parts: [...ASKED.parts] },
    {
      id: "a1",
      role: "assistant",
      parts: [
        STEP,
        { type: "text", text: "I look him up." },
        toolPart("find", "c1", "bob is 42"),
        toolPart("find", "c2", "there is one Bob"),
        STEP,
        toolPart("remove", "c3", "removed"),
        STEP,
        { type: "text", text: "Bob (42) is removed." },
      ],
    },
  ];
  const { messages: resumed, actions } = piped("ai-sdk", ofChat(messages), null);
  assert.deepEqual(actions, []);
  assert.equal(resumed.length, 6);
  assert.deepEqual(outline(resumed), outline(await convertToModelMessages(messages)));
});

test("the result of a provider's own tool precedes the model's next text", () => {
  const search = toolPart("search", "c1", "30 °C", { providerExecuted: true });
  const parts = [STEP, search, { type: "text", text: "It is warm." }];
  const answer = { id: "a1", role: "assistant", parts };
  assert.deepEqual(outline(piped("ai-sdk", ofChat([ASKED, answer]), null).messages), [
    ["user", "text Remove Bob."],
    ["assistant", "tool-call c1"],
    ["tool", "tool-result c1"],
    ["assistant", "text It is warm."],
  ]);
});

test("thinking is sent back with the signature that the AI SDK keeps for Anthropic", () => {
  const sealed = (text: string, anthropic: object) => {
    return { type: "reasoning", text, providerMetadata: { anthropic } };
  };
  const parts = [
    sealed("Who is Bob?", { signature: "seal" }),
    sealed("", { redactedData: "secret" }),
    { type: "text", text: "Done." },
  ];
  const entries = ofChat([ASKED, { id: "a1", role: "assistant", parts }]);
  const { messages, actions } = piped("anthropic", entries, null);
  assert.deepEqual(actions, []);
  assert.deepEqual(messages[1]?.content, [
    { type: "thinking", thinking: "Who is Bob?", signature: "seal" },
    { type: "redacted_thinking", data: "secret" },
    { type: "text", text: "Done." },
  ]);
});

test("images of users and tools are restored from both frameworks' own parts", () => {
  const sent = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "AAAA" },
  };
  const file = { type: "file", mediaType: "image/png", url: PNG };
  const chat = ofChat([{ id: "u1", role: "user", parts: [{ type: "text", text: "See" }, file] }]);
  assert.deepEqual(piped("anthropic", chat, null).messages[0]?.content[1], sent);

  const shot = (callId: string) => ({
    type: "function_call",
    callId,
    name: "shot",
    arguments: "{}",
  });
  const image = (callId: string, output: unknown) => {
    return { type: "function_call_result", callId, name: "shot", status: "completed", output };
  };
  const { messages, actions } = piped(
    "anthropic",
    ofAgents([
      { role: "user", content: [{ type: "input_image", image: PNG }] },
      shot("c1"),
      shot("c2"),
      image("c1", { type: "image", image: { data: "AAAA", mediaType: "image/png" } }),
      image("c2", [{ type: "input_image", image: PNG }]),
    ]),
    null,
  );
  assert.deepEqual(actions, []);
  assert.deepEqual(messages[0]?.content, [sent]);
  const results = messages[2]?.content.map((block) => "content" in block && block.content);
  assert.deepEqual(results, [[sent], [sent]]);
});

test("a number rounded in string arguments is reported", () => {
  const call = { type: "function_call", callId: "c1", name: "show" };
  const entries = ofAgents([{ ...call, arguments: '{"id":12345678901234567890}' }]);
  const { actions } = piped("openai-responses", entries, null);
  assert.ok(actions.some(({ why, callId }) => why === "number_rounded" && callId === "c1"));
});

/** Every call's result. */
function outcomes(messages: readonly { role: string; content: unknown }[]): Map<unknown, string> {
  const results = messages.flatMap(({ role, content }) => {
    return role === "tool" ? (content as { toolCallId: string; output: { value: string } }[]) : [];
  });
  return new Map(results.map(({ toolCallId, output }) => [toolCallId, output.value]));
}

test("a tool part of an interrupted answer gets what is known: a result, UNCERTAIN, or NOT STARTED", () => {
  const approval = (more: object) => ({ approval: { id: "p", ...more } });
  const part = (state: string, more: object) => ({
    type: "tool-drop",
    toolCallId: state,
    state,
    input: { db: "x" },
    ...more,
  });
  const denied = approval({ approved: false, reason: "too risky" });
  const parts = [
    part("input-available", {}),
    part("approval-requested", approval({})),
    part("approval-responded", denied),
    { ...part("approval-responded", approval({ approved: true })), toolCallId: "approved" },
    part("output-denied", denied),
    { ...part("output-denied", approval({ approved: false })), toolCallId: "unreasoned" },
    { ...part("output-available", { output: { done: "10%" } }), preliminary: true },
    part("output-error", { errorText: "locked" }),
  ];
  const entries = ofChat([ASKED, { id: "a1", role: "assistant", parts: [STEP, ...parts] }]);
  const { messages, actions } = piped("ai-sdk", entries, null);
  const told = outcomes(messages);
  for (const id of ["input-available", "approved", "output-available"]) {
    assert.match(told.get(id) ?? "", /^UNCERTAIN/, id);
  }
  for (const id of ["approval-responded", "output-denied"]) {
    assert.match(told.get(id) ?? "", /^NOT STARTED: .*did not run: too risky$/, id);
  }
  for (const id of ["approval-requested", "unreasoned"]) {
    assert.match(told.get(id) ?? "", /^NOT STARTED: .*did not run\.$/, id);
  }
  assert.equal(told.get("output-error"), "locked");
  assert.deepEqual(
    actions.map(({ why, callId }) => `${why} ${callId ?? ""}`),
    [
      "block_not_taken ",
      "uncertain_result input-available",
      "uncertain_result approved",
      "uncertain_result output-available",
    ],
  );
});

test("a cut call of the AI SDK is sent with what arrived of its input, and as not run", () => {
  const state = "input-streaming";
  const rawInput = '{"db":"x';
  const answer = {
    id: "a1",
    role: "assistant",
    parts: [
      { type: "tool-drop", toolCallId: "c1", state, rawInput, input: { db: "x" } },
      { type: "dynamic-tool", toolName: "drop", toolCallId: "c2", state, input: { db: "x" } },
      { type: "tool-search", toolCallId: "c3", state, rawInput, providerExecuted: true },
    ],
  };
  const { messages, actions } = piped("ai-sdk", ofChat([ASKED, answer]), null);
  const said = (messages[1]?.content ?? []) as { toolName: string; input: unknown }[];
  const calls = said.map(({ toolName, input }) => [toolName, input]);
  assert.deepEqual(calls, [
    ["drop", { input_text: rawInput }],
    ["drop", { input_text: '{"db":"x"}' }],
  ]);
  for (const text of outcomes(messages).values()) assert.match(text, /^NOT STARTED/);
  assert.deepEqual(
    actions.map(({ why, callId }) => `${why} ${callId ?? ""}`),
    [
      "call_broken_off c1",
      "not_started_result c1",
      "call_broken_off c2",
      "not_started_result c2",
      "block_not_taken ",
    ],
  );
});

const HOSTED = { type: "hosted_tool_call", status: "completed" };

test("a provider's own tool is a call only where its result came with it as text", () => {
  const { messages, actions } = piped(
    "openai-responses",
    ofAgents([
      { role: "user", content: "Draw what you find." },
      { ...HOSTED, id: "ws_1", name: "web_search_call", providerData: { type: "web_search_call" } },
      { ...HOSTED, id: "mcpr_1", name: "mcp_approval_request", arguments: "{}" },
      { ...HOSTED, id: "ig_1", name: "image_generation_call", output: "AAAA" },
      { ...HOSTED, id: "mcp_1", name: "mcp_call", arguments: '{"of":"x"}', output: "found" },
    ]),
    null,
  );
  assert.deepEqual(
    messages.slice(1).map((item) => ("call_id" in item ? `${item.type} ${item.call_id}` : item)),
    ["function_call mcp_1", "function_call_output mcp_1"],
  );
  const leftOut = actions.map(({ why, line }) => `${why} ${line}`);
  assert.deepEqual(leftOut, ["block_not_taken 2", "block_not_taken 3", "block_not_taken 4"]);
});
