/** Connections that are slow, silent, too many, or send too much ahead. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { onTestFinished, test } from "vitest";
import { serveStore } from "../../src/server/serve.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { endTime, nodeServer } from "../server/node-server.ts";
import { RawConnection, rawStatus } from "../server/raw-http.ts";
import { refused, startTestServer, testServer } from "../server/test-server.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { WatchedFiles } from "../support/watched-files.ts";

const TYPE = "text/plain";

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1) ?? Number.NaN);
}

const MINUTE_MS = 60_000;

/** Sends a byte now and then until the server closes the connection. */
async function dribbled({ socket }: RawConnection): Promise<void> {
  const dribble = setInterval(() => socket.write("x"), 20);
  await until(() => socket.closed, "closing the slow connection");
  clearInterval(dribble);
}

test("silent and slow clients are disconnected; fast ones are not", async () => {
  const limits = { headersTimeoutMs: 2 * MINUTE_MS, requestTimeoutMs: 10 * MINUTE_MS };
  const server = await startTestServer(limits);
  const node = await nodeServer(server.url);
  assert.deepEqual([node.headersTimeout, node.requestTimeout], [2 * MINUTE_MS, 10 * MINUTE_MS]);
  const [fast, silent, slow] = [
    await RawConnection.open(server.url),
    await RawConnection.open(server.url),
    await RawConnection.open(server.url),
  ];
  const answers = (count: number) => fast.until((text) => text.split(" 200 OK").length > count);
  fast.send("GET", "/health");
  await answers(1);
  slow.socket.write("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
  node.headersTimeout = 1;
  await Promise.all([silent.closed(), dribbled(slow)]);
  node.headersTimeout = 2 * MINUTE_MS;
  assert.match(slow.text, /^HTTP\/1\.1 408 /);
  fast.send("GET", "/health");
  await answers(2);
  fast.socket.destroy();
  assert.equal(
    await metric(server.url, 'verbatim_http_broken_requests_total{reason="timeout"}'),
    2,
  );
});

test("a body that arrives byte by byte ends at the request timeout, and is not appended", async () => {
  const server = await startTestServer();
  const node = await nodeServer(server.url);
  await server.put("/s", TYPE);
  const slow = await RawConnection.open(server.url);
  slow.send("POST", "/v1/stream/s", { "Content-Type": TYPE, "Content-Length": "100000" });
  const inFlight = () => metric(server.url, "verbatim_requests_in_flight");
  await until(async () => (await inFlight()) === 2, "the request");
  const restore = endTime(node);
  await dribbled(slow);
  restore();
  assert.match(slow.text, /^HTTP\/1\.1 408 /);
  assert.equal(await (await fetch(server.at("/s"))).text(), "");
});

test("an idle connection is closed", async () => {
  const server = await startTestServer({ keepAliveTimeoutMs: 200 });
  const connection = await RawConnection.open(server.url);
  connection.send("GET", "/health");
  await once(connection.socket, "data");
  await connection.closed();
});

test("a waiting reader is not slow, however short the request timeout is", async () => {
  const server = await startTestServer({ longPollTimeoutMs: 10 * MINUTE_MS });
  const node = await nodeServer(server.url);
  await server.put("/s", TYPE);
  const reading = fetch(`${server.at("/s")}?offset=now&live=long-poll`);
  await until(async () => (await metric(server.url, "verbatim_live_readers")) === 1, "waiting");
  const silent = await RawConnection.open(server.url); // Began later, and has the same limit.
  const restore = endTime(node);
  await silent.closed();
  restore();
  await server.post("/s", TYPE, "news");
  assert.equal(await (await reading).text(), "news");
});

test("connections up to the limit are served, the next is refused with Retry-After", async () => {
  const server = await startTestServer({ connectionsMax: 3 });
  const open = async () => {
    const connection = await RawConnection.open(server.url);
    connection.send("GET", "/health");
    await once(connection.socket, "data");
    return connection;
  };
  const first = [await open(), await open(), await open()];
  for (const { text } of first) assert.match(text, /^HTTP\/1\.1 200 /);
  const fourth = await open();
  await fourth.closed();
  assert.match(fourth.text, /^HTTP\/1\.1 503 .*Retry-After: 1.*OVERLOADED.*connectionsMax/s);
  first[0]?.socket.destroy();
  const isServed = async () => (await rawStatus(server.url, "GET", "/health")) === 200;
  await until(isServed, "freeing its place");
  for (const { socket } of first) socket.destroy();
});

test("concurrent requests up to the limit are served, the next is refused with Retry-After", async () => {
  const server = await startTestServer({ requestsMax: 2, longPollTimeoutMs: 60_000 });
  await server.put("/s", TYPE);
  const url = `${server.at("/s")}?offset=now&live=long-poll`;
  const leaving = new AbortController();
  const waiting = [fetch(url), fetch(url, { signal: leaving.signal })];
  waiting[1]?.catch(() => {});
  const health = async () => (await fetch(`${server.url}/health`)).status;
  await until(async () => (await health()) !== 200, "reaching the limit");
  const third = await fetch(`${server.url}/health`);
  assert.equal(third.headers.get("retry-after"), "1");
  assert.deepEqual(await refused(third), [503, "OVERLOADED"]);
  leaving.abort();
  await until(async () => (await health()) === 200, "freeing the place of a client that left");
  assert.equal(await metric(server.url, "verbatim_requests_in_flight"), 2);
});

test("pipelined requests are answered in order up to the limit; past it the connection is closed", async () => {
  const pipelinedMax = 8;
  const server = await startTestServer({ pipelinedMax });
  await server.put("/s", TYPE);
  const pipeline = async (count: number) => {
    const connection = await RawConnection.open(server.url);
    const body = (n: number) => `${n};`;
    const post = (n: number) =>
      `POST /v1/stream/s HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${TYPE}\r\n` +
      `Content-Length: ${body(n).length}\r\n\r\n${body(n)}`;
    connection.socket.write(Array.from({ length: count }, (_, n) => post(n)).join(""));
    return connection;
  };
  const within = await pipeline(pipelinedMax);
  while ((within.text.match(/HTTP\/1\.1 204/g) ?? []).length < pipelinedMax) {
    await once(within.socket, "data");
  }
  assert.equal(await (await fetch(server.at("/s"))).text(), "0;1;2;3;4;5;6;7;");
  within.socket.destroy();
  const past = await pipeline(pipelinedMax + 1);
  await past.closed();
  const isOver = async () => (await metric(server.url, "verbatim_requests_in_flight")) === 1;
  await until(isOver, "the end of its requests");
  assert.equal(
    await metric(server.url, 'verbatim_http_broken_requests_total{reason="pipelined"}'),
    1,
  );
});

test("a request head at the limit is read whole, however many lines it has; a longer one is 431", async () => {
  const server = await startTestServer({ headerBytesMax: 8000 });
  const ask = (bytes: number) => {
    const headers = { Connection: "close", "X-Long": "x".repeat(bytes) };
    return rawStatus(server.url, "GET", "/health", headers);
  };
  assert.equal(await ask(7800), 200);
  assert.equal(await ask(8000), 431);
  await server.put("/s", TYPE);
  const connection = await RawConnection.open(server.url);
  const many = Array.from({ length: 1300 }, () => "a:b\r\n").join("");
  connection.socket.write(
    `POST /v1/stream/s HTTP/1.1\r\nHost: localhost\r\n${many}Content-Type: ${TYPE}\r\n` +
      "Content-Length: 1\r\nConnection: close\r\n\r\nx",
  );
  assert.match(await connection.closed(), /^HTTP\/1\.1 204 /);
});

test("one stream may have its limit of appends and bytes in progress, and no more", async () => {
  const dataDirectory = tempDirectory();
  const files = new WatchedFiles();
  const limits = { streamAppendsMax: 3, streamBytesMax: 100 };
  const store = await openLocalStore({ dataDirectory, host: files.host });
  const server = testServer(await serveStore(store, { port: 0, dataDirectory, ...limits }), "");
  onTestFinished(() => server.running.close());
  /** Sends appends of these sizes in this order while the disk is slow; returns their statuses. */
  const together = async (path: string, ...sizes: readonly number[]) => {
    await fetch(server.at(path), { method: "PUT", headers: { "Content-Type": TYPE } });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    files.before = ({ call, name }) => (call === "sync" && name.endsWith(".j") ? held : undefined);
    const refusedBefore = await busy();
    const connection = await RawConnection.open(server.url);
    const head = `POST /v1/stream${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${TYPE}\r\n`;
    const requests = sizes.map((n) => `${head}Content-Length: ${n}\r\n\r\n${"x".repeat(n)}`);
    connection.socket.write(requests.join(""));
    await until(async () => (await busy()) !== refusedBefore, "a refusal");
    release();
    const statuses = () => [...connection.text.matchAll(/HTTP\/1\.1 (\d+)/g)];
    await connection.until(() => statuses().length === sizes.length);
    connection.socket.destroy();
    assert.match(connection.text, /429 .*Retry-After: 1\r\n.*STREAM_BUSY/s);
    return statuses().map(([, status]) => Number(status));
  };
  const busy = () => metric(server.url, 'verbatim_errors_total{code="STREAM_BUSY"}');
  assert.deepEqual(await together("/appends", 1, 1, 1, 1), [204, 204, 204, 429]);
  assert.deepEqual(await together("/bytes", 60, 40, 1), [204, 204, 429]);
  assert.deepEqual(await together("/large", 1000, 1), [204, 429]); // A single append may have any size.
  // Refused appends stored nothing.
  assert.deepEqual(await together("/appends", 1, 1, 1, 1), [204, 204, 204, 429]);
});
