import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { onTestFinished, test } from "vitest";
import { GatheredSession } from "../../../test/support/gathered-session.ts";
import {
  ANTHROPIC,
  given,
  type ProviderEvent,
  sseBytes,
} from "../../../test/support/provider-streams.ts";
import { refusal, thrownRefusal } from "../../../test/support/refusal.ts";
import { captureAnthropic } from "./anthropic.ts";
import { captureOpenAI } from "./openai.ts";

/** Counts events as they are asked for, and knows when it is closed. */
class WatchedSource implements AsyncIterable<ProviderEvent> {
  asked = 0;
  isClosed = false;
  readonly #events: readonly ProviderEvent[];
  readonly #failure: unknown;

  constructor(events: readonly ProviderEvent[], ...failure: [unknown?]) {
    this.#events = events;
    this.#failure = failure.length === 0 ? null : { error: failure[0] };
  }

  [Symbol.asyncIterator](): AsyncIterator<ProviderEvent> {
    return {
      next: async () => {
        const value = this.#events[this.asked++];
        if (value) return { done: false, value };
        if (this.#failure) throw (this.#failure as { error: unknown }).error;
        return { done: true, value: undefined };
      },
      return: async () => {
        this.isClosed = true;
        return { done: true, value: undefined };
      },
    };
  }
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

/** Fails the test if a rejection goes unhandled while it runs. */
function watchRejections(): readonly unknown[] {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => {
    process.off("unhandledRejection", note);
  });
  return unhandled;
}

const PARTIAL = ANTHROPIC.slice(0, 6);

test("the same event objects are passed on, in order, unknown ones and pings included", async () => {
  const seen = await all(captureAnthropic(new WatchedSource(ANTHROPIC), new GatheredSession()));
  assert.equal(seen.length, ANTHROPIC.length);
  for (const [n, event] of seen.entries()) assert.equal(event, ANTHROPIC[n]);
});

test("from bytes, an event is the JSON of its data, whatever holds the bytes", async () => {
  const bytes = sseBytes(ANTHROPIC);
  const web = () => new Blob([bytes]).stream();
  async function* pieces() {
    yield new Uint8Array(bytes.subarray(0, 100));
    yield bytes.subarray(100);
  }
  const text = Readable.from([bytes]).setEncoding("utf8");
  // Like test runners, which give every file its own realm.
  const foreign = given([runInNewContext("(bytes) => Uint8Array.from(bytes)")(bytes)]);
  const bodies = [web(), new Response(web()), pieces(), Readable.from([bytes]), text, foreign];
  for (const body of bodies) {
    const session = new GatheredSession();
    assert.deepEqual(await all(captureAnthropic(body, session)), ANTHROPIC);
    assert.equal(session.only.stopReason, "tool_use");
  }
});

test("events are read as they are asked for, and not before", async () => {
  const source = new WatchedSource(ANTHROPIC);
  const captured = captureAnthropic(source, new GatheredSession());
  await turn();
  assert.equal(source.asked, 0);
  let count = 0;
  for await (const _ of captured) {
    await turn();
    assert.equal(source.asked, ++count);
  }
});

test("the entry is appended once, before the event that ends the message is passed on", async () => {
  const session = new GatheredSession();
  for await (const { type } of captureAnthropic(new WatchedSource(ANTHROPIC), session)) {
    assert.equal(session.entries.length, type === "message_stop" ? 1 : 0);
  }
  assert.equal(session.entries.length, 1);
});

test("awaiting the result without iterating reads the stream to its end", async () => {
  const source = new WatchedSource(ANTHROPIC);
  const session = new GatheredSession();
  const captured = captureAnthropic(source, session);
  const { stopReason } = await captured.result;
  assert.equal(stopReason, "tool_use");
  assert.equal(session.entries.length, 1);
  await turn();
  assert.equal(source.asked, ANTHROPIC.length + 1);
  assert.throws(() => captured[Symbol.asyncIterator](), /awaited first/);
});

test("awaiting the result takes no event from a concurrent iteration", async () => {
  for (const isFirst of [true, false]) {
    const captured = captureAnthropic(new WatchedSource(ANTHROPIC), new GatheredSession());
    const { result } = captured;
    const awaited = isFirst ? result.then(({ stopReason }) => stopReason) : null;
    assert.equal((await all(captured)).length, ANTHROPIC.length);
    assert.equal((await (awaited ?? result.finally(() => {}))) !== undefined, true);
  }
});

test("a capture that is not read touches nothing", async () => {
  const source = new WatchedSource(ANTHROPIC);
  const session = new GatheredSession();
  const { result } = captureAnthropic(source, session);
  assert.ok(result instanceof Promise);
  await turn();
  assert.deepEqual([source.asked, session.entries.length], [0, 0]);
});

test("an error of the stream reaches iterator and result unchanged, after the received part is kept", async () => {
  // Method: everything that can be thrown, including errors of other realms and undefined.
  for (const error of [new TypeError("terminated"), "gone", null, undefined, { code: 5 }]) {
    const session = new GatheredSession();
    const captured = captureAnthropic(new WatchedSource(PARTIAL, error), session);
    let thrown: unknown = "nothing";
    try {
      for await (const _ of captured) assert.equal(session.entries.length, 0);
    } catch (caught) {
      thrown = caught;
    }
    assert.equal(thrown, error);
    assert.equal(await captured.result.catch((caught) => caught), error);
    assert.equal(session.only.isPartial, true);
  }
});

test("an error after the message's end reaches only the iterator: the message is complete", async () => {
  const error = new Error("reset");
  const session = new GatheredSession();
  const captured = captureAnthropic(new WatchedSource(ANTHROPIC, error), session);
  await assert.rejects(all(captured), error);
  assert.equal((await captured.result).stopReason, "tool_use");
  assert.equal(session.only.isPartial, undefined);

  const drained = captureAnthropic(new WatchedSource(ANTHROPIC, error), new GatheredSession());
  assert.equal((await drained.result).stopReason, "tool_use");
});

test("an unobserved result causes no unhandled rejection", async () => {
  const unhandled = watchRejections();
  const source = new WatchedSource(PARTIAL, new Error("gone"));
  await all(captureAnthropic(source, new GatheredSession())).catch(() => {});
  for await (const _ of captureAnthropic(new WatchedSource(ANTHROPIC), new GatheredSession())) {
    break;
  }
  await turn();
  await turn();
  assert.deepEqual(unhandled, []);
});

test("a failed append reaches iterator and result, complete or partial, and closes the source", async () => {
  for (const events of [ANTHROPIC, PARTIAL]) {
    const session = new GatheredSession();
    session.failure = new Error("disk full");
    const source = new WatchedSource(events);
    const captured = captureAnthropic(source, session);
    await assert.rejects(all(captured), session.failure);
    await assert.rejects(captured.result, session.failure);
    assert.equal(source.isClosed, events === ANTHROPIC);
  }
});

test("a consumer that stops cancels the stream, and the received part is kept as partial", async () => {
  // Method: stop at every event; from the end of the message on, it is complete.
  for (let stopAt = 0; stopAt < ANTHROPIC.length; stopAt++) {
    const source = new WatchedSource(ANTHROPIC);
    const session = new GatheredSession();
    const captured = captureAnthropic(source, session);
    let count = 0;
    for await (const _ of captured) if (count++ === stopAt) break;
    assert.equal(source.isClosed, true);
    const isWhole = stopAt === ANTHROPIC.length - 1;
    assert.equal(session.only.isPartial, isWhole ? undefined : true);
    if (isWhole) await captured.result;
    else {
      const { details } = await refusal(captured.result, "STREAM_INCOMPLETE");
      assert.deepEqual(details, { provider: "anthropic", reason: "stopped" });
    }
  }
});

test("a consumer that stops before the first event cancels the stream, and nothing is appended", async () => {
  const source = new WatchedSource(ANTHROPIC);
  const session = new GatheredSession();
  const captured = captureAnthropic(source, session);
  await captured[Symbol.asyncIterator]().return?.();
  await refusal(captured.result, "STREAM_INCOMPLETE");
  assert.deepEqual([source.asked, source.isClosed, session.entries.length], [0, true, 0]);
});

test("a failed append throws in a consumer that stops", async () => {
  const session = new GatheredSession();
  session.failure = new Error("disk full");
  const source = new WatchedSource(ANTHROPIC);
  const reading = (async () => {
    for await (const _ of captureAnthropic(source, session)) break;
  })();
  await assert.rejects(reading, session.failure);
  assert.equal(source.isClosed, true);
});

test("a malformed event is passed on like the others, and fails only the result", async () => {
  const hostile = {
    get type() {
      throw new TypeError("no type for you");
    },
  };
  for (const event of [5, true, [], [{ type: "ping" }], () => {}, hostile]) {
    const events = [...PARTIAL, event as unknown as ProviderEvent, ...ANTHROPIC.slice(-3)];
    const session = new GatheredSession();
    const captured = captureAnthropic(given(events), session);
    const seen: unknown[] = [];
    for await (const each of captured) seen.push(each);
    assert.deepEqual([seen.length, seen[PARTIAL.length] === event], [events.length, true]);
    await refusal(captured.result, "BAD_STREAM");
    assert.equal(session.only.isPartial, true);
  }
});

test("the stream of another provider is refused at its end, and nothing is recorded", async () => {
  const chunk = { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: {} }] };
  for (const events of [[chunk, chunk], ANTHROPIC]) {
    const session = new GatheredSession();
    const captured =
      events === ANTHROPIC
        ? captureOpenAI(given(events), session)
        : captureAnthropic(given(events), session);
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const each of captured) seen.push(each);
    })();
    const { message } = await refusal(reading, "BAD_STREAM");
    assert.match(message, /nothing was recorded/);
    await refusal(captured.result, "BAD_STREAM");
    assert.deepEqual([seen.length, session.entries.length], [events.length, 0]);
  }
});

test("data that is not JSON is passed on as its text, and fails only the result", async () => {
  const [before, after] = [ANTHROPIC.slice(0, 3), ANTHROPIC.slice(3)];
  const text = 'data: {"type":\n\n';
  const bytes = [sseBytes(before), Buffer.from(text), sseBytes(after)];
  const session = new GatheredSession();
  const captured = captureAnthropic(given(bytes), session);
  const seen: unknown[] = [];
  for await (const each of captured) seen.push(each);
  assert.deepEqual(seen, [...before, '{"type":', ...after]);
  await refusal(captured.result, "BAD_STREAM");
  assert.deepEqual(session.only.parts?.at(-1), {
    type: "other",
    native: { type: "unknown_events", events: ['{"type":'] },
  });
});

test("a message over the limit is cut in the log, and reaches its consumer whole", async () => {
  const session = new GatheredSession();
  const limits = { messageBytesMax: 20_000 };
  const captured = captureAnthropic(given(ANTHROPIC), session, { limits });
  const seen: unknown[] = [];
  for await (const each of captured) seen.push(each);
  assert.deepEqual(seen, ANTHROPIC);
  await refusal(captured.result, "STREAM_TOO_LARGE");
  assert.equal(session.only.isPartial, true);
});

test("a refused request is reported with its status, and its body is cancelled", async () => {
  let isCancelled = false;
  const body = new ReadableStream({
    cancel: () => {
      isCancelled = true;
    },
  });
  const session = new GatheredSession();
  for (const capture of [captureAnthropic, captureOpenAI]) {
    const response = new Response(null, { status: 529 });
    await refusal(capture(response, session).result, "PROVIDER_ERROR");
  }
  const { result } = captureOpenAI(new Response(body, { status: 401 }), session);
  assert.equal((await refusal(result, "PROVIDER_ERROR")).details.type, "http_401");
  await turn();
  assert.deepEqual([isCancelled, session.entries.length], [true, 0]);
});

test("a response without a body has ended", async () => {
  const { result } = captureAnthropic(new Response(null), new GatheredSession());
  assert.equal((await refusal(result, "STREAM_INCOMPLETE")).details.reason, "ended");
});

test("a stream is aborted through its controller where closing its iterator is not enough", async () => {
  const controller = new AbortController();
  const source = Object.assign(new WatchedSource(ANTHROPIC), { controller });
  for await (const _ of captureAnthropic(source, new GatheredSession())) break;
  assert.equal(controller.signal.aborted, true);
});

test("a value that is not a stream is refused", () => {
  const session = new GatheredSession();
  for (const stream of [{}, new Response("x").headers, 5, null]) {
    thrownRefusal(() => captureAnthropic(stream as never, session), "BAD_SETTING");
  }
});
