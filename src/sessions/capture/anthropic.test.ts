import assert from "node:assert/strict";
import { test } from "vitest";
import { GatheredSession } from "../../../test/support/gathered-session.ts";
import {
  ANTHROPIC,
  given,
  type ProviderEvent,
  sseBytes,
} from "../../../test/support/provider-streams.ts";
import { refusal } from "../../../test/support/refusal.ts";
import type { NewEntry, Part } from "../../core/model/entry.ts";
import { captureAnthropic } from "./anthropic.ts";

/** The entry appended from a stream that ends with these events. */
async function appended(events: readonly ProviderEvent[]): Promise<NewEntry> {
  const session = new GatheredSession();
  await captureAnthropic(given(events), session).result.catch(() => {});
  return session.only;
}

const START = { type: "message_start", message: { id: "m", model: "c", usage: null } };
const STOP = { type: "message_stop" };
const begin = (content_block: object, index = 0) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (delta: object, index = 0) => ({ type: "content_block_delta", index, delta });
const end = (index = 0) => ({ type: "content_block_stop", index });
const partsOf = async (...events: ProviderEvent[]) => (await appended([START, ...events])).parts;

const CITATION = { type: "char_location", cited_text: "né", document_index: 0 };

/** As in its delta, and as the next request accepts it. */
const SUMMARY = {
  type: "compaction",
  content: "Rain was asked for.",
  encrypted_content: "EowBCkYIBRgC",
};

test("a message is appended with its parts in order, its id, model, stop reason and usage", async () => {
  assert.deepEqual(await appended(ANTHROPIC), {
    kind: "message",
    role: "assistant",
    parts: [
      {
        type: "reasoning",
        text: "Grüße, 😀 or not?",
        signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h",
      },
      { type: "reasoning", text: "", withheld: "EmwKAhgBEgy3va3pzix" },
      { type: "text", text: "I look it up:\n\u2028“né”" },
      { type: "other", native: { type: "text", citations: [CITATION] } },
      {
        type: "tool_call",
        callId: "toolu_01",
        tool: "get_weather",
        input: { location: "Zürich", days: 12 },
      },
      { type: "tool_call", callId: "toolu_02", tool: "now", input: {} },
      {
        type: "other",
        native: {
          type: "server_tool_use",
          id: "srvtoolu_01",
          name: "web_search",
          input: { query: "rain" },
        },
      },
      { type: "other", native: SUMMARY },
    ],
    model: "claude-opus-5",
    usage: {
      inputTokens: 472,
      outputTokens: 89,
      cacheWriteTokens: 100,
      cacheReadTokens: 2000,
      totalTokens: null,
      spend: null,
    },
    messageId: "msg_01",
    stopReason: "tool_use",
  } satisfies NewEntry);
});

test("the result has the blocks as the API accepts them back, and the usage in the API's fields", async () => {
  const { blocks, stopReason, usage } = await captureAnthropic(
    given(ANTHROPIC),
    new GatheredSession(),
  ).result;
  assert.deepEqual(blocks, [
    { type: "thinking", thinking: "Grüße, 😀 or not?", signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h" },
    { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix" },
    { type: "text", text: "I look it up:\n\u2028“né”", citations: [CITATION] },
    {
      type: "tool_use",
      id: "toolu_01",
      name: "get_weather",
      input: { location: "Zürich", days: 12 },
    },
    { type: "tool_use", id: "toolu_02", name: "now", input: {}, caller: { type: "direct" } },
    { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: { query: "rain" } },
    SUMMARY,
  ]);
  assert.equal(stopReason, "tool_use");
  assert.deepEqual(usage, {
    input_tokens: 472,
    cache_creation_input_tokens: 100,
    cache_read_input_tokens: 2000,
    output_tokens: 89,
    service_tier: "standard",
  });
});

test("a message cut off after any event is appended with all that arrived, marked partial", async () => {
  // Method: every prefix; each keeps the parts of the one before, and fails with STREAM_INCOMPLETE.
  let before: readonly Part[] = [];
  for (let count = 0; count < ANTHROPIC.length; count++) {
    const session = new GatheredSession();
    const { result } = captureAnthropic(given(ANTHROPIC.slice(0, count)), session);
    const { details } = await refusal(result, "STREAM_INCOMPLETE");
    assert.deepEqual(details, { provider: "anthropic", reason: "ended" });
    if (count === 0) {
      assert.deepEqual(session.entries, []);
      continue;
    }
    const { isPartial, messageId, parts = [] } = session.only;
    assert.deepEqual([isPartial, messageId], [true, "msg_01"]);
    assert.ok(parts.length >= before.length, `after ${count}`);
    before = parts;
  }
});

test("a call without an end is not a tool_call: only its text is kept", async () => {
  const tool = begin({ type: "tool_use", id: "t", name: "rm", input: {} });
  const json = (partial_json: string) => delta({ type: "input_json_delta", partial_json });
  const kept = (input_text: string) => [
    { type: "other", native: { type: "tool_use", id: "t", name: "rm", input_text } },
  ];
  assert.deepEqual(await partsOf(tool), kept(""));
  assert.deepEqual(await partsOf(tool, json('{"path":"/')), kept('{"path":"/'));
  // Even if the text could be complete: no event confirms it.
  assert.deepEqual(await partsOf(tool, json('{"path":"/"}')), kept('{"path":"/"}'));
  // Ended, but cut by the token limit; the message itself is complete.
  const whole = [tool, json('{"path":"/'), end(), STOP];
  assert.deepEqual(await partsOf(...whole), kept('{"path":"/'));
  // Ended, and the message was cut later.
  assert.deepEqual(await partsOf(tool, json('{"path":"/"}'), end()), [
    { type: "tool_call", callId: "t", tool: "rm", input: { path: "/" } },
  ]);
});

test("a call whose input cannot be kept as it is written is kept as text", async () => {
  const tool = begin({ type: "tool_use", id: "t", name: "n", input: {} });
  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  for (const [text, isCall] of [
    [deep(500), true],
    [deep(501), false],
    ["[1e20,1e20,1e20]", false],
    ['{"__proto__":{"a":1}}', true],
    ["null", true],
  ] as const) {
    const json = delta({ type: "input_json_delta", partial_json: text });
    const [part] = (await partsOf(tool, json, end(), STOP)) ?? [];
    assert.equal(part?.type, isCall ? "tool_call" : "other", text.slice(0, 20));
    const kept = part?.type === "tool_call" ? JSON.stringify(part.input) : part;
    if (isCall) assert.equal(kept, text);
    else assert.equal(JSON.stringify(part).includes(JSON.stringify(text)), true);
  }
});

test("a number beyond all doubles in the input of a call is null, as every log will have it", async () => {
  const json = delta({ type: "input_json_delta", partial_json: '{"most":[1e400,-1e400,1e300]}' });
  const tool = begin({ type: "tool_use", id: "t", name: "n", input: {} });
  assert.deepEqual(await partsOf(tool, json, end(), STOP), [
    { type: "tool_call", callId: "t", tool: "n", input: { most: [null, null, 1e300] } },
  ]);
});

test("unknown blocks and deltas are kept", async () => {
  const native = { type: "hologram", size: 3 };
  const odd = { type: "shimmer_delta", shimmer: 1 };
  assert.deepEqual(await partsOf(begin(native), delta(odd), delta(odd), end(), STOP), [
    { type: "other", native: { ...native, unknown_deltas: [odd, odd] } },
  ]);
  // Known deltas add to blocks of any kind.
  const text = delta({ type: "text_delta", text: "a" });
  const json = delta({ type: "input_json_delta", partial_json: "[1]" });
  assert.deepEqual(await partsOf(begin(native), text, text, json, end(), STOP), [
    { type: "other", native: { ...native, text: "aa", input: [1] } },
  ]);
  // Fields of a known block that its part does not have follow it.
  const block = { type: "text", text: "", mood: "blue" };
  assert.deepEqual(await partsOf(begin(block), text, delta(odd), end(), STOP), [
    { type: "text", text: "a" },
    { type: "other", native: { type: "text", mood: "blue", unknown_deltas: [odd] } },
  ]);
  const caller = { type: "code_execution", tool_id: "s" };
  const call = { type: "tool_use", id: "t", name: "n", input: {}, caller };
  assert.deepEqual(await partsOf(begin(call), end(), STOP), [
    { type: "tool_call", callId: "t", tool: "n", input: {} },
    { type: "other", native: { type: "tool_use", id: "t", caller } },
  ]);
});

test("a message's last call does not count if it was cut before the call's input", async () => {
  const tool = { type: "tool_use", id: "t", name: "rm", input: {} };
  const empty = delta({ type: "input_json_delta", partial_json: "" }, 1);
  const stopped = (stop_reason: string) => ({ type: "message_delta", delta: { stop_reason } });
  const earlier = [begin(tool), end()];
  const whole = { type: "tool_call", callId: "t", tool: "rm", input: {} };
  const cut = { type: "other", native: { type: "tool_use", id: "t", name: "rm", input_text: "" } };
  for (const reason of ["max_tokens", "model_context_window_exceeded", "refusal"]) {
    for (const last of [[begin(tool, 1)], [begin(tool, 1), empty]]) {
      const events = [...earlier, ...last, end(1), stopped(reason), STOP];
      assert.deepEqual(await partsOf(...events), [whole, cut]);
    }
  }
  const events = [...earlier, begin(tool, 1), empty, end(1)];
  assert.deepEqual(await partsOf(...events, stopped("tool_use"), STOP), [whole, whole]);
  // Some servers send the whole input in the start event.
  const given = begin({ ...tool, input: { path: "a" } });
  assert.deepEqual(await partsOf(given, end(), stopped("max_tokens"), STOP), [
    { ...whole, input: { path: "a" } },
  ]);
});

test("fields of message_delta other than the stop reason are kept", async () => {
  const { parts, stopReason } = await appended([
    START,
    { type: "message_delta", delta: { stop_reason: "stop_sequence", stop_sequence: "END" } },
    STOP,
  ]);
  assert.equal(stopReason, "stop_sequence");
  assert.deepEqual(parts, [
    { type: "other", native: { type: "message_delta", stop_sequence: "END" } },
  ]);
});

test("blocks are in the order of their indices, however large those are", async () => {
  const text = (said: string) => ({ type: "text", text: said });
  const last = Number.MAX_SAFE_INTEGER;
  const events = [begin(text("b"), 7), begin(text("c"), last), begin(text("a"), 0), STOP];
  assert.deepEqual(await partsOf(...events), [text("a"), text("b"), text("c")]);
});

test("malformed events fail the result, and are kept next to the earlier parts", async () => {
  const open = [START, begin({ type: "text", text: "kept" })];
  const refused: readonly (readonly [ProviderEvent, string])[] = [
    [START, "message_start came twice"],
    [{ type: "message_start" }, "message_start came twice"],
    [begin({ type: "text", text: "" }), "block 0 began twice"],
    [begin({ text: "" }, 1), "block 1 has no type"],
    [{ type: "content_block_start", index: 1 }, "block 1 has no type"],
    [begin({ type: "text" }, -1), "a block has no index"],
    [begin({ type: "text" }, 2 ** 53), "a block has no index"],
    [begin({ type: "text" }, 0.5), "a block has no index"],
    [delta({ type: "text_delta", text: "x" }, 1), "an event is for a block that never began"],
    [end(1), "an event is for a block that never began"],
    [{ type: "content_block_delta", index: 0 }, "a delta is not an object"],
    [delta({ type: "text_delta" }), "a piece of text is not text"],
    [delta({ type: "text_delta", text: ["x"] }), "a piece of text is not text"],
    [delta({ type: "input_json_delta", partial_json: {} }), "a piece of text is not text"],
    [{ type: "message_delta", delta: 5 }, "message_delta has no delta"],
    [{ type: "message_delta", delta: {}, usage: [1] }, "usage is not an object"],
  ];
  for (const [event, reason] of refused) {
    const session = new GatheredSession();
    const { result } = captureAnthropic(given([...open, event, STOP]), session);
    assert.deepEqual((await refusal(result, "BAD_STREAM")).details, {
      provider: "anthropic",
      reason,
    });
    assert.deepEqual(session.only.parts, [
      { type: "text", text: "kept" },
      { type: "other", native: { type: "unknown_events", events: [event] } },
    ]);
    assert.equal(session.only.isPartial, true);
  }
});

test("events before a message began are kept in a message without other parts", async () => {
  const early: readonly ProviderEvent[] = [
    begin({ type: "text", text: "" }),
    { type: "message_delta", delta: {} },
    STOP,
    { type: "message_start", message: "hello" },
  ];
  for (const event of early) {
    const session = new GatheredSession();
    await refusal(captureAnthropic(given([event]), session).result, "BAD_STREAM");
    assert.deepEqual(session.only.parts, [
      { type: "other", native: { type: "unknown_events", events: [event] } },
    ]);
  }
});

test("an error event is passed on, ends the message and is reported with the provider's error type", async () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "secret words" } };
  for (const before of [[], ANTHROPIC.slice(0, 8)]) {
    const session = new GatheredSession();
    const body = new Blob([sseBytes([...before, error, STOP])]).stream();
    const captured = captureAnthropic(body, session);
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const event of captured) seen.push(event);
    })();
    const thrown = await refusal(reading, "PROVIDER_ERROR");
    assert.equal(await captured.result.catch((caught) => caught), thrown);
    assert.deepEqual(thrown.details, { provider: "anthropic", type: "overloaded_error" });
    assert.ok(!thrown.message.includes("secret"));
    assert.deepEqual(thrown.cause, error);
    assert.deepEqual(seen, [...before, error]);
    assert.equal(session.entries.length, before.length === 0 ? 0 : 1);
  }
});

test("a token count that is not a number is ignored", async () => {
  const usage = { input_tokens: "many", output_tokens: -1, cache_read_input_tokens: 3 };
  const entry = await appended([{ type: "message_start", message: { usage } }, STOP]);
  assert.deepEqual(entry, {
    kind: "message",
    role: "assistant",
    parts: [],
    model: null,
    usage: {
      inputTokens: null,
      outputTokens: null,
      cacheReadTokens: 3,
      totalTokens: null,
      spend: null,
    },
  });
});
