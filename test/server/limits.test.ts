/** Every limit: what is refused one past it, and how. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "vitest";
import { APPEND_MESSAGES_MAX, MESSAGE_DEPTH_MAX } from "../../src/core/base/limits.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { RawConnection } from "./raw-http.ts";
import { JSON_TYPE, refused, startTestServer } from "./test-server.ts";

const TYPE = "application/octet-stream";
const MIB = 1024 * 1024;

test("a body at the limit is accepted; one byte more is 413, and the connection is closed", async () => {
  const server = await startTestServer({ bodyBytesMax: 1000 });
  await server.put("/s", TYPE);
  await server.post("/s", TYPE, Buffer.alloc(1000));
  for (const method of ["POST", "PUT"]) {
    const headers = { "Content-Type": TYPE };
    const init = { method, headers, body: Buffer.alloc(1001) };
    const response = await fetch(server.at("/s"), init);
    assert.equal(response.headers.get("connection"), "close");
    assert.deepEqual(await refused(response), [413, "BODY_TOO_LARGE"]);
  }
  const head = await fetch(server.at("/s"), { method: "HEAD" });
  assert.match(head.headers.get("stream-next-offset") ?? "", /_0*1000$/);
});

test("a body without Content-Length is stopped at the limit, too", async () => {
  const server = await startTestServer({ bodyBytesMax: 1000 });
  await server.put("/s", TYPE);
  const connection = await RawConnection.open(server.url);
  connection.send("POST", "/v1/stream/s", { "Content-Type": TYPE, "Transfer-Encoding": "chunked" });
  for (let n = 0; n < 3; n++) connection.socket.write(`190\r\n${"x".repeat(400)}\r\n`);
  connection.socket.write("0\r\n\r\n");
  assert.match(await connection.closed(), /^HTTP\/1\.1 413 .*BODY_TOO_LARGE/s);
});

test("a client that sends far too much can read why it was refused", async () => {
  const server = await startTestServer({ bodyBytesMax: MIB });
  await server.put("/s", TYPE);
  const connection = await RawConnection.open(server.url);
  // It reads no answer before it has sent everything, as many clients do.
  connection.socket.pause();
  const headers = { "Content-Type": TYPE, "Content-Length": String(40 * MIB) };
  connection.send("POST", "/v1/stream/s", headers);
  const chunk = Buffer.alloc(MIB);
  for (let sent = 0; sent < 40; sent++) {
    if (!connection.socket.write(chunk)) await once(connection.socket, "drain");
  }
  connection.socket.resume();
  assert.match(await connection.closed(), /^HTTP\/1\.1 413 .*BODY_TOO_LARGE/s);
});

test("a too large body with Expect: 100-continue is refused before it is sent", async () => {
  const server = await startTestServer({ bodyBytesMax: 1000 });
  await server.put("/s", TYPE);
  const ask = async (bytes: number) => {
    const connection = await RawConnection.open(server.url);
    const headers = { "Content-Type": TYPE, Expect: "100-continue", Connection: "close" };
    connection.send("POST", "/v1/stream/s", { ...headers, "Content-Length": String(bytes) });
    return connection;
  };
  const allowed = await ask(1000);
  await once(allowed.socket, "data");
  assert.match(allowed.text, /^HTTP\/1\.1 100 /);
  allowed.socket.write(Buffer.alloc(1000));
  assert.match(await allowed.closed(), /HTTP\/1\.1 204 /);
  const forbidden = await ask(1001);
  assert.match(await forbidden.closed(), /^HTTP\/1\.1 413 /);
});

test("an append of too many messages is 413, one that nests too deep is 400, and neither is stored", async () => {
  const server = await startTestServer();
  await server.put("/s", JSON_TYPE, { body: "1" });
  const tooMany = `[${"1,".repeat(APPEND_MESSAGES_MAX)}1]`;
  const tooDeep = "[".repeat(MESSAGE_DEPTH_MAX + 2) + "]".repeat(MESSAGE_DEPTH_MAX + 2);
  const headers = { "Content-Type": JSON_TYPE };
  for (const [method, path] of [["POST", "/s"] as const, ["PUT", "/new"] as const]) {
    const many = await fetch(server.at(path), { method, headers, body: tooMany });
    assert.deepEqual(await refused(many), [413, "TOO_MANY_MESSAGES"]);
    const deep = await fetch(server.at(path), { method, headers, body: tooDeep });
    assert.deepEqual(await refused(deep), [400, "BAD_MESSAGE"]);
  }
  assert.equal((await fetch(server.at("/new"))).status, 404);
  assert.equal(await (await fetch(server.at("/s"))).text(), "[1]");
});

test("a body that breaks off is not appended", async () => {
  const server = await startTestServer();
  await server.put("/s", TYPE);
  const connection = await RawConnection.open(server.url);
  connection.send("POST", "/v1/stream/s", { "Content-Type": TYPE, "Content-Length": "100" });
  connection.socket.write("x".repeat(99));
  connection.socket.end();
  await connection.closed();
  const response = await fetch(server.at("/s"));
  assert.equal(await response.text(), "");
});

test("bodies being received have a common limit, and free it when they are complete", async () => {
  const server = await startTestServer({ bodiesBytesMax: 1000 });
  await server.put("/s", TYPE);
  const post = (bytes: number) => {
    const headers = { "Content-Type": TYPE };
    return fetch(server.at("/s"), { method: "POST", headers, body: Buffer.alloc(bytes) });
  };
  const send = async () => {
    const connection = await RawConnection.open(server.url);
    const headers = { "Content-Type": TYPE, "Content-Length": "901", Connection: "close" };
    connection.send("POST", "/v1/stream/s", headers);
    connection.socket.write(Buffer.alloc(900));
    return connection;
  };
  const first = await send();
  while ((await post(101)).status !== 503); // Waits until the server has received what was sent.
  const full = await post(101);
  assert.equal(full.headers.get("retry-after"), "1");
  assert.deepEqual(await refused(full), [503, "QUEUE_FULL"]);
  assert.equal((await post(100)).status, 204);
  first.socket.write("x");
  assert.match(await first.closed(), /^HTTP\/1\.1 204 /);
  assert.equal((await post(1000)).status, 204);
  assert.equal((await post(1001)).status, 503);

  const left = await send();
  while ((await post(101)).status !== 503);
  left.socket.destroy();
  while ((await post(1000)).status !== 204); // A client that disconnects frees its share as well.
});

test("a connection that reads nothing of its answer is closed, one that reads slowly is not", async () => {
  const dataDirectory = tempDirectory();
  const writing = await startTestServer({ dataDirectory });
  // More than the kernel buffers for a connection.
  await writing.put("/large", TYPE, { body: Buffer.alloc(15 * MIB) });
  await writing.put("/long", "text/plain");
  for (let n = 0; n < 40; n++) await writing.post("/long", "text/plain", "x".repeat(MIB));
  await fetch(writing.at("/long"), { method: "POST", headers: { "Stream-Closed": "true" } });
  await writing.running.close();
  let stalledMs = 1000;
  // On a machine that is too busy to read in time, the server is right to close both.
  while ((await readNothingAndSlowly(dataDirectory, stalledMs)).longestGapMs > stalledMs / 2) {
    stalledMs *= 4;
  }
});

async function readNothingAndSlowly(dataDirectory: string, stalledMs: number) {
  let answered = 0;
  const options = { dataDirectory, longPollTimeoutMs: 10, stalledMs, onRequest: () => answered++ };
  const server = await startTestServer(options);
  const read = async (target: string) => {
    const connection = await RawConnection.open(server.url);
    connection.socket.pause();
    connection.send("GET", target, { Connection: "close" });
    return connection;
  };
  const stalled = await read("/v1/stream/large");
  const slow = await read("/v1/stream/long?offset=-1&live=sse");
  let [readAtMs, longestGapMs] = [performance.now(), 0];
  const noteGap = () => {
    longestGapMs = Math.max(longestGapMs, performance.now() - readAtMs);
    readAtMs = performance.now();
  };
  slow.socket.on("data", noteGap);
  // It reads a little several times a second, for as long as the server waits for the other.
  let nextMs = 0;
  let next = 0;
  const pauseWhenRead = () => slow.length >= next && slow.socket.pause();
  slow.socket.on("data", pauseWhenRead);
  await until(() => {
    if (slow.length >= next && performance.now() > nextMs) {
      nextMs = performance.now() + stalledMs / 10;
      next = slow.length + MIB;
      slow.socket.resume();
    }
    return answered > 0;
  }, "closing the stalled connection");
  noteGap();
  slow.socket.off("data", pauseWhenRead).resume();
  const text = await slow.closed();
  stalled.socket.resume();
  await stalled.closed();
  await server.running.close();
  assert.ok(stalled.length < 15 * MIB, `${stalled.length} bytes`);
  const isWhole = text.endsWith("0\r\n\r\n") && text.split("event: data").length - 1 === 40;
  assert.ok(isWhole || longestGapMs > stalledMs / 2, "it was answered to the end");
  return { longestGapMs };
}

test("waiting readers up to the limit are served, the next is refused with Retry-After", async () => {
  const server = await startTestServer({ liveReadersMax: 2, longPollTimeoutMs: 60_000 });
  await server.put("/s", TYPE);
  const url = `${server.at("/s")}?offset=now&live=long-poll`;
  const leaving = new AbortController();
  const waiting = [fetch(url), fetch(url, { signal: leaving.signal })];
  waiting[1]?.catch(() => {});
  await liveReaders(server.url, 2);
  for (const live of ["long-poll", "sse"]) {
    const third = await fetch(`${server.at("/s")}?offset=now&live=${live}`);
    assert.equal(third.headers.get("retry-after"), "1");
    assert.deepEqual(await refused(third), [429, "TOO_MANY_READERS"]);
  }
  leaving.abort();
  await liveReaders(server.url, 1);
  const third = fetch(url);
  await liveReaders(server.url, 2);
  await server.post("/s", TYPE, "news");
  for (const response of await Promise.all([waiting[0], third])) {
    assert.equal(await response?.text(), "news");
  }
});

/** Resolves when that many readers wait. */
async function liveReaders(url: string, count: number): Promise<void> {
  await until(async () => {
    const health = (await (await fetch(`${url}/health`)).json()) as { liveReaders: number };
    return health.liveReaders === count;
  }, `waiting of ${count} readers`);
}

test("a producer's id has a limit, because it is stored with every append", async () => {
  const server = await startTestServer();
  await server.put("/s", TYPE);
  const append = (id: string) => {
    const headers = { "Content-Type": TYPE, "Producer-Id": id, "Producer-Epoch": "0" };
    const init = { method: "POST", headers: { ...headers, "Producer-Seq": "0" }, body: "x" };
    return fetch(server.at("/s"), init);
  };
  assert.equal((await append("p".repeat(256))).status, 200);
  assert.deepEqual(await refused(await append("p".repeat(257))), [400, "BAD_REQUEST"]);
});
