/** Answers that readers do not read stay in memory, up to a limit. */

import assert from "node:assert/strict";
import { expect, onTestFinished, test } from "vitest";
import { serveStore } from "../../src/server/serve.ts";
import { CHUNKS_READ_MAX } from "../../src/server/settings/limits.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { Gate } from "../support/gate.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { WatchedFiles } from "../support/watched-files.ts";
import { RawConnection } from "./raw-http.ts";
import { refused, startTestServer, type TestServer, testServer } from "./test-server.ts";

const TYPE = "text/plain";
/** More than the socket buffers of a connection hold. */
const LARGE = 15 * 1024 * 1024;

async function startWithStreams(answersBytesMax: number): Promise<TestServer> {
  const server = await startTestServer({ answersBytesMax });
  await server.put("/large", TYPE, { body: "x".repeat(LARGE) });
  await server.put("/small", TYPE, { body: "x" });
  await server.put("/empty", TYPE);
  return server;
}

/** A connection that requests streams, one after the other, and reads nothing. */
async function stalled(server: TestServer, ...targets: readonly string[]): Promise<RawConnection> {
  const connection = await RawConnection.open(server.url);
  connection.socket.pause();
  for (const target of targets) connection.send("GET", `/v1/stream${target}`);
  return connection;
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}

/** Waits until the server holds so many bytes of answers in memory. */
function held(server: TestServer, bytes: number): Promise<void> {
  return expect
    .poll(() => metric(server, "answer_bytes"), {
      timeout: 60_000,
      message: "bytes of answers held",
    })
    .toBe(bytes);
}

async function metric(server: TestServer, name: string): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^verbatim_${name} (\\d+)$`, "m").exec(metrics)?.[1]);
}

async function statusesOf(connection: RawConnection): Promise<string[]> {
  connection.send("GET", "/v1/stream/empty", { Connection: "close" });
  connection.socket.resume();
  const answers = (await connection.closed()).matchAll(/HTTP\/1\.1 (\d+)/g);
  return [...answers].map(([, status = ""]) => status);
}

test("a message of any length is sent to the only reader; others get 429 until it is taken", async () => {
  const server = await startWithStreams(1000);
  const reader = await stalled(server, "/large");
  await held(server, LARGE);
  for (const query of ["", "?offset=-1&live=long-poll", "?offset=-1&live=sse"]) {
    const response = await fetch(server.at(`/small${query}`));
    assert.equal(response.headers.get("retry-after"), "1");
    assert.deepEqual(await refused(response), [429, "TOO_MANY_READERS"]);
  }
  assert.equal(await statusOf(server.at("/empty")), 200, "an empty stream needs no memory");
  assert.deepEqual(await statusesOf(reader), ["200", "200"]);
  await held(server, 0);
  assert.equal(await statusOf(server.at("/small")), 200);
});

test("bytes held may reach the limit, but not exceed it by one", async () => {
  const server = await startWithStreams(LARGE + 1);
  await server.put("/two", TYPE, { body: "xx" });
  const reader = await stalled(server, "/large");
  await held(server, LARGE);
  assert.equal(await statusOf(server.at("/two")), 429);
  assert.equal(await statusOf(server.at("/small")), 200);
  reader.socket.destroy();
  await held(server, 0);
});

test("a closed connection releases the bytes of all its requests", async () => {
  const server = await startWithStreams(3 * LARGE);
  const reader = await stalled(server, "/large", "/large", "/large");
  await held(server, 3 * LARGE);
  reader.socket.resetAndDestroy();
  await held(server, 0);
});

test("pipelined requests past the limit are refused as well", async () => {
  const server = await startWithStreams(LARGE);
  const reader = await stalled(server, "/large", "/large", "/large");
  await held(server, LARGE);
  const statuses = await statusesOf(reader);
  assert.deepEqual(statuses.sort(), ["200", "200", "429", "429"]);
});

test("old events count as held until the reader has taken them", async () => {
  const server = await startWithStreams(LARGE);
  const reader = await stalled(server, "/large?offset=-1&live=sse");
  await held(server, LARGE);
  reader.socket.resume();
  await held(server, 0); // And it continues to read.
  await server.post("/large", TYPE, "news");
  await reader.until((text) => text.includes("data:news"));
  reader.socket.destroy();
});

test("many concurrent requests are read for a few at a time, and all are answered", async () => {
  const files = new WatchedFiles();
  const dataDirectory = tempDirectory();
  const store = await openLocalStore({ dataDirectory, host: files.host });
  const running = await serveStore(store, { port: 0, dataDirectory });
  onTestFinished(() => running.close());
  const server = testServer(running, dataDirectory);
  await server.put("/s", TYPE, { body: "x" });

  const gate = new Gate();
  let reading = 0;
  let readingMost = 0;
  files.before = ({ call, name }) => {
    if (call !== "read" || !name.endsWith(".bin")) return undefined;
    readingMost = Math.max(readingMost, ++reading);
    return gate.pass().then(() => void reading--);
  };
  const requests = 3 * CHUNKS_READ_MAX;
  const asked = Array.from({ length: requests }, () => statusOf(server.at("/s")));
  await until(async () => (await metric(server, "requests_in_flight")) >= requests);
  await until(() => reading === CHUNKS_READ_MAX);
  gate.open();
  assert.ok((await Promise.all(asked)).every((status) => status === 200));
  assert.equal(readingMost, CHUNKS_READ_MAX);
});
