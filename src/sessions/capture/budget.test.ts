import assert from "node:assert/strict";
import { test } from "vitest";
import { GatheredSession } from "../../../test/support/gathered-session.ts";
import { given } from "../../../test/support/provider-streams.ts";
import { refusal, thrownRefusal } from "../../../test/support/refusal.ts";
import {
  CAPTURE_LIMITS,
  CAPTURED_BLOCK_BYTES,
  CAPTURED_NAME_CHARS_MAX,
  LOG_LIMITS,
} from "../../core/base/limits.ts";
import { captureAnthropic } from "./anthropic.ts";
import { CaptureBudget } from "./budget.ts";
import { captureOpenAI } from "./openai.ts";

test("a text counts as it is in a line of the log, escapes included", () => {
  for (const [text, bytes] of [
    ["", 2],
    ['a"\\\n', 9],
    ["é😀", 8],
    ["\u0001\u007f\u0085\u2028\ud800", 32],
  ] as const) {
    new CaptureBudget("openai", bytes + 3).text(text);
    new CaptureBudget("openai", Buffer.byteLength(JSON.stringify(text)) + 15).text(text);
    thrownRefusal(() => new CaptureBudget("openai", bytes - 1).text(text), "STREAM_TOO_LARGE");
  }
});

test("a budget accepts its bytes, and not one more", () => {
  const budget = new CaptureBudget("anthropic", 1000);
  budget.spend(1000);
  const { details } = thrownRefusal(() => budget.spend(1), "STREAM_TOO_LARGE");
  assert.deepEqual(details, { provider: "anthropic", what: "message", max: 1000 });
  budget.spend(-1);
  budget.spend(1);
});

test("an account spends from its budget, and releases to it", () => {
  const whole = new CaptureBudget("openai", 1000);
  const account = whole.account();
  account.spend(600);
  thrownRefusal(() => whole.spend(401), "STREAM_TOO_LARGE");
  thrownRefusal(() => account.spend(401), "STREAM_TOO_LARGE");
  account.release();
  whole.spend(1000);
});

test("a value is copied as plain JSON, and one without JSON is refused", () => {
  const budget = new CaptureBudget("openai", 10_000);
  const value = { at: new Date(0), list: [undefined], gone: undefined };
  assert.deepEqual(budget.copy(value as unknown), { at: "1970-01-01T00:00:00.000Z", list: [null] });
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  for (const odd of [cycle, { big: 1n }, () => {}, undefined]) {
    thrownRefusal(() => budget.copy(odd), "BAD_STREAM");
  }
});

test("a message of the largest size is accepted, and a larger one ends the capture", async () => {
  const max = 3 * CAPTURED_BLOCK_BYTES;
  const text = (chars: number) => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: "x".repeat(chars - 2) },
  });
  const block = { type: "text", text: "" };
  const events = (chars: number) => [
    { type: "message_start", message: { id: "m" } },
    { type: "content_block_start", index: 0, content_block: block },
    text(100),
    text(chars),
    { type: "message_stop" },
  ];
  const room = max - CAPTURED_BLOCK_BYTES - JSON.stringify(block).length - 100;
  const limits = { messageBytesMax: max };
  const session = new GatheredSession();
  await captureAnthropic(given(events(room)), session, { limits }).result;
  assert.equal(session.only.isPartial, undefined);

  const over = new GatheredSession();
  const { result } = captureAnthropic(given(events(room + 1)), over, { limits });
  const { details } = await refusal(result, "STREAM_TOO_LARGE");
  assert.deepEqual(details, { provider: "anthropic", what: "message", max });
  assert.deepEqual(over.only.parts, [{ type: "text", text: "x".repeat(98) }]);
  assert.equal(over.only.isPartial, true);
});

test("many small blocks count with the JSON written around them", async () => {
  const limits = { messageBytesMax: 10 * CAPTURED_BLOCK_BYTES };
  const blocks = Array.from({ length: 11 }, (_, index) => ({
    type: "content_block_start",
    index,
    content_block: { type: "text", text: "" },
  }));
  const start = { type: "message_start", message: { id: "m" } };
  const calls = Array.from({ length: 11 }, (_, index) => ({
    choices: [{ index: 0, delta: { tool_calls: [{ index, id: `${index}` }] } }],
  }));
  const choices = Array.from({ length: 11 }, (_, index) => ({ choices: [{ index }] }));
  const items = Array.from({ length: 11 }, (_, output_index) => ({
    type: "response.output_item.added",
    output_index,
    item: { type: "message", content: [] },
  }));
  const session = new GatheredSession();
  const { result } = captureAnthropic(given([start, ...blocks]), session, { limits });
  await refusal(result, "STREAM_TOO_LARGE");
  for (const events of [calls, choices, items]) {
    const { result } = captureOpenAI(given<object>(events), session, { limits });
    await refusal(result, "STREAM_TOO_LARGE");
  }
});

test("repeated data counts once: an item and its pieces, a usage and the next", async () => {
  const text = "x".repeat(20_000);
  const limits = { messageBytesMax: 30_000 };
  const item = { type: "message", content: [{ type: "output_text", text }] };
  const at = { output_index: 0, content_index: 0 };
  const part = { type: "output_text", text: "" };
  const response = { id: "r", output: [item] };
  const session = new GatheredSession();
  const events = [
    { type: "response.output_item.added", output_index: 0, item: { type: "message" } },
    { type: "response.content_part.added", ...at, part },
    { type: "response.output_text.delta", ...at, delta: text },
    { type: "response.output_text.done", ...at, text },
    { type: "response.content_part.done", ...at, part: item.content[0] },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
  await captureOpenAI(given(events), session, { limits }).result;

  const usage = { type: "message_delta", delta: {}, usage: { output_tokens: 1 } };
  const deltas = Array.from({ length: 2000 }, () => usage);
  const start = { type: "message_start", message: { id: "m" } };
  const all = [start, ...deltas, { type: "message_stop" }];
  await captureAnthropic(given(all), session, { limits }).result;
  const chunks = Array.from({ length: 2000 }, () => ({ id: "c", choices: [], usage: { n: 1 } }));
  const end = { choices: [{ index: 0, finish_reason: "stop" }] };
  await captureOpenAI(given([...chunks, end]), session, { limits }).result;
  assert.deepEqual(
    session.entries.map(({ isPartial }) => isPartial),
    [undefined, undefined, undefined],
  );
});

test("when the final output is over the limit, the pieces are kept", async () => {
  const item = { type: "message", content: [{ type: "output_text", text: "kept" }] };
  const huge = { ...item, content: [{ type: "output_text", text: "x".repeat(50_000) }] };
  const session = new GatheredSession();
  const events = [
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { output: [item, huge] } },
  ];
  const limits = { messageBytesMax: 30_000 };
  await refusal(captureOpenAI(given(events), session, { limits }).result, "STREAM_TOO_LARGE");
  assert.deepEqual(session.only.parts, [{ type: "text", text: "kept" }]);
});

test("a name of the largest length is accepted, and one character more is refused", async () => {
  const start = (id: string) => ({ type: "message_start", message: { id } });
  const stop = { type: "message_stop" };
  const session = new GatheredSession();
  const id = "x".repeat(CAPTURED_NAME_CHARS_MAX);
  await captureAnthropic(given([start(id), stop]), session).result;
  assert.equal(session.only.messageId, id);
  const { result } = captureAnthropic(given([start(`${id}x`), stop]), session);
  await refusal(result, "BAD_STREAM");
});

test("the limit fits a line of the log, and can only be made smaller", () => {
  const { messageBytesMax } = CAPTURE_LIMITS;
  assert.ok(messageBytesMax <= (LOG_LIMITS.lineBytesMax * 3) / 4);
  const session = new GatheredSession();
  captureAnthropic(given([]), session, { limits: { messageBytesMax } });
  const over = { limits: { messageBytesMax: messageBytesMax + 1 } };
  assert.throws(() => captureAnthropic(given([]), session, over), /cannot be appended/);
});
