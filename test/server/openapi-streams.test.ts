/** Real answers about streams and subscriptions match the OpenAPI document. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "vitest";
import { SUBSCRIPTION_LIMITS } from "../../src/core/base/limits.ts";
import { PULL } from "../support/subscription-http.ts";
import { bearer, makeToken } from "./auth/token-user.ts";
import { check, document } from "./described.ts";
import { rawStatus } from "./raw-http.ts";
import { header, JSON_TYPE, startTestServer, type TestServer } from "./test-server.ts";

const STREAM = "/v1/stream/{path}";
const SUBSCRIPTION = "/v1/stream/__ds/subscriptions/{id}";
const TEXT = { "Content-Type": "text/plain" };

/** Sends a request, checks the status, and compares the answer with the document. */
type Ask = (method: string, path: string, status: number, init?: RequestInit) => Promise<Response>;

function asking(server: TestServer, documented: (path: string) => string): Ask {
  return async (method, path, status, init = {}) => {
    const response = await fetch(server.at(path), { ...init, method });
    assert.equal(response.status, status, `${method} ${path}`);
    await check(documented(path), response.clone(), method);
    return response;
  };
}

test("real answers about streams match the document", async () => {
  const server = await startTestServer({ bodyBytesMax: 1000, longPollTimeoutMs: 10 });
  const ask = asking(server, () => STREAM);
  const made = { headers: TEXT, body: "one" };
  const large = { headers: TEXT, body: "x".repeat(1001) };
  await ask("PUT", "/s", 201, made);
  await ask("PUT", "/s", 409, { headers: { "Content-Type": JSON_TYPE } });
  await ask("PUT", "/t", 413, large);
  await ask("POST", "/s", 204, made);
  await ask("POST", "/s", 400, { headers: TEXT });
  await ask("POST", "/s", 409, { headers: { "Content-Type": JSON_TYPE }, body: "1" });
  await ask("POST", "/s", 413, large);
  await ask("GET", "/s?offset=x", 400);
  const read = await ask("GET", "/s", 200);
  await ask("GET", "/s", 304, { headers: { "If-None-Match": header(read, "etag") } });
  const end = header(read, "stream-next-offset");
  await ask("GET", `/s?offset=${end}&live=long-poll`, 204);
  await ask("HEAD", "/s", 200);

  await ask("PUT", "/f", 201, { headers: { "Stream-Forked-From": "/v1/stream/s" } });
  await ask("DELETE", "/s", 204);
  for (const method of ["GET", "HEAD", "DELETE"]) await ask(method, "/s", 410);
  await ask("POST", "/s", 410, made);
  await ask("PUT", "/s", 409, made);
  await ask("DELETE", "/f", 204);
  for (const method of ["GET", "HEAD", "DELETE"]) await ask(method, "/s", 404);
  await ask("PUT", "/s", 201, made);
  await ask("GET", `/s?offset=${end}`, 410);
});

test("the described headers of streams are those that the server reads", () => {
  const folder = new URL("../../src/server/streams/", import.meta.url);
  const sources = readdirSync(folder).filter((name) => /^[a-z-]+\.ts$/.test(name));
  const read = new Set<string>();
  for (const name of sources) {
    const source = readFileSync(new URL(name, folder), "utf8");
    for (const [, header = ""] of source.matchAll(/headers\["([a-z-]+)"\]/g)) read.add(header);
  }
  const operations = Object.values(document.paths[STREAM] ?? {});
  const described = operations.flatMap(({ parameters = [] }) =>
    parameters.filter((each) => each.in === "header").map(({ name }) => name.toLowerCase()),
  );
  assert.ok(read.delete("content-type"), "OpenAPI has it in the body");
  assert.deepEqual([...new Set(described)].sort(), [...read].sort());
  const withBody = Object.entries(document.paths[STREAM] ?? {})
    .filter(([, operation]) => "requestBody" in operation)
    .map(([method]) => method);
  assert.deepEqual(withBody, ["put", "post"]);
});

test("an unsupported content coding is refused as the document says", async () => {
  const server = await startTestServer();
  const headers = { ...TEXT, "Transfer-Encoding": "gzip, chunked" };
  for (const method of ["POST", "PUT"]) {
    const status = await rawStatus(server.url, method, "/v1/stream/s", headers);
    assert.equal(status, 501);
    assert.ok(document.paths[STREAM]?.[method.toLowerCase()]?.responses[status]);
  }
});

test("real answers about subscriptions match the document", async () => {
  const server = await startTestServer();
  const ask = asking(server, (path) => {
    if (path === "/__ds/jwks.json") return `/v1/stream${path}`;
    const [, , , , part, more] = path.split("/");
    return [SUBSCRIPTION, part, more && "{path}"].filter(Boolean).join("/");
  });
  const json = (value: unknown) => {
    return { headers: { "Content-Type": JSON_TYPE }, body: JSON.stringify(value) };
  };
  const at = "/__ds/subscriptions/a";
  await ask("GET", "/__ds/jwks.json", 200);
  const keys = document.paths["/v1/stream/__ds/jwks.json"]?.get?.responses ?? {};
  assert.deepEqual(Object.keys(keys), ["200", "403", "500", "503"]);
  await ask("GET", at, 404);
  await ask("PUT", at, 400, json({}));
  await ask("PUT", at, 413, json("x".repeat(SUBSCRIPTION_LIMITS.requestBytesMax)));
  await ask("PUT", at, 201, json(PULL));
  await ask("PUT", at, 200, json(PULL));
  await ask("PUT", at, 409, json({ ...PULL, pattern: "other/*" }));
  await ask("GET", at, 200);
  await ask("POST", `${at}/streams`, 204, json({ streams: ["x"] }));
  await ask("DELETE", `${at}/streams/x`, 204);
  await ask("POST", `${at}/claim`, 409, json({ worker: "w" }));
  await server.put("/events/1", "text/plain");
  await server.post("/events/1", "text/plain", "news");
  const claimed = await ask("POST", `${at}/claim`, 200, json({ worker: "w" }));
  await ask("POST", `${at}/claim`, 409, json({ worker: "other" }));
  const { token, wake_id, generation } = (await claimed.json()) as Record<string, string>;
  const wake = json({ wake_id, generation, acks: [] });
  await ask("POST", `${at}/ack`, 401, wake);
  const allowed = { ...wake, headers: { ...wake.headers, ...bearer(token ?? "") } };
  await ask("POST", `${at}/callback`, 400, allowed);
  await ask("POST", `${at}/ack`, 200, allowed);
  await ask("POST", `${at}/release`, 204, allowed);
  await ask("POST", `${at}/release`, 409, allowed);
  await ask("DELETE", at, 204);
  await ask("POST", `${at}/claim`, 404, json({ worker: "w" }));
});

test("a request without a sufficient token is refused as the document says", async () => {
  const server = await startTestServer();
  const { token } = await makeToken(server.directory, { scopes: ["append"], paths: ["x/**"] });
  const streams = ["GET", "HEAD", "POST", "PUT", "DELETE"].map((method) => [method, STREAM]);
  const pages = [
    ["GET", "/metrics"],
    ["GET", "/v1/demo"],
    ["DELETE", "/v1/demo"],
    ["GET", SUBSCRIPTION],
    ["PUT", SUBSCRIPTION],
    ["DELETE", SUBSCRIPTION],
    ["POST", `${SUBSCRIPTION}/streams`],
    ["DELETE", `${SUBSCRIPTION}/streams/{path}`],
    ["POST", `${SUBSCRIPTION}/claim`],
  ];
  for (const [method = "", path = ""] of [...streams, ...pages]) {
    const url = server.url + path.replaceAll(/\{\w+\}/g, "a");
    for (const [headers, status] of [[{}, 401] as const, [bearer(token), 403] as const]) {
      const response = await fetch(url, { method, headers });
      assert.equal(response.status, status, `${method} ${path}`);
      await check(path, response, method);
    }
  }
});

test("too many readers are refused as the document says", async () => {
  const server = await startTestServer({ liveReadersMax: 0 });
  await server.put("/s", "text/plain");
  const response = await fetch(`${server.at("/s")}?offset=-1&live=sse`);
  assert.equal(response.status, 429);
  await check(STREAM, response);
});

test("an overloaded server answers every request as the document says", async () => {
  const server = await startTestServer({ requestsMax: 0 });
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const name of Object.keys(operations)) {
      const method = name.toUpperCase();
      const response = await fetch(server.url + path.replaceAll(/\{\w+\}/g, "a"), { method });
      assert.equal(response.status, 503, `${method} ${path}`);
      await check(path, response, method);
    }
  }
});
