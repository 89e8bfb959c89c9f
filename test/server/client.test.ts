/** The protocol's official client, which is independent of us, against our server. */

import assert from "node:assert/strict";
import { DurableStream, IdempotentProducer } from "@durable-streams/client";
import { test } from "vitest";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { JSON_TYPE, startTestServer } from "./test-server.ts";

const QUIET = { warnOnHttp: false };

/**
 * Repeats a request until it succeeds, which a producer's sequence numbers make safe: a restarting
 * server first refuses connections, and then answers 503 while it recovers.
 */
const persistentFetch: typeof fetch = async (...request) => {
  let response: Response | null = null;
  await until(async () => {
    response = await fetch(...request).catch(() => null);
    return response !== null && response.status !== 503;
  }, "an answer");
  return response ?? assert.fail();
};

test("the official client creates, appends, reads and closes", async () => {
  const server = await startTestServer();
  const url = server.at("/chat/1");
  const stream = await DurableStream.create({ url, contentType: JSON_TYPE, ...QUIET });
  await stream.append(JSON.stringify({ n: 1 }));
  await stream.append(JSON.stringify({ n: 2, text: "é" }));
  await stream.close();
  const read = await stream.stream<{ n: number }>({ live: false, ...QUIET });
  assert.deepEqual(await read.json(), [{ n: 1 }, { n: 2, text: "é" }]);
  const head = await stream.head();
  assert.ok(head.exists && head.streamClosed);
  await stream.delete();
  assert.equal((await DurableStream.head({ url, ...QUIET })).exists, false);
});

test.each(["long-poll", "sse"] as const)(
  "the official client's idempotent producer and its %s reader continue through a restart, exactly once",
  async (live) => {
    const dataDirectory = tempDirectory();
    const first = await startTestServer({ dataDirectory, longPollTimeoutMs: 500 });
    const { port } = first.running;
    const contentType = JSON_TYPE;
    const url = first.at("/chat/1");
    const stream = await DurableStream.create({ url, contentType, ...QUIET });

    const received: number[] = [];
    const wanted = 300;
    const response = await stream.stream<{ n: number }>({ offset: "-1", live });
    const complete = new Promise<void>((resolve) => {
      response.subscribeJson(({ items }) => {
        for (const { n } of items) received.push(n);
        if (received.length >= wanted) resolve();
      });
    });

    const errors: Error[] = [];
    const onError = (error: Error) => errors.push(error);
    const options = { lingerMs: 1, onError, fetch: persistentFetch };
    const producer = new IdempotentProducer(stream, "worker-1", options);
    const send = async (from: number, to: number) => {
      for (let n = from; n < to; n++) {
        producer.append(JSON.stringify({ n }));
        if (n % 10 === 9) await producer.flush();
      }
    };
    await send(0, 100);
    const sending = send(100, 200);
    await first.running.close();
    const second = await startTestServer({ dataDirectory, port, longPollTimeoutMs: 500 });
    await sending;
    await send(200, wanted);
    await producer.flush();
    await complete;
    response.cancel();

    assert.deepEqual(errors, []);
    const expected = Array.from({ length: wanted }, (_, n) => n);
    assert.deepEqual(received, expected);
    const stored = (await (await fetch(second.at("/chat/1"))).json()) as { n: number }[];
    assert.deepEqual(
      stored.map(({ n }) => n),
      expected,
    );
  },
);
