/** Live readers: what they receive, and what happens if they do not keep up. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { ManualTime } from "../support/manual-time.ts";
import { until } from "../support/until.ts";
import { RawConnection } from "./raw-http.ts";
import { EventParser, type ServerSentEvent } from "./sse.ts";
import { header, JSON_TYPE, refused, startTestServer, type TestServer } from "./test-server.ts";

/** An event stream that is read incrementally. */
class EventSource {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #parser = new EventParser();

  private constructor(response: Response) {
    this.response = response;
    assert.ok(response.body);
    this.#reader = response.body.getReader();
  }

  static async open(server: TestServer, path: string, query = "offset=-1"): Promise<EventSource> {
    const response = await fetch(`${server.at(path)}?${query}&live=sse`);
    assert.equal(response.status, 200);
    return new EventSource(response);
  }

  get events(): ServerSentEvent[] {
    return this.#parser.events;
  }

  /** Reads until the condition holds for the events so far; false if they ended before. */
  async until(holds: (events: ServerSentEvent[]) => boolean): Promise<boolean> {
    while (!holds(this.events)) {
      const { done, value } = await this.#reader.read();
      if (done) return false;
      this.#parser.take(value);
    }
    return true;
  }

  /** The fields of the last control event. */
  get place(): Record<string, unknown> {
    const control = this.events.findLast(({ type }) => type === "control");
    return JSON.parse(control?.data ?? "{}");
  }

  get data(): string[] {
    return this.events.filter(({ type }) => type === "data").map(({ data }) => data);
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

const isUpToDate = (events: ServerSentEvent[]) => events.at(-1)?.data.includes("upToDate") === true;

test("a reader of events gets existing messages and then new ones, each once", async () => {
  const server = await startTestServer({ chunkBytes: 100 });
  await server.put("/s", JSON_TYPE);
  for (let n = 0; n < 50; n++) await server.post("/s", JSON_TYPE, `{"n":${n}}`);
  const source = await EventSource.open(server, "/s");
  await source.until(isUpToDate);
  for (let n = 50; n < 100; n++) await server.post("/s", JSON_TYPE, `{"n":${n}}`);
  await fetch(server.at("/s"), { method: "POST", headers: { "Stream-Closed": "true" } });
  assert.equal(await source.until(() => false), false); // The event stream ends by itself.
  const numbers = source.data.flatMap((data) => JSON.parse(data)).map(({ n }) => n);
  assert.deepEqual(
    numbers,
    Array.from({ length: 100 }, (_, n) => n),
  );
  assert.equal(source.place.streamClosed, true);
  // Every data event is followed by a control event with the offset to continue from.
  source.events.forEach(({ type }, at) => {
    if (type === "data") assert.equal(source.events[at + 1]?.type, "control");
  });
});

test("readers that join while others append miss nothing and get nothing twice", async () => {
  const server = await startTestServer({ chunkBytes: 64 });
  await server.put("/s", JSON_TYPE);
  const sources: Promise<EventSource>[] = [];
  for (let n = 0; n < 200; n++) {
    const appended = server.post("/s", JSON_TYPE, `{"n":${n}}`);
    if (n % 10 === 5) sources.push(EventSource.open(server, "/s"));
    await appended;
  }
  await fetch(server.at("/s"), { method: "POST", headers: { "Stream-Closed": "true" } });
  for (const source of await Promise.all(sources)) {
    await source.until(() => false);
    const numbers = source.data.flatMap((data) => JSON.parse(data)).map(({ n }) => n);
    assert.deepEqual(
      numbers,
      Array.from({ length: 200 }, (_, n) => n),
    );
  }
});

test("a reader that does not read is disconnected, and one that does gets everything", async () => {
  const server = await startTestServer({ readerBufferBytesMax: 64 * 1024 });
  await server.put("/s", "text/plain");
  const slow = await RawConnection.open(server.url);
  slow.socket.pause();
  slow.send("GET", "/v1/stream/s?offset=-1&live=sse");
  const fast = await EventSource.open(server, "/s");
  await fast.until(isUpToDate);
  let expected = "";
  // More than the kernel buffers for a reader; the server must not buffer the rest.
  for (let n = 0; n < 40; n++) {
    const text = String.fromCharCode(65 + (n % 26)).repeat(512 * 1024);
    expected += text;
    await server.post("/s", "text/plain", text);
    const seen = fast.data.length;
    await fast.until(() => fast.data.length > seen);
  }
  slow.socket.resume();
  const text = await slow.closed();
  assert.ok(text.length < expected.length / 2, `${text.length} bytes were kept for it`);
  assert.equal(text.endsWith("0\r\n\r\n"), false, "it was cut, not ended (ER2)");
  assert.equal(fast.data.join(""), expected);
  await fast.cancel();
});

test("a reader that is slow to catch up is waited for, a chunk at a time", async () => {
  const server = await startTestServer({ readerBufferBytesMax: 1024 });
  await server.put("/s", "text/plain");
  const text = "x".repeat(1024 * 1024);
  for (let n = 0; n < 12; n++) await server.post("/s", "text/plain", text);
  const slow = await RawConnection.open(server.url);
  slow.socket.pause();
  slow.send("GET", "/v1/stream/s?offset=-1&live=sse", { Connection: "close" });
  const pause = () => slow.socket.pause();
  slow.socket.on("data", pause);
  await until(() => {
    slow.socket.resume();
    return slow.length > 3 * text.length;
  }, "reading a little at a time");
  slow.socket.off("data", pause).resume();
  await fetch(server.at("/s"), { method: "POST", headers: { "Stream-Closed": "true" } });
  const received = await slow.closed();
  assert.equal(received.split("event: data").length - 1, 12);
  assert.ok(received.endsWith("0\r\n\r\n"));
});

test("an event stream ends at its time limit, and continues where it ended", async () => {
  const time = new ManualTime();
  const server = await startTestServer({ eventStreamMs: 10_000, time });
  await server.put("/s", "text/plain", { body: "one" });
  const first = await EventSource.open(server, "/s");
  await first.until(isUpToDate);
  time.pass(11_000); // Plus or minus a tenth.
  assert.equal(await first.until(() => false), false);
  assert.deepEqual(first.data, ["one"]);
  await server.post("/s", "text/plain", "two");
  const next = await EventSource.open(server, "/s", `offset=${first.place.streamNextOffset}`);
  await next.until(isUpToDate);
  assert.deepEqual(next.data, ["two"]);
  await next.cancel();
});

test("the server's cursor is greater than the reader's, and never decreases", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/plain", { body: "one" });
  const far = 10_000_000;
  const source = await EventSource.open(server, "/s", `offset=-1&cursor=${far}`);
  await source.until(isUpToDate);
  const first = Number(source.place.streamCursor);
  assert.ok(first > far);
  await server.post("/s", "text/plain", "two");
  await source.until((events) => events.length === 4);
  assert.equal(Number(source.place.streamCursor), first);
  assert.deepEqual(source.data, ["one", "two"]);
  await source.cancel();
});

test("deleting a stream ends its event streams, and long-polls report it as gone", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/plain", { body: "one" });
  const source = await EventSource.open(server, "/s");
  await source.until(isUpToDate);
  const polling = fetch(`${server.at("/s")}?offset=now&live=long-poll`);
  await waiting(server, 2);
  await fetch(server.at("/s"), { method: "DELETE" });
  assert.equal(await source.until(() => false), false);
  assert.deepEqual(await refused(await polling), [404, "STREAM_NOT_FOUND"]);
});

test("a reader that disconnects leaves no feed, no watcher and no place in the queue", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/plain", { body: "one" });
  const sources = await Promise.all(
    Array.from({ length: 5 }, () => EventSource.open(server, "/s")),
  );
  for (const source of sources) await source.until(isUpToDate);
  assert.deepEqual(await health(server), { status: "ok", liveReaders: 5, eventFeeds: 1 });
  for (const source of sources) await source.cancel();
  await waiting(server, 0);
  assert.deepEqual(await health(server), { status: "ok", liveReaders: 0, eventFeeds: 0 });
});

test("a stream with a waiting reader does not expire", async () => {
  const time = new ManualTime();
  const server = await startTestServer({ longPollTimeoutMs: 2500, time });
  for (const path of ["/polled", "/read", "/left"]) {
    await server.put(path, "text/plain", { headers: { "Stream-TTL": "1" } });
  }
  const source = await EventSource.open(server, "/read");
  await source.until(isUpToDate);
  const polling = fetch(`${server.at("/polled")}?offset=now&live=long-poll`);
  await waiting(server, 2);
  for (let ms = 0; ms < 2500; ms += 100) time.pass(100);
  assert.equal((await polling).status, 204);
  const status = async (path: string) => (await fetch(server.at(path), { method: "HEAD" })).status;
  assert.deepEqual(
    [await status("/polled"), await status("/read"), await status("/left")],
    [200, 200, 404],
  );
  await source.cancel();
});

test("a server that stops ends its readers, and they can continue where they were", async () => {
  const server = await startTestServer({ longPollTimeoutMs: 60_000 });
  await server.put("/s", "text/plain", { body: "one" });
  const source = await EventSource.open(server, "/s");
  await source.until(isUpToDate);
  const polling = fetch(`${server.at("/s")}?offset=now&live=long-poll`);
  await waiting(server, 2);
  await server.running.close();
  assert.equal(await source.until(() => false), false);
  const response = await polling;
  assert.equal(response.status, 204);
  assert.equal(header(response, "stream-next-offset"), source.place.streamNextOffset);
});

async function health(server: TestServer): Promise<Record<string, unknown>> {
  return (await (await fetch(`${server.url}/health`)).json()) as Record<string, unknown>;
}

/** Resolves when that many readers wait. */
async function waiting(server: TestServer, count: number): Promise<void> {
  const isSo = async () => (await health(server)).liveReaders === count;
  await until(isSo, `waiting of ${count} readers`);
}
