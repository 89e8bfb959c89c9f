import assert from "node:assert/strict";
import { test } from "vitest";
import {
  ANTHROPIC,
  CHAT,
  given,
  type ProviderEvent,
  RESPONSES,
  sseBytes,
} from "../../../test/support/provider-streams.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { Responses } from "./responses.ts";

type Provider = "anthropic" | "openai";

/** Events of each response; -1 for one that cannot be read to its end. */
async function sizes(
  provider: Provider,
  ...chunks: readonly (string | Buffer)[]
): Promise<number[]> {
  const responses = new Responses(provider, given(chunks.map((chunk) => Buffer.from(chunk))));
  const found: number[] = [];
  for (let isMore = true; isMore; ) {
    try {
      const events = await responses.next();
      isMore = events !== null;
      if (events === null) continue;
      found.push(-1);
      let count = 0;
      for await (const _ of events) count++;
      found[found.length - 1] = count;
    } catch {
      // The count stays -1.
    }
  }
  return found;
}

/** Without Azure's first chunk, which does not even have an id. */
const ONE_CHAT = CHAT.slice(1);
const ANOTHER_CHAT = ONE_CHAT.map((event) => ({ ...event, id: "chatcmpl-2" }));

test.each<[string, Provider, readonly ProviderEvent[], readonly ProviderEvent[], boolean]>([
  ["messages of Anthropic", "anthropic", ANTHROPIC, ANTHROPIC, false],
  ["responses of OpenAI", "openai", RESPONSES, RESPONSES, false],
  ["chat completions", "openai", CHAT, CHAT, true],
  ["chat completions without [DONE]", "openai", ONE_CHAT, ANOTHER_CHAT, false],
  ["a response and a chat completion", "openai", RESPONSES, CHAT, true],
])("%s, one after another, are split, in any chunks", async (...given) => {
  const [, provider, first, second, done] = given;
  const bytes = Buffer.concat([sseBytes(first, { done }), sseBytes(second, { done })]);
  const expected = [first.length, second.length];
  assert.deepEqual(await sizes(provider, bytes), expected);
  const pieces = [...bytes].map((byte) => Buffer.of(byte));
  assert.deepEqual(await sizes(provider, ...pieces), expected);
});

test("a response that is cut short ends where the next one begins", async () => {
  const whole = sseBytes(ANTHROPIC);
  const events = [1, 3, ANTHROPIC.length - 1];
  for (const count of events) {
    const cut = sseBytes(ANTHROPIC.slice(0, count));
    assert.deepEqual(await sizes("anthropic", cut, whole), [count, ANTHROPIC.length]);
  }
});

test("a cut within an event costs that event, and not the next response", async () => {
  const whole = sseBytes(ANTHROPIC);
  const cut = sseBytes(ANTHROPIC.slice(0, 3)).subarray(0, -20);
  assert.deepEqual(await sizes("anthropic", cut, "\n", whole), [2, ANTHROPIC.length]);
});

test("after data that is not JSON, events are skipped until another response begins", async () => {
  const [start, ...rest] = ANTHROPIC;
  const broken = `${sseBytes([start ?? {}])}data: {"type"\n\n${sseBytes(rest)}`;
  assert.deepEqual(await sizes("anthropic", broken, sseBytes(ANTHROPIC)), [-1, ANTHROPIC.length]);
  const responses = new Responses("anthropic", given([Buffer.from("data: nothing\n\n")]));
  await refusal(responses.next(), "BAD_STREAM");
  assert.equal(await responses.next(), null);
});

test("data that is not an event stream has no response", async () => {
  assert.deepEqual(await sizes("openai", '{"error":{"message":"no key"}}\n'), []);
  assert.deepEqual(await sizes("anthropic", sseBytes([{ type: "ping" }])), []);
});
