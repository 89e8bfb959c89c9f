/** A disk that fails or returns wrong bytes: an answer reports it, and none is 200. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { serveStore } from "../../src/server/serve.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { WatchedFiles } from "../support/watched-files.ts";
import { RawConnection } from "./raw-http.ts";
import { header, JSON_TYPE, refused, startTestServer, testServer } from "./test-server.ts";

/** Flips one bit of the only log file, and returns a function that restores it. */
function flipBit(directory: string, at: number): () => void {
  const logs = join(directory, "logs");
  const [name = ""] = readdirSync(logs);
  const path = join(logs, name);
  const bytes = readFileSync(path);
  const flipped = Buffer.from(bytes);
  flipped.writeUInt8((flipped[at] ?? 0) ^ 1, at);
  writeFileSync(path, flipped);
  return () => writeFileSync(path, bytes);
}

test("a flipped bit is an error in every read mode, wherever it is, and no damaged byte is served", async () => {
  const server = await startTestServer({ longPollTimeoutMs: 100 });
  const messages = '[{"n":1},{"n":2},{"n":3}]';
  await server.put("/s", JSON_TYPE, { body: messages });
  for (let at = 0; at < 24; at++) {
    const restore = flipBit(server.directory, at);
    for (const query of ["", "?offset=-1&live=long-poll", "?offset=-1&live=sse"]) {
      const response = await fetch(`${server.at("/s")}${query}`);
      assert.deepEqual(await refused(response), [500, "STREAM_DAMAGED"], `bit ${at} ${query}`);
    }
    restore();
  }
  assert.equal(await (await fetch(server.at("/s"))).text(), messages);
});

test("damage in the middle stops a reader there: all bytes before it are served", async () => {
  const server = await startTestServer({ chunkBytes: 1000 });
  await server.put("/s", "text/plain");
  for (let n = 0; n < 10; n++) await server.post("/s", "text/plain", String(n).repeat(900));
  flipBit(server.directory, 4 * 900 + 10);
  let offset = "-1";
  for (let n = 0; n < 4; n++) {
    const response = await fetch(`${server.at("/s")}?offset=${offset}`);
    assert.equal(await response.text(), String(n).repeat(900));
    offset = header(response, "stream-next-offset");
  }
  const damaged = await fetch(`${server.at("/s")}?offset=${offset}`);
  assert.deepEqual(await refused(damaged), [500, "STREAM_DAMAGED"]);

  // A reader of events is disconnected there, and gets the error when it reconnects.
  const connection = await RawConnection.open(server.url);
  connection.send("GET", "/v1/stream/s?offset=-1&live=sse");
  const received = await connection.closed();
  assert.match(received, /data:3{900}/);
  assert.doesNotMatch(received, /data:4/);
  assert.equal(received.endsWith("0\r\n\r\n"), false);
  const again = await fetch(`${server.at("/s")}?offset=${offset}&live=sse`);
  assert.deepEqual(await refused(again), [500, "STREAM_DAMAGED"]);
});

test("after a failed sync writes are 503, health reports it, and reads continue", async () => {
  const files = new WatchedFiles();
  const directory = tempDirectory();
  const store = await openLocalStore({ dataDirectory: directory, host: files.host });
  const running = await serveStore(store, { port: 0, dataDirectory: directory });
  onTestFinished(() => running.close().catch(() => {})); // It cannot sync the rest.
  const server = testServer(running, directory);
  await server.put("/s", "text/plain", { body: "kept" });

  let isBroken = true;
  files.before = ({ call }) => {
    if (isBroken && call === "sync") throw Object.assign(new Error("EIO"), { code: "EIO" });
    return undefined;
  };
  const append = () => {
    const headers = { "Content-Type": "text/plain" };
    return fetch(server.at("/s"), { method: "POST", headers, body: "lost" });
  };
  assert.deepEqual(await refused(await append()), [503, "STORE_FAILED"]);
  isBroken = false; // A disk that works again may still have dropped earlier writes.
  assert.deepEqual(await refused(await append()), [503, "STORE_FAILED"]);
  const creation = await fetch(server.at("/other"), { method: "PUT" });
  assert.deepEqual(await refused(creation), [503, "STORE_FAILED"]);
  const deletion = await fetch(server.at("/s"), { method: "DELETE" });
  assert.deepEqual(await refused(deletion), [503, "STORE_FAILED"]);

  const health = await fetch(`${server.url}/health`);
  assert.equal(health.status, 503);
  const said = (await health.json()) as { status: string; reason: string };
  assert.equal(said.status, "read-only");
  assert.ok(said.reason.length > 0);
  assert.equal(await (await fetch(server.at("/s"))).text(), "kept");
});

test("on a full disk an append that does not fit is 507, and a smaller one may still fit", async () => {
  const files = new WatchedFiles();
  const directory = tempDirectory();
  const store = await openLocalStore({ dataDirectory: directory, host: files.host });
  const running = await serveStore(store, { port: 0, dataDirectory: directory });
  onTestFinished(() => running.close());
  const server = testServer(running, directory);
  await server.put("/s", "text/plain");
  files.before = ({ call }) => {
    if (call === "write") throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    return undefined;
  };
  const headers = { "Content-Type": "text/plain" };
  const full = await fetch(server.at("/s"), { method: "POST", headers, body: "lost" });
  assert.deepEqual(await refused(full), [507, "NO_SPACE"]);
  files.before = () => undefined;
  await server.post("/s", "text/plain", "kept");
  assert.equal(await (await fetch(server.at("/s"))).text(), "kept");
});
