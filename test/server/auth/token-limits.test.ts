/** What a token may use: at each limit and one past it. Time passes when the test says so. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { onTestFinished, test } from "vitest";
import { openServer } from "../../../src/doors/server.ts";
import { LOOK_MS } from "../../../src/server/auth/gate.ts";
import { REFUSAL_MS } from "../../../src/server/auth/token-limits.ts";
import type { TokenLimits } from "../../../src/server/auth/tokens.ts";
import type { ServeOptions } from "../../../src/server/settings/serve-options.ts";
import { ManualTime } from "../../support/manual-time.ts";
import { refusal } from "../../support/refusal.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { until } from "../../support/until.ts";
import { startTestServer } from "../test-server.ts";
import { bearer, makeToken } from "./token-user.ts";

const TYPE = { "Content-Type": "text/plain" };

/** A server with a token that has these limits, and one that has none. */
async function served(limits: TokenLimits | undefined, options: Partial<ServeOptions> = {}) {
  const time = new ManualTime(Date.now());
  const server = await startTestServer({ time, ...options });
  await server.put("/a/0", "text/plain");
  const paths = ["a/**"];
  const scopes = ["read", "append"] as const;
  const limited = await makeToken(server.directory, { scopes, paths, ...(limits && { limits }) });
  const admin = await makeToken(server.directory);
  time.pass(LOOK_MS);
  const ask = async (
    method: string,
    path: string,
    body: string | null = null,
    by = limited.token,
  ) => {
    const headers = { ...TYPE, ...bearer(by) };
    return fetch(server.at(path), { method, headers, body });
  };
  /** The answer to a request that is refused: it is sent a little later. */
  const refused = async (method: string, path: string, body: string | null = null) => {
    const timers = time.timers;
    const answer = ask(method, path, body);
    await until(() => time.timers > timers, "the refusal waits");
    time.pass(REFUSAL_MS);
    const response = await answer;
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    assert.deepEqual([response.status, error.code], [429, "LIMIT_REACHED"]);
    assert.match(response.headers.get("Retry-After") ?? "", /^[1-9]\d*$/);
    return { message: error.message, seconds: Number(response.headers.get("Retry-After")) };
  };
  return { server, time, ask, refused, admin: admin.token, limited };
}

test("as many requests as the limit pass in a second, and one more is refused until there is room", async () => {
  const { ask, refused, time, admin } = await served({ requestsPerSecond: 3 });
  for (let n = 0; n < 3; n++) assert.equal((await ask("GET", "/a/0")).status, 200);
  const { message, seconds } = await refused("GET", "/a/0"); // 100 ms pass: 0.3 of a request.
  assert.match(message, /requestsPerSecond is 3/);
  assert.equal(seconds, 1);
  assert.equal((await ask("GET", "/a/0", null, admin)).status, 200, "others are not limited by it");
  time.pass(233);
  await refused("GET", "/a/0"); // 333 ms after the third request.
  assert.equal((await ask("GET", "/a/0")).status, 200);
  await refused("GET", "/a/0");
  time.pass(3_600_000);
  for (let n = 0; n < 3; n++) assert.equal((await ask("GET", "/a/0")).status, 200);
  await refused("GET", "/a/0"); // What was not used is not saved up.
});

test("bytes past the rate delay further requests until they are paid back", async () => {
  const { ask, refused, time } = await served({ bytesPerSecond: 10_000 });
  const body = "x".repeat(35_000);
  assert.equal(
    (await ask("POST", "/a/0", body)).status,
    204,
    "the request that passes it is served",
  );
  const { message, seconds } = await refused("GET", "/a/0");
  assert.match(message, /bytesPerSecond is 10000/);
  assert.equal(seconds, 3);
  time.pass(seconds * 1000 - REFUSAL_MS);
  assert.equal((await ask("GET", "/a/0")).status, 200);
});

test("bytes of a refused request are those of its token, also on a connection that others use", async () => {
  const { server, time, limited } = await served({ requestsPerSecond: 1 });
  const limits = { bytesPerSecond: 10_000 };
  const other = await makeToken(server.directory, { scopes: ["read"], paths: ["a/**"], limits });
  time.pass(LOOK_MS);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const send = async (token: string, method: string, body = "") => {
    const headers = { ...TYPE, ...bearer(token), "Content-Length": body.length };
    const sent = request(server.at("/a/0"), { method, agent, headers }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return response.statusCode;
  };
  assert.equal(await send(limited.token, "GET"), 200);
  const timers = time.timers;
  const refused = send(limited.token, "POST", "x".repeat(50_000));
  await until(() => time.timers > timers, "the refusal waits");
  time.pass(REFUSAL_MS);
  assert.equal(await refused, 429);
  const more = time.timers;
  let last: number | undefined;
  for (let n = 0; n < 3; n++) {
    const answer = send(other.token, "GET");
    void answer.then((status) => {
      last = status;
    });
    await until(() => last !== undefined || time.timers > more, "it is answered");
    time.pass(time.timers > more ? REFUSAL_MS : 0);
    assert.equal(await answer, 200);
    last = undefined;
  }
});

test("waiting readers up to the limit are accepted, one more is refused, and one that leaves makes room", async () => {
  const { server, time, ask, refused } = await served({ readers: 2 });
  const live = "/a/0?offset=now&live=long-poll";
  const waiting = [ask("GET", live), ask("GET", live)];
  const count = async () => {
    const health = (await (await fetch(`${server.url}/health`)).json()) as { liveReaders: number };
    return health.liveReaders;
  };
  await until(async () => (await count()) === 2, "two readers wait");
  assert.match((await refused("GET", live)).message, /readers is 2/);
  assert.match((await refused("GET", "/a/0?offset=now&live=sse")).message, /readers is 2/);
  assert.equal((await ask("POST", "/a/0", "x")).status, 204);
  for (const each of waiting) assert.equal((await each).status, 200);
  await until(async () => (await count()) === 0, "they have left");
  const again = ask("GET", live);
  await until(async () => (await count()) === 1, "a reader waits");
  time.pass(20_000);
  assert.equal((await again).status, 204);
});

test("streams up to the limit are made, one more is refused, and deleting one makes room", async () => {
  const { time, ask, refused, admin } = await served({ streams: 3 });
  assert.equal((await ask("PUT", "/a/1")).status, 201);
  assert.equal((await ask("PUT", "/a/2")).status, 201);
  assert.match((await refused("PUT", "/a/3")).message, /streams is 3/);
  assert.equal((await ask("PUT", "/a/1")).status, 200, "one that exists needs no room");
  assert.equal((await ask("POST", "/a/1", "x")).status, 204);
  assert.equal((await ask("PUT", "/b/1", null, admin)).status, 201);
  assert.equal((await ask("DELETE", "/a/1", null, admin)).status, 204);
  time.pass(1000);
  assert.equal((await ask("PUT", "/a/3")).status, 201);
  await refused("PUT", "/a/4");
});

test("bytes up to the limit are stored, one more is refused, and reads still work", async () => {
  const { server, ask, refused, admin } = await served({ storedBytes: 10 });
  assert.equal((await ask("POST", "/a/0", "123456")).status, 204);
  assert.equal((await ask("PUT", "/a/1", "789")).status, 201);
  assert.match((await refused("POST", "/a/1", "xy")).message, /storedBytes is 10/);
  assert.match((await refused("PUT", "/a/2", "xy")).message, /storedBytes is 10/);
  assert.equal((await ask("POST", "/a/1", "x")).status, 204);
  await refused("POST", "/a/0", "x");
  assert.equal(await (await ask("GET", "/a/1")).text(), "789x");
  assert.equal((await ask("POST", "/a/0", "x", admin)).status, 204, "others are not limited by it");
  const metrics = await fetch(`${server.url}/metrics`, { headers: bearer(admin) });
  assert.match(await metrics.text(), /verbatim_token_stored_bytes\{token="[0-9a-f]{8}"\} 10\n/);
});

test("a retry of an append that is stored is answered as one, also when there is no room left", async () => {
  const { server, time, limited } = await served({ storedBytes: 10 });
  const send = (seq: number, body: string) => {
    const turn = { "Producer-Id": "p", "Producer-Epoch": "0", "Producer-Seq": `${seq}` };
    const headers = { ...TYPE, ...bearer(limited.token), ...turn };
    return fetch(server.at("/a/0"), { method: "POST", headers, body });
  };
  assert.equal((await send(0, "0123456789")).status, 200);
  const timers = time.timers;
  const repeated = send(0, "0123456789");
  let isRefused = true;
  void repeated.then(({ status }) => {
    isRefused = status !== 204;
  });
  await until(() => !isRefused || time.timers > timers, "it is answered");
  time.pass(REFUSAL_MS);
  assert.equal((await repeated).status, 204);
  const next = send(1, "x");
  await until(() => time.timers > timers, "the refusal waits");
  time.pass(REFUSAL_MS);
  assert.equal((await next).status, 429);
});

test("writes at the same time do not pass a limit together", async () => {
  const { server, time, ask, admin } = await served({ streams: 6, storedBytes: 1000 });
  const answers = Array.from({ length: 20 }, (_, n) => ask("PUT", `/a/x${n}`));
  let ended = 0;
  for (const each of answers) each.then(() => ended++);
  await until(() => {
    time.pass(REFUSAL_MS);
    return ended === 20;
  }, "all are answered");
  const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array(5).fill(201), ...Array(15).fill(429)]);
  const metrics = await fetch(`${server.url}/metrics`, { headers: bearer(admin) });
  assert.match(await metrics.text(), /verbatim_token_refused_total\{.*limit="streams"\} 15\n/);
});

test("a token without limits has those of the server, and its own replace them", async () => {
  const tokenLimits = { requestsPerSecond: 1 };
  const plain = await served(undefined, { tokenLimits });
  assert.equal((await plain.ask("GET", "/a/0")).status, 200);
  await plain.refused("GET", "/a/0");
  const own = await served({ requestsPerSecond: 2 }, { tokenLimits });
  for (let n = 0; n < 2; n++) assert.equal((await own.ask("GET", "/a/0")).status, 200);
  await own.refused("GET", "/a/0");
});

test("limits that are none are refused when the server is opened", async () => {
  for (const tokenLimits of [{ requests: 1 }, { readers: 0 }, { streams: 1.5 }, { streams: "1" }]) {
    const open = openServer({ root: tempDirectory(), port: 0, tokenLimits } as never);
    const { message } = await refusal(open, "BAD_SETTING");
    assert.match(message, /tokenLimits is refused/);
  }
});

test("metrics show a token its own use, and only one for all paths that of all", async () => {
  const { server, ask, admin, limited } = await served(undefined);
  await ask("GET", "/a/0");
  await ask("GET", "/a/0", null, admin);
  const textOf = async (token: string) =>
    (await fetch(`${server.url}/metrics`, { headers: bearer(token) })).text();
  const tokensIn = (text: string) =>
    new Set([...text.matchAll(/\{token="([0-9a-f]+)"/g)].map(([, id]) => id));
  const own = await textOf(limited.token);
  assert.deepEqual(tokensIn(own), new Set([limited.entry.id]));
  const lines = own.split("\n").filter((line) => /^[^#]/.test(line));
  assert.ok(
    lines.every((line) => line.startsWith("verbatim_token_")),
    "nothing of the server",
  );
  const all = await textOf(admin);
  assert.equal(tokensIn(all).size, 2);
  assert.match(all, /^verbatim_appends_total 0$/m);
});
