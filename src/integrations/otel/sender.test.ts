import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { Collector } from "../../../test/integrations/collector.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { endpointOf } from "./endpoint.ts";
import { ANSWER_BYTES_MAX, OtlpSender, RETRIES_MAX, RETRY_AFTER_MS_MAX } from "./sender.ts";

const NOW_MS = Date.parse("2026-02-09T04:03:50Z");

/** A sender to a real server, with a clock that only counts. */
function sendTo(url: string, options: ConstructorParameters<typeof OtlpSender>[2] = {}) {
  const waits: number[] = [];
  const tools = {
    fetch,
    clock: {
      sleep: async (ms: number, signal?: AbortSignal) => {
        signal?.throwIfAborted();
        waits.push(ms);
      },
    },
    random: () => 1,
    nowMs: () => NOW_MS,
  };
  const sender = new OtlpSender(
    endpointOf(url, { authorization: "Bearer hush-hush" }),
    tools,
    options,
  );
  return { sender, waits };
}

test("retryable statuses are retried, with waits that double", async () => {
  const collector = await Collector.start();
  for (const status of [429, 502, 503, 504]) {
    const { sender, waits } = sendTo(collector.url);
    const before = collector.posted.length;
    collector.respond = (response, count) => {
      response.statusCode = count - before <= RETRIES_MAX ? status : 200;
      response.end();
    };
    assert.deepEqual(await sender.send("{}"), { rejectedSpans: 0, message: null });
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000]);
  }
});

test("one retry too many is a failure that names the collector and no secret", async () => {
  const collector = await Collector.start();
  const { sender, waits } = sendTo(`${collector.url}?key=hush`);
  collector.respond = (response) => {
    response.statusCode = 503;
    response.end();
  };
  const error = await refusal(sender.send("{}"), "EXPORT_FAILED");
  assert.deepEqual(error.details, { endpoint: `${collector.url}/v1/traces`, status: 503 });
  assert.ok(!error.message.includes("hush"));
  assert.equal(waits.length, RETRIES_MAX);
  assert.equal(collector.posted.length, RETRIES_MAX + 1);
});

test("everything else is refused at once, a redirect too", async () => {
  const collector = await Collector.start();
  for (const status of [301, 307, 400, 401, 404, 413, 500]) {
    const { sender, waits } = sendTo(collector.url);
    collector.respond = (response) => {
      response.writeHead(status, { location: `${collector.url}/elsewhere` }).end("no");
    };
    const error = await refusal(sender.send("{}"), "EXPORT_FAILED");
    assert.deepEqual([error.details.status, waits], [status, []]);
  }
  expect(collector.posted.every(({ path }) => path === "/v1/traces")).toBe(true);
});

test("a collector's Retry-After is honoured, in seconds or as a date, up to a limit", async () => {
  const collector = await Collector.start();
  const waitFor = async (retryAfter: string) => {
    const { sender, waits } = sendTo(collector.url);
    const before = collector.posted.length;
    collector.respond = (response, count) => {
      if (count - before > 1) response.end();
      else response.writeHead(429, { "retry-after": retryAfter }).end();
    };
    await sender.send("{}");
    return waits;
  };
  assert.deepEqual(await waitFor("7"), [7000]);
  assert.deepEqual(await waitFor(new Date(NOW_MS + 90_000).toUTCString()), [90_000]);
  assert.deepEqual(await waitFor(new Date(NOW_MS - 90_000).toUTCString()), [0]);
  assert.deepEqual(await waitFor("soon"), [1000]);
  assert.deepEqual(await waitFor(String(RETRY_AFTER_MS_MAX / 1000)), [RETRY_AFTER_MS_MAX]);
  await refusal(waitFor(String(RETRY_AFTER_MS_MAX / 1000 + 1)), "EXPORT_FAILED");
});

test("an unreachable collector is retried until the signal", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  closed.close();
  const stop = new AbortController();
  const problems: string[] = [];
  const { sender } = sendTo(`http://127.0.0.1:${port}`, {
    retriesMax: Number.POSITIVE_INFINITY,
    onRetry: (problem) => {
      if (problems.push(problem) === RETRIES_MAX + 3) stop.abort();
    },
  });
  const error = await refusal(sender.send("{}", stop.signal), "EXPORT_FAILED");
  assert.equal(error.details.status, null);
  assert.equal(problems.at(-1), "it cannot be reached (ECONNREFUSED)");
});

test("a partial success reports what was rejected and why, on one line", async () => {
  const collector = await Collector.start();
  const answerTo = async (answer: string) => {
    const { sender } = sendTo(collector.url);
    collector.respond = (response) => response.end(answer);
    return sender.send("{}");
  };
  const partial = (fields: object) => answerTo(JSON.stringify({ partialSuccess: fields }));
  assert.deepEqual(
    await partial({ rejectedSpans: "3", errorMessage: "too\nold: hush-hush, Bearer hush-hush" }),
    {
      rejectedSpans: 3,
      message: "too old: ***, ***",
    },
  );
  const nothing = { rejectedSpans: 0, message: null };
  for (const answer of ["", "no JSON", "null", "[]", '{"partialSuccess":7}', '"x"']) {
    assert.deepEqual(await answerTo(answer), nothing, answer);
  }
  assert.deepEqual(await partial({ rejectedSpans: -1, errorMessage: 5 }), nothing);
  assert.deepEqual(await answerTo("x".repeat(4 * ANSWER_BYTES_MAX)), nothing);
});
