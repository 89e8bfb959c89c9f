/**
 * Probes: cases that the protocol's suite does not cover and servers get wrong. The reference server
 * (0.3.7, file store) fails eleven of these twelve.
 */

import assert from "node:assert/strict";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { startChild } from "../support/child.ts";
import { PULL, send } from "../support/subscription-http.ts";
import { diskDirectory, tempDirectory } from "../support/temp-directory.ts";
import { RawConnection } from "./raw-http.ts";
import { header, JSON_TYPE, refused, startTestServer } from "./test-server.ts";

const MIB = 1024 * 1024;
const TEXT = "text/plain";
const PROGRAM = "test/support/serving-child.ts";

/** A server in its own process, which can be killed. */
async function startKillable(directory: string) {
  const child = startChild(PROGRAM, directory);
  const url = (await child.line()) ?? assert.fail("the server did not start");
  const at = (path: string) => `${url}/v1/stream${path}`;
  return { at, kill: () => child.kill() };
}

function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: "POST", headers: { "Content-Type": TEXT, ...headers }, body });
}

function put(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: "PUT", headers: { "Content-Type": TEXT, ...headers } });
}

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text();
}

test("1: an append after a restart over torn tails is stored, and stays stored", async () => {
  const directory = diskDirectory();
  const first = await startKillable(directory);
  await put(first.at("/s"));
  await post(first.at("/s"), "one ");
  await first.kill();
  // As a crash leaves them: the start of a record, the start of a message.
  const journals = join(directory, "journal");
  const [segment = ""] = readdirSync(journals).sort().reverse();
  appendFileSync(join(journals, segment), '{"lsn":3,"batch":3,"op":"append","path":"/s"');
  appendFileSync(join(directory, "logs", "s.bin"), "torn");

  const second = await startKillable(directory);
  assert.equal((await post(second.at("/s"), "two")).status, 204);
  assert.equal(await textOf(second.at("/s")), "one two");
  await second.kill();

  const third = await startKillable(directory);
  assert.equal(await textOf(third.at("/s")), "one two");
});

test("2: concurrent appends to 256 streams are all accepted, once", async () => {
  const server = await startTestServer();
  const paths = Array.from({ length: 256 }, (_, n) => `/s${n}`);
  await Promise.all(paths.map((path) => server.put(path, TEXT)));
  const answers = await Promise.all(paths.map((path) => post(server.at(path), `for ${path}`)));
  for (const { status } of answers) assert.equal(status, 204);
  const texts = await Promise.all(paths.map((path) => textOf(server.at(path))));
  assert.deepEqual(
    texts,
    paths.map((path) => `for ${path}`),
  );
});

test("3: 10,000 streams accept appends over 32 connections, none is refused", async () => {
  const { at } = await startKillable(tempDirectory());
  const connections = await Promise.all(
    Array.from({ length: 32 }, () => RawConnection.open(at("/"))),
  );
  const perConnection = Math.ceil(10_000 / connections.length);
  // Some at a time: this tests the server's capacity, not the network's.
  const together = 50;
  const sendAll = async (method: string, body: string, status: RegExp) => {
    const sendSome = async (connection: RawConnection, c: number) => {
      let read = connection.text.length;
      let answered = 0;
      /** Looks only at what was received since the last call, up to the end of a head. */
      const areAnswered = (text: string, count: number) => {
        const end = Math.max(read, text.lastIndexOf("\r\n\r\n"));
        answered += [...text.slice(read, end).matchAll(status)].length;
        read = end;
        return answered >= count;
      };
      for (let n = 0; n < perConnection; n++) {
        const headers = { "Content-Type": TEXT, "Content-Length": String(body.length) };
        connection.send(method, `/v1/stream/s${c}-${n}`, headers);
        connection.socket.write(body);
        if ((n + 1) % together > 0 && n + 1 < perConnection) continue;
        await connection.until((text) => areAnswered(text, n + 1));
      }
    };
    await Promise.all(connections.map(sendSome));
  };
  await sendAll("PUT", "", /HTTP\/1\.1 201 /g);
  await sendAll("POST", "x".repeat(200), /HTTP\/1\.1 204 /g);
  for (const { text, socket } of connections) {
    assert.doesNotMatch(text, /HTTP\/1\.1 [345]/);
    socket.destroy();
  }
  assert.equal((await textOf(at("/s31-312"))).length, 200);
});

test("4: JSON is returned as it was sent, numbers, duplicate keys and all", async () => {
  const server = await startTestServer();
  const sent = '{"b":1.0,"a":12345678901234567890,"a2":1e400,"k":1,"k":2}';
  await server.put("/s", JSON_TYPE);
  await server.post("/s", JSON_TYPE, sent);
  assert.equal(await textOf(server.at("/s")), `[${sent}]`);
});

test("5: a byte flipped on the disk is an error, not an answer", async () => {
  const server = await startTestServer();
  await server.put("/s", TEXT);
  await server.post("/s", TEXT, "as it was sent");
  const path = join(server.directory, "logs", "s.bin");
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(3) ^ 1, 3);
  writeFileSync(path, bytes);
  assert.deepEqual(await refused(await fetch(server.at("/s"))), [500, "STREAM_DAMAGED"]);
});

test("6: a cached answer does not outlive its stream, also if another stream gets its name", async () => {
  const server = await startTestServer();
  await server.put("/s", TEXT);
  await server.post("/s", TEXT, "one");
  const etag = header(await fetch(server.at("/s")), "etag");
  await fetch(server.at("/s"), { method: "DELETE" });
  await server.put("/s", TEXT);
  await server.post("/s", TEXT, "two");
  const response = await fetch(server.at("/s"), { headers: { "If-None-Match": etag } });
  assert.equal(response.status, 200);
  assert.equal(await response.text(), "two");
});

test("7: an offset of a deleted stream is refused by the next stream of its name", async () => {
  const server = await startTestServer();
  await server.put("/s", TEXT);
  const offset = header(await server.post("/s", TEXT, "one"), "stream-next-offset");
  await fetch(server.at("/s"), { method: "DELETE" });
  await server.put("/s", TEXT);
  await server.post("/s", TEXT, "two");
  const response = await fetch(`${server.at("/s")}?offset=${offset}`);
  assert.deepEqual(await refused(response), [410, "OFFSET_GONE"]);
});

test("8: Stream-Closed accepts true in any letter case", async () => {
  const server = await startTestServer();
  for (const value of ["true", "TRUE", "True"]) {
    const path = `/${value}`;
    await server.put(path, TEXT);
    const closed = await fetch(server.at(path), {
      method: "POST",
      headers: { "Stream-Closed": value },
    });
    assert.equal(closed.status, 204);
    assert.equal((await post(server.at(path), "late")).status, 409);
  }
});

test("9: a POST of 200 MB is refused, and its sender can read why", async () => {
  const server = await startTestServer();
  await server.put("/s", TEXT);
  const connection = await RawConnection.open(server.url);
  const headers = { "Content-Type": TEXT, "Content-Length": String(200 * MIB) };
  connection.send("POST", "/v1/stream/s", headers);
  connection.socket.write(Buffer.alloc(MIB));
  await connection.until((text) => /^HTTP\/1\.1 413 .*BODY_TOO_LARGE/s.test(text));
  connection.socket.destroy();
  assert.equal(await textOf(server.at("/s")), "");
});

test("10: a stream of 32 MB is read in bounded answers, and the last is marked as up to date", async () => {
  const server = await startTestServer();
  await server.put("/s", TEXT);
  for (let n = 0; n < 32; n++) await server.post("/s", TEXT, Buffer.alloc(MIB, n));
  let bytes = 0;
  for (let offset = "-1"; ; ) {
    const response = await fetch(`${server.at("/s")}?offset=${offset}`);
    const { byteLength } = await response.arrayBuffer();
    assert.ok(byteLength <= MIB, `${byteLength} at once`);
    bytes += byteLength;
    const isLast = response.headers.get("stream-up-to-date") === "true";
    assert.equal(isLast, bytes === 32 * MIB);
    if (isLast) break;
    offset = header(response, "stream-next-offset");
  }
});

test("11: a subscription survives kill -9", async () => {
  const directory = diskDirectory();
  const first = await startKillable(directory);
  assert.ok((await send(first, "PUT", "workers", PULL)).ok);
  await first.kill();
  const second = await startKillable(directory);
  const found = await send(second, "GET", "workers");
  assert.equal(found.status, 200);
  assert.match(await found.text(), /"pattern":"events\/\*"/);
});

test("12: a producer's retry after kill -9 is recognised", async () => {
  const directory = diskDirectory();
  const turn = { "Producer-Id": "p", "Producer-Epoch": "0", "Producer-Seq": "0" };
  const first = await startKillable(directory);
  await put(first.at("/s"));
  assert.equal((await post(first.at("/s"), "once", turn)).status, 200);
  await first.kill();
  const second = await startKillable(directory);
  assert.equal((await post(second.at("/s"), "once", turn)).status, 204);
  assert.equal(await textOf(second.at("/s")), "once");
});
