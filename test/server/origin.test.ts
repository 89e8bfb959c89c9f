/** Which web pages may use a server without tokens. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { RawConnection, rawStatus } from "./raw-http.ts";
import { header, startTestServer } from "./test-server.ts";

test("a page of this machine may use the server, and CORS headers allow it to read", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/plain", { body: "x" });
  for (const origin of ["http://localhost:5173", "http://127.0.0.1", "https://[::1]:8443"]) {
    const response = await fetch(server.at("/s"), { headers: { Origin: origin } });
    assert.equal(response.status, 200, origin);
    assert.equal(header(response, "access-control-allow-origin"), origin);
    assert.match(header(response, "access-control-expose-headers"), /Stream-Next-Offset/);
    assert.equal(header(response, "vary"), "Origin");
    const refusal = await fetch(server.at("/none"), { headers: { Origin: origin } });
    assert.equal(header(refusal, "access-control-allow-origin"), origin);
  }
});

test("no other page may read, append or delete", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/plain", { body: "x" });
  const origins = ["https://example.com", "null", "http://localhost.example.com", "file://"];
  for (const origin of [
    ...origins,
    "http://127.0.0.1.example.com",
    "http://localhost@example.com",
  ]) {
    for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE"]) {
      const headers = { "Content-Type": "text/plain", Origin: origin };
      const body = method === "POST" ? "injected" : null;
      const response = await fetch(server.at("/s"), { method, headers, body });
      assert.equal(response.status, 403, `${method} ${origin}`);
      assert.equal(response.headers.has("access-control-allow-origin"), false);
    }
    const asked = { Origin: origin, "Access-Control-Request-Method": "PUT" };
    const preflight = await fetch(server.at("/s"), { method: "OPTIONS", headers: asked });
    assert.equal(preflight.headers.has("access-control-allow-origin"), false);
  }
  assert.equal(await (await fetch(server.at("/s"))).text(), "x");
});

test("a foreign host name that resolves to this machine is refused", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/plain", { body: "x" });
  for (const host of ["rebound.example.com", "rebound.example.com:4437", "localhost.evil", ""]) {
    assert.equal(await rawStatus(server.url, "GET", "/v1/stream/s", { Host: host }), 403, host);
  }
  for (const host of ["localhost", "LOCALHOST:80", "127.0.0.1:4437", "127.1.2.3", "[::1]:1"]) {
    assert.equal(await rawStatus(server.url, "GET", "/v1/stream/s", { Host: host }), 200, host);
  }
});

test("an absolute request target is checked for its own host, whatever Host says", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/plain", { body: "x" });
  const status = (target: string, Host = "localhost") =>
    rawStatus(server.url, "GET", target, { Host });
  assert.equal(await status("http://localhost/v1/stream/s"), 200);
  assert.equal(await status("HTTPS://127.0.0.1:4437/v1/stream/s?offset=-1", "example.com"), 200);
  assert.equal(await status("http://localhost"), 200); // The viewer.
  assert.equal(await status("http://localhost?x"), 200);
  for (const host of ["rebound.example.com", "localhost@example.com", "user@localhost", ""]) {
    assert.equal(await status(`http://${host}/v1/stream/s`), 403, host);
  }
  assert.equal(await status("ftp://localhost/v1/stream/s"), 404);
});

test("a request with two Host headers is refused", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/plain", { body: "x" });
  for (const second of ["localhost", "example.com"]) {
    for (const method of ["GET", "OPTIONS"]) {
      const hosts = { Host: "localhost", host: second };
      assert.equal(await rawStatus(server.url, method, "/v1/stream/s", hosts), 400);
    }
  }
});

test("an allowed origin may use the server, and its host name is allowed too", async () => {
  const origin = "https://app.example.com";
  const server = await startTestServer({ allowOrigins: [origin] });
  await server.put("/s", "text/plain", { body: "x" });
  const response = await fetch(server.at("/s"), { headers: { Origin: origin } });
  assert.equal(header(response, "access-control-allow-origin"), origin);
  const headers = { Host: "app.example.com" };
  assert.equal(await rawStatus(server.url, "GET", "/v1/stream/s", headers), 200);
  const other = await fetch(server.at("/s"), { headers: { Origin: "https://example.com" } });
  assert.equal(other.status, 403);
});

test("a proxy's host name can be allowed, and pages of that host with it", async () => {
  const server = await startTestServer({ allowHosts: ["Streams.example.com"] });
  await server.put("/s", "text/plain", { body: "x" });
  const status = (headers: Record<string, string>) =>
    rawStatus(server.url, "GET", "/v1/stream/s", headers);
  assert.equal(await status({ Host: "streams.example.com" }), 200);
  const Origin = "https://streams.example.com";
  assert.equal(await status({ Host: "streams.example.com", Origin }), 200);
  assert.equal(await status({ Host: "streams.example.com:8080" }), 403);
  assert.equal(await status({ Host: "other.example.com" }), 403);
  assert.equal(await status({ Host: "streams.example.com", Origin: "https://example.com" }), 403);
});

test("a preflight answer names every header of the protocol", async () => {
  const server = await startTestServer();
  const origin = "http://localhost:5173";
  const headers = { Origin: origin, "Access-Control-Request-Method": "POST" };
  const response = await fetch(server.at("/s"), { method: "OPTIONS", headers });
  assert.equal(response.status, 204);
  assert.equal(header(response, "access-control-allow-origin"), origin);
  assert.match(header(response, "access-control-allow-methods"), /PUT.*DELETE/);
  const allowed = header(response, "access-control-allow-headers").toLowerCase().split(", ");
  for (const name of ["if-none-match", "stream-seq", "stream-closed", "producer-id"]) {
    assert.ok(allowed.includes(name), name);
  }
});

test("a stream opened as a page runs no script", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/html", { body: "<script>alert(1)</script>" });
  for (const query of ["", "?offset=-1&live=long-poll"]) {
    const response = await fetch(`${server.at("/s")}${query}`);
    assert.match(header(response, "content-security-policy"), /sandbox/);
  }
});

test("every answer prevents a browser from guessing its type and other sites from embedding it", async () => {
  const server = await startTestServer();
  await server.put("/s", "text/html", { body: "<script>alert(1)</script>" });
  for (const [method, target] of [
    ["GET", "/v1/stream/s"],
    ["GET", "/v1/stream/s?offset=-1&live=long-poll"],
    ["HEAD", "/v1/stream/s"],
    ["GET", "/v1/stream/none"],
    ["DELETE", "/v1/stream/none"],
    ["PATCH", "/v1/stream/s"],
    ["GET", "/health"],
    ["GET", "/"],
  ] as const) {
    const connection = await RawConnection.open(server.url);
    connection.send(method, target, { Connection: "close" });
    const text = (await connection.closed()).toLowerCase();
    assert.match(text, /x-content-type-options: nosniff/, `${method} ${target}`);
    assert.match(text, /cross-origin-resource-policy: same-site/, `${method} ${target}`);
  }
});
