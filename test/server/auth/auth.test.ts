/** Which requests are allowed once there are tokens. */

import assert from "node:assert/strict";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { onTestFinished, test } from "vitest";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { LOOK_MS } from "../../../src/server/auth/gate.ts";
import { hasScope } from "../../../src/server/auth/token-authority.ts";
import { revokeToken, SCOPES, tokenFile, tokenFilePath } from "../../../src/server/auth/tokens.ts";
import { startServer } from "../../../src/server/serve.ts";
import { ManualTime } from "../../support/manual-time.ts";
import { refusal } from "../../support/refusal.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { refused, startTestServer } from "../test-server.ts";
import { bearer, makeToken } from "./token-user.ts";

const HOUR_MS = 3_600_000;
const TYPE = { "Content-Type": "text/plain" };

/** Requests that need one scope each: method, path, scope, extra headers. */
const REQUESTS = [
  ["GET", "/v1/stream/chat/1", "read"],
  ["HEAD", "/v1/stream/chat/1", "read"],
  ["GET", "/v1/stream/chat/1?offset=-1&live=long-poll", "read"],
  ["POST", "/v1/stream/chat/1", "append"],
  ["PUT", "/v1/stream/chat/1", "append"],
  ["DELETE", "/v1/stream/chat/none", "admin"],
  ["PATCH", "/v1/stream/chat/1", "admin"],
  ["GET", "/v1/stream/__ds/subscriptions/s", "admin"],
  ["PUT", "/v1/stream/__ds/subscriptions/s", "admin"],
  ["DELETE", "/v1/stream/__ds/subscriptions/s", "admin"],
  ["POST", "/v1/stream/__ds/subscriptions/s/streams", "admin"],
  ["POST", "/v1/stream/__ds/subscriptions/s/claim", "append"],
  ["GET", "/v1/stream/__ds/else", "admin"],
  ["GET", "/v1/sessions", "read"],
  ["GET", "/v1/search?q=x", "read"],
  ["GET", "/v1/usage", "usage"],
  ["GET", "/v1/usage/insights", "read"],
  ["GET", "/v1/admin/tokens", "tokens"],
  ["POST", "/v1/admin/tokens", "tokens"],
  ["POST", "/v1/admin/tokens/0123abcd/rotate", "tokens"],
  ["DELETE", "/v1/admin/tokens/0123abcd", "tokens"],
  ["GET", "/v1/admin/else", "tokens"],
  ["GET", "/v1/tools", "read"],
  ["GET", "/metrics", "read"],
  ["GET", "/somewhere/else", "read"],
  ["POST", "/somewhere/else", "admin"],
] as const;

const PUBLIC = [
  ["GET", "/"],
  ["GET", "/live"],
  ["GET", "/health"],
  ["GET", "/ready"],
  ["GET", "/v1/stream/__ds/jwks.json"],
  ["OPTIONS", "/v1/stream/chat/1"],
] as const;

/** A server that looks for tokens when the test lets the time pass. */
async function started() {
  const time = new ManualTime(Date.now());
  return { time, server: await startTestServer({ time }) };
}

test("401 says whose token is needed, and that Bearer is missing", async () => {
  const { server, time } = await started();
  const { token } = await makeToken(server.directory);
  time.pass(LOOK_MS);
  for (const [headers, said] of [
    [{}, /has no token; .*`verbatim server token create`, with the server's --data/],
    [{ Authorization: token }, /lacks Bearer in Authorization; send Authorization: Bearer/],
    [bearer("vbt_other"), /has a token that is unknown/],
  ] as const) {
    const response = await fetch(server.at("/s"), { headers });
    const text = await response.clone().text();
    assert.match(text, said);
    assert.ok(!text.includes(server.directory));
    assert.deepEqual(await refused(response), [401, "TOKEN_REQUIRED"]);
  }
});

test("each request needs its scope, and admin has all but that of managing tokens", async () => {
  const { server, time } = await started();
  await server.put("/chat/1", "text/plain", { body: "x" });
  const tokens = new Map<string, string>();
  for (const scope of SCOPES) {
    tokens.set(scope, (await makeToken(server.directory, { scopes: [scope] })).token);
  }
  time.pass(LOOK_MS);
  for (const [method, path, needed] of REQUESTS) {
    const body = method === "POST" || method === "PATCH" ? "x" : null;
    const ask = (headers: Record<string, string>) =>
      fetch(server.url + path, { method, headers: { ...TYPE, ...headers }, body });
    const bare = await ask({});
    assert.equal(bare.status, 401, `${method} ${path}`);
    assert.equal(bare.headers.get("www-authenticate"), 'Bearer realm="verbatim"');
    for (const scope of SCOPES) {
      const { status } = await ask(bearer(tokens.get(scope) ?? ""));
      const isAllowed = hasScope([scope], needed);
      assert.equal(status !== 403 && status !== 401, isAllowed, `${method} ${path} by ${scope}`);
    }
  }
  for (const [method, path] of PUBLIC) {
    const { status } = await fetch(server.url + path, { method });
    assert.ok(status < 300, `${method} ${path}: ${status}`);
  }
});

test("a wake's own token acknowledges it, without a token of the server", async () => {
  const { server, time } = await started();
  await makeToken(server.directory);
  time.pass(LOOK_MS);
  for (const action of ["callback", "ack", "release"]) {
    const url = server.at(`/__ds/subscriptions/none/${action}`);
    const body = '{"wake_id":"w","generation":1}';
    const bare = await fetch(url, { method: "POST", body });
    assert.deepEqual(await refused(bare), [401, "TOKEN_INVALID"]);
    const init = { method: "POST", headers: bearer("some.token"), body };
    assert.deepEqual(await refused(await fetch(url, init)), [404, "SUBSCRIPTION_NOT_FOUND"]);
  }
});

test("a token is valid for the streams that its globs match, and not for requests without a path", async () => {
  const { server, time } = await started();
  for (const path of ["/chat/1", "/chat/a/b", "/logs/x", "/other"]) {
    await server.put(path, "text/plain", { body: "x" });
  }
  const { token } = await makeToken(server.directory, { paths: ["chat/*", "logs/**"] });
  time.pass(LOOK_MS);
  const status = async (path: string, init: RequestInit = {}) =>
    (await fetch(server.url + path, { ...init, headers: { ...TYPE, ...bearer(token) } })).status;
  assert.equal(await status("/v1/stream/chat/1"), 200);
  assert.equal(await status("/v1/stream/%63hat/1"), 200);
  assert.equal(await status("/v1/stream/logs/x"), 200);
  assert.equal(await status("/v1/stream/chat/a/b"), 403);
  assert.equal(await status("/v1/stream/other"), 403);
  assert.equal(await status("/v1/stream/chat/..%2Fother"), 403);
  assert.equal(await status("/v1/stream/none"), 403); // The answer does not reveal whether it exists.
  assert.equal(await status("/v1/stream/other", { method: "DELETE" }), 403);
  assert.equal(await status("/v1/sessions"), 403);
  assert.equal(await status("/v1/stream/__ds/subscriptions/s"), 403);
  assert.equal(await status("/metrics"), 200);
});

test("a stream is forked only with a token that may read it", async () => {
  const { server, time } = await started();
  await server.put("/secret/1", "text/plain", { body: "secret" });
  const mine = await makeToken(server.directory, {
    scopes: ["read", "append"],
    paths: ["mine/**"],
  });
  const all = await makeToken(server.directory, { scopes: ["read", "append"] });
  const blind = await makeToken(server.directory, { scopes: ["append"] });
  time.pass(LOOK_MS);
  const fork = async (token: string, source: string) => {
    const headers = { ...TYPE, ...bearer(token), "Stream-Forked-From": source };
    return (await fetch(server.at("/mine/copy"), { method: "PUT", headers })).status;
  };
  for (const source of ["/v1/stream/secret/1", "/v1/stream/%73ecret/1", "/v1/stream/secret/1?x"]) {
    assert.equal(await fork(mine.token, source), 403, source);
    assert.equal(await fork(blind.token, source), 403, source);
  }
  assert.equal(await fork(all.token, "/v1/stream/secret/1"), 201);
});

test("a value that is not a token of the server is refused, whatever its form", async () => {
  const { server, time } = await started();
  await server.put("/s", "text/plain");
  const { token, entry } = await makeToken(server.directory);
  time.pass(LOOK_MS);
  const other = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
  const wrong = [other, token.slice(0, -1), `${token}A`, token.toUpperCase(), entry.sha256, "x"];
  const values = wrong.map((each) => `Bearer ${each}`);
  values.push(token, `Basic ${token}`, "Bearer", "", `Bearer ${"x".repeat(8000)}`);
  for (const value of values) {
    const response = await fetch(server.at("/s"), { headers: { Authorization: value } });
    assert.deepEqual(await refused(response), [401, "TOKEN_REQUIRED"], value.slice(0, 60));
  }
  const query = await fetch(`${server.at("/s")}?token=${token}&access_token=${token}`);
  assert.equal(query.status, 401);
  const right = await fetch(server.at("/s"), { headers: { authorization: `bearer  ${token}` } });
  assert.equal(right.status, 200);
});

test("a running server accepts a new token, and refuses a revoked or expired one", async () => {
  const { server, time } = await started();
  await server.put("/s", "text/plain");
  const ask = async (token: string) =>
    (await fetch(server.at("/s"), { headers: bearer(token) })).status;
  const first = await makeToken(server.directory);
  time.pass(LOOK_MS);
  assert.equal(await ask(first.token), 200);
  const brief = await makeToken(server.directory, { expiresAtMs: time.nowMs() + HOUR_MS });
  assert.equal(await ask(brief.token), 401, "the server looks twice a second");
  time.pass(LOOK_MS);
  assert.equal(await ask(first.token), 200);
  assert.equal(await ask(brief.token), 200);
  await revokeToken(
    tokenFile(nodeHost, tokenFilePath(server.directory)),
    first.entry.id,
    Date.now(),
  );
  time.pass(LOOK_MS);
  assert.equal(await ask(first.token), 401);
  assert.equal(await ask(brief.token), 200);
  time.pass(HOUR_MS);
  assert.equal(await ask(brief.token), 401);
});

test("deleting or corrupting the token file grants no access", async () => {
  const directory = tempDirectory();
  const faults: string[] = [];
  const time = new ManualTime(Date.now());
  const server = await startServer({
    port: 0,
    time,
    dataDirectory: directory,
    onFault: (what) => faults.push(what),
  });
  onTestFinished(() => server.close());
  const stream = `${server.url}/v1/stream/s`;
  await fetch(stream, { method: "PUT" });
  const { token } = await makeToken(directory);
  const path = tokenFilePath(directory);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  time.pass(LOOK_MS);
  assert.equal((await fetch(stream)).status, 401);
  writeFileSync(path, "{");
  time.pass(LOOK_MS);
  for (const headers of [{}, bearer(token)]) {
    const response = await fetch(stream, { headers });
    const told = await response.text();
    assert.equal(response.status, 503);
    assert.ok(!told.includes(directory), "the answer must not contain the file's path");
  }
  assert.deepEqual(faults, ["reading the tokens"]);
  rmSync(path);
  time.pass(LOOK_MS);
  assert.equal((await fetch(stream)).status, 401);
});

test("a public address requires tokens, under every host name", async () => {
  const dataDirectory = tempDirectory();
  const start = () => startServer({ port: 0, host: "0.0.0.0", dataDirectory });
  const { message } = await refusal(start(), "BAD_SETTING");
  assert.ok(message.includes(`verbatim server token create --data ${dataDirectory}`), message);
  const { token, entry } = await makeToken(dataDirectory);
  const server = await start();
  const url = `http://127.0.0.1:${server.port}/v1/stream/s`;
  assert.equal((await fetch(url, { method: "PUT" })).status, 401);
  assert.equal((await fetch(url, { method: "PUT", headers: bearer(token) })).status, 201);
  await server.close();
  await revokeToken(tokenFile(nodeHost, tokenFilePath(dataDirectory)), entry.id, Date.now());
  await refusal(start(), "BAD_SETTING"); // An invalid token counts as none.
});
