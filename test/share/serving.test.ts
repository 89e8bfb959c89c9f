/** A share over HTTP: its copy and nothing else, until it expires or is revoked. */

import assert from "node:assert/strict";
import { type IncomingMessage, request } from "node:http";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { VerbatimClient } from "../../src/doors/client.ts";
import { SHARE_LIMITS } from "../../src/evidence/share/share.ts";
import { FileShares } from "../../src/evidence/share/share-files.ts";
import { LOOK_MS as GATE_MS } from "../../src/server/auth/gate.ts";
import { openApiDocument } from "../../src/server/openapi/document.ts";
import { LOOK_MS } from "../../src/server/shares/shared-copies.ts";
import { bearer, makeToken } from "../server/auth/token-user.ts";
import { serveSessions } from "../server/sessions/served.ts";
import { judgeBytes, keysOf } from "../support/disclosing.ts";
import { ManualTime } from "../support/manual-time.ts";
import { until } from "../support/until.ts";
import { HOUR_MS, SECRETS, shareOf, sharer, WITHHOLDING } from "./sharing.ts";

const get = (url: string, token: string, init: RequestInit = {}) => {
  return fetch(url, { ...init, headers: { ...bearer(token), ...init.headers } });
};
const STRANGER = "vbs_AAAAAAAAAAAAAAAAAAAAAA";

/** A server that requires tokens, with a shared session. Its time passes when the test says so. */
async function served() {
  const { user, root, written } = await sharer();
  const time = new ManualTime(Date.now());
  const { server } = await serveSessions([root], { time });
  const admin = (await makeToken(server.directory)).token;
  const made = await shareOf(written, server.directory);
  return { time, user, root, written, server, admin, ...made };
}

test("a share's token gives its copy, which verifies, with headers that keep it private", async () => {
  const { user, server, token, redacted } = await served();
  const response = await get(`${server.url}/v1/share`, token);
  assert.equal(response.status, 200);
  const { headers } = response;
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("referrer-policy"), "no-referrer");
  assert.equal(headers.get("x-robots-tag"), "noindex");
  assert.equal(headers.get("share-live"), "no");
  const bytes = new Uint8Array(await response.arrayBuffer());
  const judged = judgeBytes(keysOf(user), bytes);
  assert.equal(judged.verdict, "verified");
  assert.deepEqual([judged.counts.full, judged.counts.lines], [redacted.full, redacted.lines]);
  assert.ok(judged.text.includes("Good night."));
  for (const secret of SECRETS) assert.ok(!Buffer.from(bytes).includes(secret), secret);
  const head = await get(`${server.url}/v1/share`, token, { method: "HEAD" });
  assert.equal(head.headers.get("content-length"), String(bytes.length));
});

test("an unknown, a malformed, an expired and a revoked token have the same answer", async () => {
  const { time, server, written, token, share, shares } = await served();
  const short = await shareOf(written, server.directory);
  assert.equal((await get(`${server.url}/v1/share`, short.token)).status, 200);
  await shares.revoke(share.id);
  time.pass(2 * HOUR_MS);
  const asked = [STRANGER, "x", token, short.token];
  const answers = await Promise.all(
    asked.map(async (each) => {
      const response = await get(`${server.url}/v1/share`, each);
      const { date: _, ...headers } = Object.fromEntries(response.headers);
      return [response.status, headers, await response.text()];
    }),
  );
  for (const each of answers) assert.deepEqual(each, answers[0]);
  assert.equal(answers[0]?.[0], 404);
  const bare = await fetch(`${server.url}/v1/share`);
  assert.equal(await bare.text(), answers[0]?.[2]);
});

test("on every other route, a share's token is as good as that of a stranger", async () => {
  const { server, token, share, written, admin } = await served();
  const client = new VerbatimClient({ url: server.url, token: admin });
  const { sessions } = await client.sessions.list();
  const id = sessions[0]?.id ?? assert.fail();
  const paths = Object.entries((await openApiDocument()).paths).filter(
    ([path]) => path !== "/v1/share",
  );
  assert.ok(paths.length > 20);
  const seen: string[] = [];
  for (const [path, operations] of [
    ...paths,
    ["/v1/nothing", { get: {} }],
    ["/assets/x.js", { get: {} }],
  ] as const) {
    const names: Record<string, string> = { id, share: share.id, path: "chat/1" };
    const url = server.url + path.replace(/\{(\w+)\}/g, (_, name) => names[name] ?? "x");
    for (const method of [...Object.keys(operations), "post", "put", "delete", "patch"]) {
      const answer = async (by: string) => {
        const body = ["get", "head", "delete"].includes(method) ? null : "{}";
        const response = await get(url, by, {
          method: method.toUpperCase(),
          body,
          redirect: "manual",
        });
        const { date: _, ...headers } = Object.fromEntries(response.headers);
        return { status: response.status, headers, text: await response.text() };
      };
      if (path === "/health" || path === "/live" || path === "/ready") continue;
      const [mine, strangers] = [await answer(token), await answer(STRANGER)];
      assert.deepEqual(mine, strangers, `${method} ${path}`);
      const isPublic = mine.status < 300;
      if (isPublic) seen.push(path);
      for (const text of [...SECRETS, "Good night.", written.target.id]) {
        assert.ok(!mine.text.includes(text), `${method} ${path}: ${text}`);
      }
    }
  }
  assert.deepEqual([...new Set(seen)].sort(), [
    "/",
    "/v1/openapi.json",
    "/v1/stream/__ds/jwks.json",
  ]);
});

test("requests for a share are limited, at the limit and one past it", async () => {
  const { time, server, token, written } = await served();
  const other = await shareOf(written, server.directory);
  const ask = async () => (await get(`${server.url}/v1/share`, token, { method: "HEAD" })).status;
  for (let n = 0; n < SHARE_LIMITS.burst; n++) assert.equal(await ask(), 200, `request ${n}`);
  assert.equal(await ask(), 429);
  assert.equal((await get(`${server.url}/v1/share`, other.token)).status, 200);
  time.pass(1000 / SHARE_LIMITS.perSecond);
  assert.deepEqual([await ask(), await ask()], [200, 429]);
});

test("waiting for a newer copy ends with it, and revoking ends waits and downloads", async () => {
  const { time, server, token, share, shares } = await served();
  const timers = time.timers;
  const isWaiting = () => time.timers === timers + 2; // For the next look, and its time limit.
  const waiting = get(`${server.url}/v1/share?after=1`, token);
  await until(isWaiting, "waiting");
  await shares.publish(share.id, async (out) => out.write(Buffer.alloc(40_000_000)));
  time.pass(LOOK_MS);
  const newer = await waiting;
  assert.deepEqual([newer.status, newer.headers.get("share-version")], [200, "2"]);
  await newer.body?.cancel();
  await until(() => time.timers === timers, "the end of the request");

  const left = get(`${server.url}/v1/share?after=2`, token);
  const reading = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${server.url}/v1/share`, { headers: bearer(token) }, resolve)
      .on("error", reject)
      .end();
  });
  reading.on("error", () => {}); // Not read yet: the server waits for the reader.
  await until(isWaiting, "waiting");
  await shares.revoke(share.id);
  time.pass(LOOK_MS);
  assert.equal((await left).status, 404);
  reading.resume();
  await new Promise((resolve) => reading.on("close", resolve));
  assert.equal(reading.complete, false, "the download was cut");
});

test("the owner shares, lists and revokes; a token that only reads may not", async () => {
  const { time, server, admin } = await served();
  const reader = (await makeToken(server.directory, { scopes: ["read", "append"] })).token;
  time.pass(GATE_MS);
  const owner = new VerbatimClient({ url: server.url, token: admin });
  const { sessions } = await owner.sessions.list();
  const session = sessions[0]?.id ?? assert.fail();
  const made = await owner.share({ session, match: [...(WITHHOLDING.texts ?? [])], reason: "so" });
  assert.match(made.token, /^vbs_[\w-]{22}$/);
  const copy = await (await get(`${server.url}/v1/share`, made.token)).text();
  for (const secret of SECRETS) assert.ok(!copy.includes(secret), secret);
  const list = async (token: string) => get(`${server.url}/v1/shares`, token);
  const listed = await list(admin);
  const text = await listed.text();
  assert.ok(text.includes(made.id) && !text.includes(made.token));
  assert.equal((await list(reader)).status, 403);
  const read = new VerbatimClient({ url: server.url, token: reader });
  await assert.rejects(read.share({ session }), /403|NOT_ALLOWED/);
  await assert.rejects(read.revokeShare(made.id), /403|NOT_ALLOWED/);
  await owner.revokeShare(made.id);
  assert.equal((await get(`${server.url}/v1/share`, made.token)).status, 404);
  await assert.rejects(owner.revokeShare("ffffffff"), /there is no share/);
  const bad = [
    {},
    { session: 1 },
    { session, redact: "x" },
    { session, redact: ["nope"] },
    { session, more: 1 },
  ];
  for (const body of [
    ...bad,
    { session, expiresInSeconds: 0 },
    { session, expiresInSeconds: 1e9 },
  ]) {
    const init = { method: "POST", body: JSON.stringify(body) };
    const { status } = await get(`${server.url}/v1/shares`, admin, init);
    assert.equal(status, 400, JSON.stringify(body));
  }
  assert.equal((await new FileShares(nodeHost, server.directory, Date.now).list()).length, 2);
});

test("where everyone on the machine may read sessions, only a token makes, lists or revokes shares", async () => {
  const { root } = await sharer();
  const { server } = await serveSessions([root]);
  assert.equal((await fetch(`${server.url}/v1/sessions`)).status, 200);
  const body = JSON.stringify({ session: "x" });
  for (const [method, path] of [
    ["POST", "/v1/shares"],
    ["GET", "/v1/shares"],
    ["DELETE", "/v1/shares/00"],
  ] as const) {
    const response = await fetch(server.url + path, {
      method,
      body: method === "POST" ? body : null,
    });
    assert.equal(response.status, 401, method);
  }
});
