/**
 * Capture, from a provider to the disk: a real server that replays streams, the official SDKs or
 * `fetch` as its clients, real stores in every dialect.
 */

import assert from "node:assert/strict";
import { get } from "node:http";
import Anthropic, { APIError as AnthropicError } from "@anthropic-ai/sdk";
import OpenAI, { APIError as OpenAIError } from "openai";
import { describe, expectTypeOf, test } from "vitest";
import { captureAnthropic, captureOpenAI } from "../../src/doors/capture.ts";
import { GatheredSession } from "../support/gathered-session.ts";
import { type ProviderEvent, STREAMS, sseBytes } from "../support/provider-streams.ts";
import { refusal } from "../support/refusal.ts";
import { type ReplayServer, replayServer } from "../support/replay-server.ts";
import { DIALECTS, expected, messagesIn, newSession } from "./captured-dialects.ts";

const MODEL = { model: "m", max_tokens: 9 } as const;
const messages = [{ role: "user" as const, content: "Hi" }];

const anthropic = ({ url }: ReplayServer) =>
  new Anthropic({ baseURL: url, apiKey: "key", maxRetries: 0, logLevel: "off" });
const openai = ({ url }: ReplayServer) =>
  new OpenAI({ baseURL: url, apiKey: "key", maxRetries: 0, logLevel: "off" });

type Session = Parameters<typeof captureAnthropic>[1];

/** Every way in which a client can hold each stream. */
const CLIENTS: Readonly<
  Record<
    string,
    Readonly<Record<string, (server: ReplayServer, session: Session) => Promise<Held>>>
  >
> = {
  anthropic: {
    "messages.create": async (server, session) => {
      const stream = await anthropic(server).messages.create({ ...MODEL, messages, stream: true });
      return captureAnthropic(stream, session);
    },
    "messages.stream": async (server, session) =>
      captureAnthropic(anthropic(server).messages.stream({ ...MODEL, messages }), session),
    "a fetch response": async ({ url }, session) => captureAnthropic(await fetch(url), session),
    "a fetch body": async ({ url }, session) => {
      const { body } = await fetch(url);
      assert.ok(body);
      return captureAnthropic(body, session);
    },
    "node:http": async ({ url }, session) =>
      captureAnthropic(await new Promise((resolve) => get(url, resolve)), session),
  },
  "openai chat": {
    "chat.completions.create": async (server, session) => {
      const { model } = MODEL;
      const request = { model, messages, stream: true } as const;
      return captureOpenAI(await openai(server).chat.completions.create(request), session);
    },
    "chat.completions.stream": async (server, session) => {
      const { model } = MODEL;
      return captureOpenAI(openai(server).chat.completions.stream({ model, messages }), session);
    },
    "a fetch response": async ({ url }, session) => captureOpenAI(await fetch(url), session),
  },
  "openai responses": {
    "responses.create": async (server, session) => {
      const request = { model: "m", input: "Hi", stream: true } as const;
      return captureOpenAI(await openai(server).responses.create(request), session);
    },
    "responses.stream": async (server, session) =>
      captureOpenAI(openai(server).responses.stream({ model: "m", input: "Hi" }), session),
    "a fetch response": async ({ url }, session) => captureOpenAI(await fetch(url), session),
  },
};

interface Held extends AsyncIterable<unknown> {
  readonly result: Promise<{ readonly stopReason: string | null }>;
}

/** OpenAI's helper for responses fails at an unknown event. */
const REFUSES_UNKNOWN = "responses.stream";

for (const [name, clients] of Object.entries(CLIENTS)) {
  const { events: all, sse } = STREAMS[name] ?? assert.fail(name);
  const streamFor = (client: string) => {
    const events = client === REFUSES_UNKNOWN ? all.filter(({ unknown }) => !unknown) : all;
    return { events, body: sseBytes(events, sse) };
  };

  describe(`${name}, captured`, () => {
    test.each(Object.entries(clients))(
      "through %s is in the session, in every dialect",
      async (client, open) => {
        const { events, body } = streamFor(client);
        const entry = await expected(name, events);
        for (const options of Object.values(DIALECTS)) {
          const session = await newSession(options);
          const held = await open(await replayServer({ body, chunkBytes: 61 }), session);
          const seen: unknown[] = [];
          for await (const event of held) seen.push(event);
          assert.equal((await held.result).stopReason, entry.stopReason);
          assert.deepEqual(await messagesIn(session), [entry]);
          // An SDK drops pings; nothing else is missing.
          assert.deepEqual(
            seen.map((event) => (event as ProviderEvent).type),
            events
              .map(({ type }) => type)
              .filter((type) => type !== "ping" || seen.length === events.length),
          );
        }
      },
    );

    test.each(Object.entries(clients))(
      "through %s and cut is partial, and the client's error is thrown",
      async (client, open) => {
        const { events, body } = streamFor(client);
        const session = await newSession({ dialect: "rye" });
        const cut = body.lastIndexOf("data: ", body.length * 0.6);
        const server = await replayServer({ body: body.subarray(0, cut), after: "break" });
        const held = await open(server, session);
        let thrown: unknown = null;
        try {
          for await (const _ of held);
        } catch (error) {
          thrown = error;
        }
        assert.ok(thrown instanceof Error);
        assert.notEqual((thrown as { code?: unknown }).code, "STREAM_INCOMPLETE");
        assert.equal(await held.result.catch((error) => error), thrown);
        const count = body.subarray(0, cut).toString().split("data: ").length - 1;
        assert.deepEqual(await messagesIn(session), [await expected(name, events.slice(0, count))]);
      },
    );

    test.each(Object.entries(clients))(
      "through %s and left is cancelled, and partial",
      async (client, open) => {
        const { body } = streamFor(client);
        const session = await newSession({ dialect: "homeagent" });
        const first = body.indexOf("\n\n", body.length * 0.4) + 2;
        const server = await replayServer({ body: body.subarray(0, first), after: "hang" });
        const held = await open(server, session);
        let count = 0;
        for await (const _ of held) if (++count === 4) break;
        await server.abandoned;
        await refusal(held.result, "STREAM_INCOMPLETE");
        const [{ isPartial } = assert.fail("no message")] = await messagesIn(session);
        assert.equal(isPartial, true);
      },
    );

    test.each(Object.entries(clients))(
      "through %s is read to its end for its result alone",
      async (client, open) => {
        const { events, body } = streamFor(client);
        const session = await newSession({ dialect: "rye" });
        const held = await open(await replayServer({ body }), session);
        await held.result;
        assert.deepEqual(await messagesIn(session), [await expected(name, events)]);
      },
    );
  });
}

test("a slow consumer of the SDK's helper still gets the SDK's own error", async () => {
  // Method: the helper reads ahead, and its iterator ends silently when the error came meanwhile.
  const events = STREAMS.anthropic?.events ?? [];
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const body = sseBytes([...events.slice(0, 8), error]);
  const server = await replayServer({ body });
  const stream = anthropic(server).messages.stream({ ...MODEL, messages });
  const session = new GatheredSession();
  const captured = captureAnthropic(stream, session);
  const reading = (async () => {
    for await (const _ of captured)
      if (!stream.ended) await new Promise((r) => stream.on("end", () => r(0)));
  })();
  const thrown = await reading.catch((caught) => caught);
  assert.ok(thrown instanceof AnthropicError, String(thrown));
  assert.equal(thrown.type, "overloaded_error");
  assert.equal(await captured.result.catch((caught) => caught), thrown);
  assert.equal(session.only.isPartial, true);
});

test("errors in the stream are the SDK's own, where there is an SDK", async () => {
  const [first] = STREAMS["openai chat"]?.events.slice(1) ?? [];
  assert.ok(first);
  const chat = sseBytes([first, { error: { message: "m", type: "server_error" } }], {
    named: false,
  });
  const request = { model: "m", messages, stream: true } as const;
  const stream = await openai(await replayServer({ body: chat })).chat.completions.create(request);
  const session = new GatheredSession();
  const thrown = await captureOpenAI(stream, session).result.catch((caught) => caught);
  assert.ok(thrown instanceof OpenAIError);
  assert.equal(session.only.isPartial, true);
});

test("an aborted request throws its signal's reason, though the SDK ends silently", async () => {
  const events = STREAMS.anthropic?.events ?? [];
  const server = await replayServer({ body: sseBytes(events.slice(0, 5)), after: "hang" });
  const controller = new AbortController();
  const stream = await anthropic(server).messages.create(
    { ...MODEL, messages, stream: true },
    { signal: controller.signal },
  );
  const session = new GatheredSession();
  const captured = captureAnthropic(stream, session);
  const reading = (async () => {
    let count = 0;
    for await (const _ of captured) if (++count === 4) controller.abort();
  })();
  await assert.rejects(reading, { name: "AbortError" });
  assert.equal(session.only.isPartial, true);
});

test("events keep the SDK's types, and those from bytes are plain objects", async () => {
  const session = new GatheredSession();
  const stream = {} as Awaited<ReturnType<typeof typed>>;
  const typed = () => new Anthropic().messages.create({ ...MODEL, messages, stream: true });
  const capture = () => captureAnthropic(stream, session);
  expectTypeOf<ReturnType<typeof capture>>().toExtend<
    AsyncIterable<Anthropic.MessageStreamEvent>
  >();
  const bytes = () => captureAnthropic(new Response().body ?? new Response(), session);
  expectTypeOf<ReturnType<typeof bytes>>().toExtend<
    AsyncIterable<Readonly<Record<string, unknown>>>
  >();
  const both = async () => {
    const { usage } = await capture().result;
    return usage?.cache_read_input_tokens;
  };
  expectTypeOf<Awaited<ReturnType<typeof both>>>().toEqualTypeOf<number | null | undefined>();
});
