/** Rules of the protocol that its suite does not cover. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { ManualTime } from "../support/manual-time.ts";
import { RawConnection, rawStatus } from "./raw-http.ts";
import { header, JSON_TYPE, refused, startTestServer } from "./test-server.ts";

test("Stream-Closed is accepted in any letter case, on PUT and on POST", async () => {
  const server = await startTestServer();
  const closed = { "Stream-Closed": "TRUE" };
  const made = await server.put("/made-closed", "text/plain", { headers: closed });
  assert.equal(header(made, "stream-closed"), "true");

  await server.put("/closed", "text/plain");
  const closing = await fetch(server.at("/closed"), { method: "POST", headers: closed });
  assert.equal(closing.status, 204);
  const head = await fetch(server.at("/closed"), { method: "HEAD" });
  assert.equal(header(head, "stream-closed"), "true");

  await server.put("/open", "text/plain");
  const headers = { "Stream-Closed": "yes", "Content-Type": "text/plain" };
  await fetch(server.at("/open"), { method: "POST", headers, body: "still open" });
  assert.equal((await server.post("/open", "text/plain", "indeed")).status, 204);
});

test("after delete and recreate an old ETag does not match and an old offset is refused", async () => {
  const server = await startTestServer();
  const url = server.at("/again");
  await server.put("/again", JSON_TYPE, { body: '[{"n":1},{"n":2}]' });
  const before = await fetch(url);
  const tag = header(before, "etag");
  const offset = header(before, "stream-next-offset");
  const known = { "If-None-Match": tag };
  assert.equal((await fetch(url, { headers: known })).status, 304);

  assert.equal((await fetch(url, { method: "DELETE" })).status, 204);
  // The same bytes, so that only the stream's identity distinguishes them.
  await server.put("/again", JSON_TYPE, { body: '[{"n":1},{"n":2}]' });

  const after = await fetch(url, { headers: known });
  assert.equal(after.status, 200);
  assert.notEqual(header(after, "etag"), tag);
  assert.deepEqual(await after.json(), [{ n: 1 }, { n: 2 }]);
  assert.ok(header(after, "stream-next-offset") > offset);
  for (const live of ["", "&live=long-poll", "&live=sse"]) {
    const gone = await fetch(`${url}?offset=${offset}${live}`);
    assert.deepEqual(await refused(gone), [410, "OFFSET_GONE"], live);
  }
});

test("an ETag matches as one of several, or if it was made weak on the way", async () => {
  const server = await startTestServer();
  await server.put("/tagged", "text/plain", { body: "x" });
  const url = server.at("/tagged");
  const tag = header(await fetch(url), "etag");
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, `"a" , W/${tag}`]) {
    const response = await fetch(url, { headers: { "If-None-Match": known } });
    assert.equal(response.status, 304, known);
    assert.equal(header(response, "etag"), tag);
  }
  for (const other of ['"other"', tag.slice(1, -1)]) {
    assert.equal((await fetch(url, { headers: { "If-None-Match": other } })).status, 200, other);
  }
});

test("an ETag changes when the stream is closed, though no byte does", async () => {
  const server = await startTestServer();
  await server.put("/tagged", "text/plain", { body: "x" });
  const url = server.at("/tagged");
  const open = header(await fetch(url), "etag");
  await fetch(url, { method: "POST", headers: { "Stream-Closed": "true" } });
  const response = await fetch(url, { headers: { "If-None-Match": open } });
  assert.equal(response.status, 200);
  assert.equal(header(response, "stream-closed"), "true");
});

test("an answer may be cached for as long as the stream is certain to live", async () => {
  const time = new ManualTime();
  const server = await startTestServer({ time });
  const cached = async (path: string, query = "") => {
    const response = await fetch(`${server.at(path)}${query}`);
    return header(response, "cache-control");
  };
  await server.put("/long", "text/plain", { body: "x" });
  assert.equal(await cached("/long"), "private, max-age=60, stale-while-revalidate=300");
  await server.put("/short", "text/plain", { body: "x", headers: { "Stream-TTL": "10" } });
  assert.equal(await cached("/short"), "private, max-age=10, stale-while-revalidate=0");
  const soon = new Date(time.nowMs() + 90_500).toISOString();
  await server.put("/soon", "text/plain", { body: "x", headers: { "Stream-Expires-At": soon } });
  assert.match(await cached("/soon"), /^private, max-age=60, stale-while-revalidate=30$/);
  await server.put("/empty", "text/plain");
  assert.equal(await cached("/empty"), "private, no-cache");
  assert.equal(await cached("/long", "?offset=now"), "no-store");
});

test("a chunk is bounded, and only the last one is marked as up to date", async () => {
  const server = await startTestServer();
  const message = (n: number) => JSON.stringify({ n, text: "x".repeat(300_000) });
  await server.put("/long", JSON_TYPE);
  for (let n = 0; n < 12; n++) await server.post("/long", JSON_TYPE, message(n));
  const headers = { "Stream-Closed": "true" };
  await fetch(server.at("/long"), { method: "POST", headers });

  const numbers: number[] = [];
  let offset = "-1";
  for (;;) {
    const response = await fetch(`${server.at("/long")}?offset=${offset}`);
    const text = await response.text();
    assert.ok(text.length <= 1024 * 1024 + 1, `${text.length} bytes in one answer`);
    for (const { n } of JSON.parse(text)) numbers.push(n);
    offset = header(response, "stream-next-offset");
    const isLast = numbers.length === 12;
    assert.equal(response.headers.has("stream-up-to-date"), isLast);
    assert.equal(response.headers.has("stream-closed"), isLast);
    if (isLast) break;
  }
  assert.deepEqual(
    numbers,
    numbers.map((_, n) => n),
  );
});

test("a message longer than a chunk is read whole", async () => {
  const server = await startTestServer({ chunkBytes: 1000 });
  const bytes = Buffer.alloc(5000, "abc");
  await server.put("/long", "application/octet-stream", { body: bytes });
  await server.post("/long", "application/octet-stream", "more");
  const response = await fetch(server.at("/long"));
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
  assert.equal(response.headers.has("stream-up-to-date"), false);
});

test("JSON is returned as it was posted: numbers, duplicate keys, escapes", async () => {
  const server = await startTestServer();
  const message = '{"b":1.0,"a":12345678901234567890,"a2":1e400,"k":1,"k":2,"u":"\\u00e9é"}';
  await server.put("/exact", JSON_TYPE, { body: message });
  await server.post("/exact", JSON_TYPE, `[ ${message} ,\r\n [1.50, 2] ]`);
  const text = await (await fetch(server.at("/exact"))).text();
  assert.equal(text, `[${message},${message},[1.50, 2]]`);
});

test("paths that cannot be a file name, or lead to another place, are refused", async () => {
  const server = await startTestServer();
  const hostile = [
    "/../secret",
    "/a/../b",
    "/%2e%2e/b",
    "/a/%2E%2E",
    "/..%2fsecret",
    "/a%00b",
    "/a%0ab",
    "/a%5cb",
    "/a%3ab",
    "/a%3cb",
    "/a%3eb",
    "/a%7cb",
    "/a%22b",
    "/a%3fb",
    "/a%7fb",
    "/%ff",
    "/",
    "/%",
    "/__ds%2Fx",
    "/a/./b",
    "/a/%2e",
    "/.",
  ];
  for (const path of hostile) {
    for (const method of ["PUT", "POST", "GET", "HEAD", "DELETE"]) {
      const headers = { "Content-Type": "text/plain", "Content-Length": "0" };
      const status = await rawStatus(server.url, method, `/v1/stream${path}`, headers);
      assert.equal(status, 400, `${method} ${path}`);
    }
  }
});

test("a missing stream is 404 with a code, and an unsupported method is 405", async () => {
  const server = await startTestServer();
  assert.deepEqual(await refused(await fetch(server.at("/none"))), [404, "STREAM_NOT_FOUND"]);
  assert.deepEqual(await refused(await fetch(`${server.url}/elsewhere`)), [404, "NOT_FOUND"]);
  assert.deepEqual(await refused(await fetch(`${server.url}/v1/stream`)), [404, "NOT_FOUND"]);
  for (const [method, url, allowed] of [
    ["PATCH", server.at("/none"), /^GET, HEAD, POST, PUT, DELETE, OPTIONS$/],
    ["POST", `${server.url}/health`, /^GET, HEAD, OPTIONS$/],
    ["POST", `${server.url}/`, /^GET, HEAD, OPTIONS$/],
    ["POST", `${server.url}/v1/share`, /^GET, HEAD, OPTIONS$/],
    ["POST", `${server.url}/v1/search`, /^GET, HEAD, OPTIONS$/],
    ["PUT", `${server.url}/v1/sessions`, /^GET, HEAD, POST, OPTIONS$/],
  ] as const) {
    const response = await fetch(url, { method });
    assert.match(header(response, "allow"), allowed);
    assert.deepEqual(await refused(response), [405, "METHOD_NOT_ALLOWED"], url);
  }
  const posted = await fetch(`${server.url}/elsewhere`, { method: "POST" });
  assert.deepEqual(await refused(posted), [404, "NOT_FOUND"]);
});

test("a value of live that the protocol does not have is refused with those that it has", async () => {
  const server = await startTestServer();
  await server.put("/s", JSON_TYPE);
  for (const live of ["foo", "", "true", "SSE"]) {
    const response = await fetch(`${server.at("/s")}?offset=-1&live=${live}`);
    assert.match(await response.clone().text(), /live must be long-poll or sse/);
    assert.deepEqual(await refused(response), [400, "BAD_REQUEST"], live);
  }
});

test("an append of another type is refused with both types", async () => {
  const server = await startTestServer();
  await server.put("/s", JSON_TYPE);
  const headers = { "Content-Type": "text/plain" };
  const response = await fetch(server.at("/s"), { method: "POST", headers, body: "x" });
  assert.match(
    await response.clone().text(),
    /the stream is application\/json, the request text\/plain; send Content-Type: application\/json/,
  );
  assert.deepEqual(await refused(response), [409, "TYPE_DIFFERS"]);
});

test("an offset past the end, or inside a message, is refused", async () => {
  const server = await startTestServer();
  await server.put("/s", JSON_TYPE, { body: '{"n":1}' });
  for (const offset of ["0000000000000000_0000000000000003", "0000000000000000_0000000000000999"]) {
    const response = await fetch(`${server.at("/s")}?offset=${offset}`);
    assert.deepEqual(await refused(response), [400, "BAD_OFFSET"], offset);
  }
});

test("a body with a content coding is refused, because readers would not know of it", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/plain");
  const headers = { "Content-Type": "text/plain", "Content-Encoding": "gzip" };
  const response = await fetch(server.at("/s"), { method: "POST", headers, body: "x" });
  assert.deepEqual(await refused(response), [400, "BAD_REQUEST"]);
});

test("a body in a transfer coding other than chunked is refused, and not stored", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/plain");
  const connection = await RawConnection.open(server.url);
  const headers = { "Content-Type": "text/plain", Connection: "close" };
  connection.send("POST", "/v1/stream/s", { ...headers, "Transfer-Encoding": "gzip, chunked" });
  connection.socket.write("3\r\nabc\r\n0\r\n\r\n");
  assert.match(await connection.closed(), /^HTTP\/1\.1 501 .*NOT_IMPLEMENTED/s);
  const plain = await RawConnection.open(server.url);
  plain.send("POST", "/v1/stream/s", { ...headers, "Transfer-Encoding": "Chunked" });
  plain.socket.write("3\r\nabc\r\n0\r\n\r\n");
  assert.match(await plain.closed(), /^HTTP\/1\.1 204 /);
  assert.equal(await (await fetch(server.at("/s"))).text(), "abc");
});

test("the root is a page, and health reports that writes are accepted", async () => {
  const server = await startTestServer();
  const page = await fetch(`${server.url}/`);
  assert.equal(page.status, 200);
  assert.match(header(page, "content-type"), /^text\/html/);
  assert.match(await page.text(), /Verbatim/);
  const health = await fetch(`${server.url}/health`);
  assert.equal(health.status, 200);
  assert.equal(((await health.json()) as { status: string }).status, "ok");
});
