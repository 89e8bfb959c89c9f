import assert from "node:assert/strict";
import { test } from "vitest";
import { appended, refusedReason, resultOf } from "../../../test/support/captured-openai.ts";
import { GatheredSession } from "../../../test/support/gathered-session.ts";
import {
  given,
  type ProviderEvent,
  RESPONSE_OUTPUT,
  RESPONSES,
} from "../../../test/support/provider-streams.ts";
import { refusal } from "../../../test/support/refusal.ts";
import type { NewEntry, Part, Usage } from "../../core/model/entry.ts";
import { captureOpenAI } from "./openai.ts";

const WITHOUT_END = RESPONSES.slice(0, -1);
const ended = (type: string, response: object) => ({
  type: `response.${type}`,
  response: { id: "resp_1", model: "gpt-5.5", ...response },
});
const PARTS: readonly Part[] = [
  { type: "reasoning", text: "Thinking of rain.", withheld: "gAAAAABo" },
  { type: "other", native: RESPONSE_OUTPUT[1] },
  { type: "text", text: "Es regnet in Zürich 😀" },
  {
    type: "other",
    native: {
      type: "output_text",
      annotations: [{ type: "url_citation", url: "https://weather.example", title: "Weather" }],
    },
  },
  { type: "other", native: { type: "refusal", refusal: "No more." } },
  { type: "other", native: { type: "message", phase: "final_answer" } },
  { type: "tool_call", callId: "call_1", tool: "weather", input: { city: "Zürich" } },
  { type: "tool_call", callId: "call_2", tool: "patch", input: "*** Begin" },
  { type: "other", native: { type: "custom_tool_call", call_id: "call_2" } },
  {
    type: "other",
    native: { type: "compaction", id: "cmp_1", encrypted_content: "gAAAAABpQ" },
  },
];
const USAGE: Usage = {
  inputTokens: 40,
  outputTokens: 60,
  cacheWriteTokens: 20,
  cacheReadTokens: 150,
  totalTokens: 270,
  spend: null,
};

test("a response is appended with its items, its status and its usage", async () => {
  assert.deepEqual(await appended(RESPONSES), {
    kind: "message",
    role: "assistant",
    parts: PARTS,
    model: "gpt-5.5",
    usage: USAGE,
    messageId: "resp_1",
    stopReason: "completed",
  } satisfies NewEntry);
});

test("a response results in the items that the next request accepts", async () => {
  const { blocks, stopReason, usage } = await resultOf(RESPONSES);
  assert.deepEqual(blocks, RESPONSE_OUTPUT);
  assert.equal(stopReason, "completed");
  assert.deepEqual(usage, (RESPONSES.at(-1) as { response: { usage: unknown } }).response.usage);
});

test("a response is the same from its pieces where its end does not repeat the output", async () => {
  const entry = await appended([...WITHOUT_END, ended("completed", { status: "completed" })]);
  assert.deepEqual(entry.parts, PARTS);
  // And if the items do not repeat the pieces, except for fields that only the items have.
  const pieces = WITHOUT_END.filter(({ type }) => type !== "response.output_item.done");
  const { parts } = await appended([...pieces, ended("completed", { status: "completed" })]);
  const [{ withheld: _, ...first }, search, ...rest] = PARTS as readonly [
    Extract<Part, { type: "reasoning" }>,
    Part,
  ];
  const searching = { type: "web_search_call", id: "ws_1", status: "in_progress" };
  assert.deepEqual(parts, [
    first,
    { ...search, native: { ...searching, action: { query: "x" } } },
    ...rest,
  ]);
});

test("a response's final output overrides the streamed pieces", async () => {
  const output = [{ type: "message", content: [{ type: "output_text", text: "other" }] }];
  const { parts } = await appended([...WITHOUT_END, ended("completed", { output })]);
  assert.deepEqual(parts, [{ type: "text", text: "other" }]);
});

test("an incomplete response is a complete message, and its stop reason says why", async () => {
  const incomplete_details = { reason: "max_output_tokens" };
  const end = ended("incomplete", { status: "incomplete", incomplete_details });
  const { stopReason, isPartial } = await appended([...WITHOUT_END, end]);
  assert.deepEqual([stopReason, isPartial], ["max_output_tokens", undefined]);
});

const INCOMPLETE = {
  status: "incomplete",
  incomplete_details: { reason: "max_output_tokens" },
};
const CUT_CUSTOM = { type: "custom_tool_call", id: "x", call_id: "c", name: "patch" };
const CUT_FUNCTION = { type: "function_call", id: "x", call_id: "c", name: "rm" };
const begun = (item: object) => [
  { type: "response.created", response: { id: "resp_1", model: "gpt-5.5", output: [] } },
  { type: "response.output_item.added", output_index: 0, item },
];
const done = (item: object) => ({ type: "response.output_item.done", output_index: 0, item });

test("an incomplete response has no call that was cut", async () => {
  const piece = "*** Begin Patch\n*** Delete File: a.ts\n*** Upd";
  const delta = { type: "response.custom_tool_call_input.delta", output_index: 0, delta: piece };
  const custom = [...begun({ ...CUT_CUSTOM, input: "" }), delta];
  const cutCustom = { type: "other", native: { ...CUT_CUSTOM, input_text: piece } };
  const inOutput = { output: [{ ...CUT_CUSTOM, input: piece }] };
  const unheard = { ...CUT_FUNCTION, arguments: "", status: "incomplete" };
  const { arguments: _, ...rest } = unheard;
  const cutFunction = { type: "other", native: { ...rest, input_text: "" } };
  for (const [events, end, part] of [
    [custom, {}, cutCustom],
    [custom, { output: [] }, cutCustom],
    [custom, inOutput, cutCustom],
    [[], inOutput, cutCustom],
    [[], { output: [unheard] }, cutFunction],
    [begun(unheard), {}, cutFunction],
    [[...begun(unheard), done(unheard)], {}, cutFunction],
    [[...begun(unheard), done(unheard)], { output: [unheard] }, cutFunction],
  ] as const) {
    const entry = await appended([...events, ended("incomplete", { ...INCOMPLETE, ...end })]);
    assert.deepEqual([entry.parts, entry.isPartial], [[part], undefined]);
  }
  // Nor does a completed response complete an item that calls itself incomplete, or a stream that
  // breaks.
  const broken = [...begun(unheard), done(unheard)];
  const completed = ended("completed", { status: "completed" });
  assert.deepEqual((await appended([...broken, completed])).parts, [cutFunction]);
  assert.deepEqual((await appended(broken)).parts, [cutFunction]);
});

test("a response that is incomplete or failed keeps the calls that were ended before", async () => {
  const whole = { ...CUT_CUSTOM, input: "*** End" };
  const call = { type: "tool_call", callId: "c", tool: "patch", input: "*** End" };
  const completed = { ...whole, status: "completed" };
  for (const type of ["incomplete", "failed"]) {
    for (const [events, output] of [
      [[done(whole)], []],
      [[done(whole)], [whole]],
      [[], [completed]],
    ] as const) {
      const { parts } = await appended([...events, ended(type, { ...INCOMPLETE, output })]);
      assert.deepEqual(parts?.[0], call);
    }
  }
});

test("a response that failed is partial, and its calls count only where they are completed", async () => {
  const call = RESPONSE_OUTPUT[3] as ProviderEvent;
  const begun = { ...call, status: "in_progress" };
  const error = { code: "server_error", message: "secret words" };
  const end = ended("failed", { status: "failed", error, output: [call, begun] });
  const session = new GatheredSession();
  const { result } = captureOpenAI(given([end]), session);
  const { details, message } = await refusal(result, "PROVIDER_ERROR");
  assert.deepEqual(details, { provider: "openai", type: "server_error" });
  assert.ok(!message.includes("secret"));
  const { parts, isPartial, stopReason } = session.only;
  assert.deepEqual([isPartial, stopReason], [true, "failed"]);
  assert.deepEqual(
    parts?.map(({ type }) => type),
    ["tool_call", "other"],
  );
});

test("a response reports an error event with the provider's error type", async () => {
  const session = new GatheredSession();
  const error = { type: "error", code: "rate_limit_exceeded", message: "secret words" };
  const { result } = captureOpenAI(given([...WITHOUT_END, error]), session);
  const { details } = await refusal(result, "PROVIDER_ERROR");
  assert.equal(details.type, "rate_limit_exceeded");
  assert.deepEqual([session.only.isPartial, session.only.parts], [true, PARTS]);
});

test("a response cut after any event keeps the received part, and no unfinished call", async () => {
  for (let count = 1; count < RESPONSES.length; count++) {
    const { parts = [], isPartial, messageId } = await appended(RESPONSES.slice(0, count));
    assert.deepEqual([isPartial, messageId], [true, "resp_1"]);
    const calls = parts.filter(({ type }) => type === "tool_call").length;
    const ends = RESPONSES.slice(0, count).filter(
      ({ type, item }) =>
        type === "response.output_item.done" && String((item as Part).type).endsWith("_call"),
    ).length;
    assert.equal(calls, Math.max(0, ends - 1), `after ${count}`); // Web search excluded.
  }
});

test("a response keeps the pieces of a call that was not ended as text", async () => {
  const item = { type: "function_call", id: "f", call_id: "c", name: "n", arguments: "" };
  const delta = { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"a' };
  const { parts } = await appended([
    { type: "response.output_item.added", output_index: 0, item },
    delta,
  ]);
  const { arguments: _, ...rest } = item;
  assert.deepEqual(parts, [{ type: "other", native: { ...rest, input_text: '{"a' } }]);
});

test("a response keeps unknown deltas with their item", async () => {
  const item = { type: "hologram", size: 3 };
  const shimmer = { type: "response.hologram.delta", output_index: 0, delta: 1 };
  const audio = { type: "response.audio.delta", delta: "AAAA" };
  const { parts } = await appended([
    { type: "response.output_item.added", output_index: 0, item },
    shimmer,
    audio,
    shimmer,
  ]);
  const native = { ...item, unknown_deltas: [shimmer, shimmer] };
  assert.deepEqual(parts, [{ type: "other", native }]);
});

test("a malformed response is refused, and the part before it is kept", async () => {
  const before = WITHOUT_END.slice(0, 15);
  const { parts = [] } = await appended(before);
  const part = { type: "output_text", text: "" };
  for (const event of [
    { type: "response.output_item.added", output_index: 0, item: { type: "message" } },
    { type: "response.output_item.added", output_index: -1, item: { type: "message" } },
    { type: "response.output_item.added", output_index: 9, item: { id: "x" } },
    { type: "response.output_item.added", output_index: 9 },
    { type: "response.output_item.done", output_index: 2, item: 5 },
    { type: "response.output_text.delta", output_index: 9, content_index: 0, delta: "x" },
    { type: "response.output_text.delta", delta: "x" },
    { type: "response.output_text.delta", output_index: 2, content_index: 9, delta: "x" },
    { type: "response.output_text.delta", output_index: 2, content_index: 0, delta: 5 },
    { type: "response.output_text.delta", output_index: 2, content_index: 0 },
    { type: "response.content_part.added", output_index: 2, content_index: 1e9, part },
    { type: "response.content_part.added", output_index: 2, content_index: 0, part },
    { type: "response.content_part.added", output_index: 2, content_index: 1 },
    { type: "response.completed" },
    { type: "response.completed", response: { output: [5] } },
    5,
  ]) {
    await refusedReason(before, event, parts);
  }
});

test("events of neither kind are skipped, and a stream of nothing else is refused", async () => {
  const session = new GatheredSession();
  const events = [{ odd: 1 }, { id: "x" }];
  const captured = captureOpenAI(given(events), session);
  await refusal(captured.result, "BAD_STREAM");
  assert.deepEqual(session.entries, []);
});
