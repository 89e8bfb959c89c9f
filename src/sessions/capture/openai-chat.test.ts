import assert from "node:assert/strict";
import { test } from "vitest";
import { appended, refusedReason, resultOf } from "../../../test/support/captured-openai.ts";
import { GatheredSession } from "../../../test/support/gathered-session.ts";
import {
  CHAT,
  given,
  type ProviderEvent,
  sseBytes,
} from "../../../test/support/provider-streams.ts";
import { refusal } from "../../../test/support/refusal.ts";
import type { NewEntry, Part } from "../../core/model/entry.ts";
import { captureOpenAI } from "./openai.ts";

const chunk = (delta: object, finish_reason: string | null = null, index = 0) => ({
  id: "c",
  choices: [{ index, delta, finish_reason }],
});
const FINISHED = chunk({}, "stop");
const TEXT: Part = { type: "text", text: "Grüße 😀\u007f" };

test("a chat completion is appended with its text, its calls, its stop reason and its usage", async () => {
  assert.deepEqual(await appended(CHAT), {
    kind: "message",
    role: "assistant",
    parts: [
      TEXT,
      { type: "tool_call", callId: "call_1", tool: "weather", input: { city: "Zürich" } },
      { type: "tool_call", callId: "call_2", tool: "now", input: {} },
    ],
    model: "gpt-5.5-mini",
    usage: {
      inputTokens: 20,
      outputTokens: 30,
      cacheReadTokens: 100,
      totalTokens: 150,
      spend: null,
    },
    messageId: "chatcmpl-7",
    stopReason: "tool_calls",
  } satisfies NewEntry);
});

test("a chat completion results in the message that the next request accepts", async () => {
  const { blocks, stopReason, usage } = await resultOf(CHAT);
  const call = (id: string, name: string, args: string) => ({
    type: "function",
    id,
    function: { name, arguments: args },
  });
  assert.deepEqual(blocks, [
    {
      role: "assistant",
      content: TEXT.text,
      tool_calls: [call("call_1", "weather", '{"city":"Zürich"}'), call("call_2", "now", "{}")],
    },
  ]);
  assert.equal(stopReason, "tool_calls");
  assert.deepEqual(usage, CHAT.at(-1)?.usage);
  assert.deepEqual((await resultOf([FINISHED])).blocks, [{ role: "assistant", content: null }]);
});

test("a chat completion that is cut keeps the received part, and none of its calls counts", async () => {
  const entry = await appended(CHAT.slice(0, -2));
  assert.equal(entry.isPartial, true);
  assert.equal(entry.stopReason, undefined);
  assert.deepEqual(entry.parts, [
    TEXT,
    {
      type: "other",
      native: {
        type: "function",
        id: "call_1",
        function: { name: "weather" },
        input_text: '{"city":"Zürich"}',
      },
    },
    {
      type: "other",
      native: { type: "function", id: "call_2", function: { name: "now" }, input_text: "{}" },
    },
  ]);
});

test("a chat completion's last call does not count if it was cut before the call's input", async () => {
  const call = (index: number) => ({ index, id: `c${index}`, function: { name: "rm" } });
  const calls = chunk({ tool_calls: [call(0), call(1)] });
  for (const reason of ["length", "content_filter"]) {
    const { parts, isPartial } = await appended([calls, chunk({}, reason)]);
    assert.equal(isPartial, undefined);
    const native = { type: "function", id: "c1", function: { name: "rm" }, input_text: "" };
    assert.deepEqual(parts, [
      { type: "tool_call", callId: "c0", tool: "rm", input: {} },
      { type: "other", native },
    ]);
  }
  const { parts } = await appended([calls, chunk({}, "tool_calls")]);
  assert.deepEqual(parts?.at(-1), { type: "tool_call", callId: "c1", tool: "rm", input: {} });
});

test("a chat completion is complete once it is finished, even without usage", async () => {
  const { isPartial, usage } = await appended(CHAT.slice(0, -1));
  assert.deepEqual([isPartial, usage], [undefined, null]);
});

test("a chat completion is complete for a consumer that stops at its finish reason, and not before", async () => {
  for (const [stopAt, isPartial] of [
    [CHAT.length - 3, true],
    [CHAT.length - 2, undefined],
  ] as const) {
    const session = new GatheredSession();
    const captured = captureOpenAI(given(CHAT), session);
    let count = 0;
    for await (const _ of captured) if (count++ === stopAt) break;
    assert.equal(session.only.isPartial, isPartial);
    if (isPartial) await refusal(captured.result, "STREAM_INCOMPLETE");
    else assert.equal((await captured.result).stopReason, "tool_calls");
  }
});

test("a chat completion ends with [DONE], whatever follows", async () => {
  const bytes = sseBytes(CHAT, { named: false, done: true });
  const session = new GatheredSession();
  const after = Buffer.from("data: no json\n\n");
  const { result } = captureOpenAI(new Blob([bytes, after]).stream(), session);
  assert.equal((await result).stopReason, "tool_calls");
});

test("a chat completion keeps refusals, and the reasoning that some servers send", async () => {
  const thought = chunk({ reasoning_content: "hm" });
  const { parts } = await appended([
    thought,
    thought,
    chunk({ refusal: "I can" }),
    chunk({ refusal: "not." }),
    FINISHED,
  ]);
  assert.deepEqual(parts, [
    { type: "reasoning", text: "hmhm" },
    { type: "other", native: { type: "refusal", refusal: "I cannot." } },
  ]);
});

test("a chat completion keeps other choices after the first", async () => {
  const events = [
    chunk({ content: "b" }, null, 1),
    chunk({ content: "a" }),
    FINISHED,
    chunk({ content: "B" }, "length", 1),
  ];
  const { parts, stopReason, isPartial } = await appended(events);
  const message = { role: "assistant", content: "bB" };
  assert.deepEqual(parts, [
    { type: "text", text: "a" },
    { type: "other", native: { type: "choice", index: 1, finish_reason: "length", message } },
  ]);
  assert.deepEqual([stopReason, isPartial], ["stop", undefined]);
  assert.equal((await resultOf(events)).blocks.length, 1);
  assert.equal((await appended(events.slice(0, -1))).isPartial, true);
});

test("a chat completion keeps unknown fields", async () => {
  const extra = { google: { thought_signature: "x" } };
  const call = { index: 0, id: "i", function: { name: "f" }, extra_content: extra };
  const { parts } = await appended([
    chunk({ mood: "bl", annotations: [1] }),
    chunk({ mood: "ue", annotations: [2], tool_calls: [call] }),
    FINISHED,
  ]);
  assert.deepEqual(parts, [
    { type: "tool_call", callId: "i", tool: "f", input: {} },
    { type: "other", native: { type: "function", id: "i", extra_content: extra } },
    { type: "other", native: { type: "delta", mood: "blue", annotations: [[1], [2]] } },
  ]);
});

test("a chat completion identifies calls by id where a server gives all of them one index", async () => {
  const call = (id: string) => ({
    index: 0,
    id,
    type: "function",
    function: { name: "f", arguments: `{"of":"${id}"}` },
  });
  const { parts } = await appended([chunk({ tool_calls: [call("a"), call("b")] }), FINISHED]);
  assert.deepEqual(parts, [
    { type: "tool_call", callId: "a", tool: "f", input: { of: "a" } },
    { type: "tool_call", callId: "b", tool: "f", input: { of: "b" } },
  ]);
});

test("a malformed chat completion is refused, and the part before it is kept", async () => {
  const before = [chunk({ content: "kept", mood: "x" })];
  const parts: Part[] = [
    { type: "text", text: "kept" },
    { type: "other", native: { type: "delta", mood: "x" } },
  ];
  const call = (given: unknown) => chunk({ tool_calls: given });
  for (const [event, reason] of [
    [{ choices: 5 }, "choices is not a list"],
    [{ choices: [5] }, "a choice is not an object"],
    [{ choices: [{ index: -1 }] }, "a choice has no index"],
    [{ choices: [{ index: 0, delta: 5 }] }, "a delta is not an object"],
    [chunk({ content: 5 }), "a piece of text is not text"],
    [chunk({ mood: 5 }), "a field of a message changes its type between chunks"],
    [call(5), "tool_calls is not a list"],
    [call([5]), "a tool call is not an object"],
    [call([{ index: "0" }]), "a tool call has no index"],
    [call([{ index: 0, function: 5 }]), "the function of a tool call is not an object"],
    [null, "an event is not an object"],
  ] as const) {
    assert.equal(await refusedReason(before, event, parts), reason);
  }
});

test("a failed chat completion reports the provider's error type", async () => {
  const error = { message: "secret words", type: "server_error", code: null };
  for (const before of [[], [chunk({ content: "kept" })]]) {
    const session = new GatheredSession();
    const { result } = captureOpenAI(given([...before, { error }]), session);
    const { details, message } = await refusal(result, "PROVIDER_ERROR");
    assert.deepEqual(details, { provider: "openai", type: "server_error" });
    assert.ok(!message.includes("secret"));
    assert.equal(session.entries.length, before.length);
  }
});

const said = (delta: object, finish_reason: string | null = null): ProviderEvent => ({
  id: "gen-1",
  object: "chat.completion.chunk",
  model: "anthropic/claude-sonnet-4.5",
  choices: [{ index: 0, delta, finish_reason }],
});

test("OpenRouter's reasoning is a thinking part, and its details stay one flat list", async () => {
  const detail = (more: object) => ({ type: "reasoning.text", index: 0, format: "f1", ...more });
  const sealed = { type: "reasoning.encrypted", data: "x", id: "rs_1", index: 1, format: "f2" };
  const events = [
    said({
      role: "assistant",
      content: "",
      reasoning: "Hm",
      reasoning_details: [detail({ text: "Hm" })],
    }),
    said({ content: "", reasoning: ", so.", reasoning_details: [detail({ text: ", so." })] }),
    said({ content: "", reasoning: null, reasoning_details: [detail({ signature: "s" })] }),
    said({ content: "", reasoning_details: [sealed] }),
    said({ content: "yes" }),
    said({}, "stop"),
  ];
  const reasoning_details = [detail({ text: "Hm, so.", signature: "s" }), sealed];
  const { parts } = await appended(events);
  assert.deepEqual(parts, [
    { type: "reasoning", text: "Hm, so." },
    { type: "text", text: "yes" },
    { type: "other", native: { type: "delta", reasoning_details } },
  ]);
  const { blocks } = await resultOf(events);
  assert.deepEqual(blocks, [
    { role: "assistant", content: "yes", reasoning: "Hm, so.", reasoning_details },
  ]);
});

test("Mistral's content is read as a list, and as text after that", async () => {
  const thinking = (text: string) => [{ type: "thinking", thinking: [{ type: "text", text }] }];
  const cited = { type: "reference", reference_ids: [1] };
  const events = [
    said({ role: "assistant", content: "" }),
    said({ content: thinking("Hm") }),
    said({ content: thinking(", so.") }),
    said({ content: [{ type: "text", text: "It" }, cited] }),
    said({ content: "rains" }, "stop"),
  ];
  const { parts } = await appended(events);
  assert.deepEqual(parts, [
    { type: "reasoning", text: "Hm, so." },
    { type: "text", text: "It" },
    { type: "other", native: cited },
    { type: "text", text: "rains" },
  ]);
  const { blocks } = await resultOf(events);
  assert.deepEqual(blocks[0]?.content, [
    ...thinking("Hm, so."),
    { type: "text", text: "It" },
    cited,
    { type: "text", text: "rains" },
  ]);
});
