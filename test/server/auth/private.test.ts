/** Private sessions: who sees them, on this machine too. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import {
  BrowserKeys,
  COOKIE_MS,
  LINK_MS,
  USED_KEYS_MAX,
} from "../../../src/server/auth/browser-keys.ts";
import { SESSION_PARTS } from "../../../src/server/sessions/route.ts";
import { turnOf } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { newUser } from "../sessions/served.ts";
import { refused, startTestServer } from "../test-server.ts";
import { cookieOf, linkOf } from "./browser-user.ts";
import { bearer, makeToken } from "./token-user.ts";

const ROW = {
  type: "user",
  uuid: "u-1",
  parentUuid: null,
  sessionId: "s-1",
  cwd: "/home/me/demo",
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content: "a secret" },
};

/** A user with one session of Claude Code in their home. */
function userOfProgram(): string {
  const { home } = newUser();
  const before = process.env.HOME;
  process.env.HOME = home;
  onTestFinished(() => {
    process.env.HOME = before;
  });
  const folder = join(home, ".claude/projects/-work-demo");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0001.jsonl"),
    `${JSON.stringify(ROW)}\n`,
  );
  return home;
}

const found = (dataDirectory = tempDirectory()) =>
  startTestServer({ roots: "found", dataDirectory });

/** Every route about sessions, with the id of a real one. */
async function sessionRoutes(url: string, cookie: string): Promise<string[]> {
  const listed = await fetch(`${url}/v1/sessions`, { headers: { Cookie: cookie } });
  const { sessions } = (await listed.json()) as { sessions: { id: string }[] };
  const id = sessions[0]?.id ?? assert.fail("no session is listed");
  const parts = Object.keys(SESSION_PARTS).map((part) => `/v1/sessions/${id}/${part}`);
  const own = parts.map((path) => path.replace(/\/$/, ""));
  return ["/v1/sessions", ...own, "/v1/search?q=secret", "/v1/usage", "/v1/tools", "/v1/demo"];
}

test("without a link or a token, every route about sessions is 401 on this machine too", async () => {
  userOfProgram();
  const server = await found();
  const cookie = await cookieOf(linkOf(server.running));
  const routes = await sessionRoutes(server.url, cookie);
  assert.ok(routes.length > 10);
  for (const path of [...routes, "/v1/sessions/else", "/v1/sessions/a/b/c"]) {
    for (const method of ["GET", "HEAD", "DELETE"]) {
      const { status } = await fetch(server.url + path, { method });
      assert.equal(status, 401, `${method} ${path}`);
    }
    const bare = await fetch(server.url + path);
    const text = await bare.text();
    assert.match(text, /"TOKEN_REQUIRED".*verbatim open.*verbatim server token create/);
    assert.ok(!text.includes("secret"));
  }
  for (const path of routes) {
    const end = new AbortController();
    const init = { headers: { Cookie: cookie }, signal: end.signal };
    assert.equal((await fetch(server.url + path, init)).status, 200, path);
    end.abort();
  }
  for (const path of ["/", "/live", "/health", "/ready", "/metrics", "/v1/openapi.json"]) {
    assert.equal((await fetch(server.url + path)).status, 200, path);
  }
  await server.put("/chat/1", "text/plain", { body: "streams need no key" });
});

test("a link works once, and leads to the address without the key", async () => {
  userOfProgram();
  const server = await found();
  const link = linkOf(server.running);
  assert.match(link, /\/open\?key=\d+\.[\w-]{22}\.[\w-]{43}$/);
  assert.equal((await fetch(link, { method: "HEAD" })).status, 405, "a preview does not use it");
  const first = await fetch(link, { redirect: "manual" });
  assert.equal(first.status, 303);
  assert.equal(first.headers.get("location"), "./");
  assert.equal(first.headers.get("cache-control"), "no-store");
  assert.equal(first.headers.get("referrer-policy"), "no-referrer");
  const [cookie = ""] = first.headers.getSetCookie();
  const rules = /^verbatim_[0-9a-f]{8}=\S+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/;
  assert.match(cookie, rules);
  const again = await fetch(link, { redirect: "manual" });
  assert.equal(again.status, 401);
  assert.deepEqual(again.headers.getSetCookie(), []);
  assert.match(await again.text(), /works once.*verbatim open.*--data/s);
  const headers = { Cookie: `other=1; ${cookie.split(";")[0]}; more=2` };
  const known = await fetch(link, { redirect: "manual", headers });
  assert.equal(known.status, 303, "the browser that used it may open it again");
  assert.equal((await fetch(`${server.url}/v1/sessions`, { headers })).status, 200);
});

test("a forged, altered, foreign or old cookie or key is refused", async () => {
  userOfProgram();
  const [server, other] = [await found(), await found()];
  const status = async (Cookie: string) =>
    (await fetch(`${server.url}/v1/sessions`, { headers: { Cookie } })).status;
  const cookie = await cookieOf(linkOf(server.running));
  const foreign = await cookieOf(linkOf(other.running));
  const [name, value = ""] = cookie.split("=");
  const [expires = "", random = "", mac = ""] = value.split(".");
  const link = linkOf(server.running);
  const key = link.split("key=")[1] ?? "";
  const forged = [
    "",
    "x",
    "..",
    `${expires}.${random}.`,
    `${Number(expires) + 1}.${random}.${mac}`,
    `${expires}.${"A".repeat(22)}.${mac}`,
    `${expires}.${random}.${"A".repeat(43)}`,
    foreign.split("=")[1] ?? "",
    key,
    `${value}x`,
    ` ${value}x`,
    value.toUpperCase(),
  ];
  for (const each of forged) assert.equal(await status(`${name}=${each}`), 401, each);
  assert.equal(await status(foreign), 401);
  assert.equal(await status(cookie), 200);
  const opened = async (to: string) => (await fetch(to, { redirect: "manual" })).status;
  for (const each of [value, `${key}x`, key.slice(1), "", linkOf(other.running).split("key=")[1]]) {
    assert.equal(await opened(`${server.url}/open?key=${each}`), 401, each);
  }
  assert.equal(await opened(`${server.url}/open`), 401);
  assert.equal(await opened(link), 303, "none of them used it up");
});

test("keys and cookies expire at their time, and used keys have a limit", async () => {
  let nowMs = 1_800_000_000_000;
  const open = () => BrowserKeys.open(nodeHost, directory, "https://127.0.0.1:1", () => nowMs);
  const directory = tempDirectory();
  const keys = await open();
  const keyOf = (from: BrowserKeys) => from.newLink().split("key=")[1] ?? "";
  const [first, second] = [keyOf(keys), keyOf(keys)];
  nowMs += LINK_MS - 1;
  const cookie = keys.exchange(first) ?? assert.fail();
  assert.match(cookie, /; Secure$/, "the server has TLS");
  nowMs += 1;
  assert.equal(keys.exchange(second), null);
  const request = { headers: { cookie: cookie.split(";")[0] } } as never;
  nowMs += COOKIE_MS - 2;
  assert.equal(keys.admits(request), true);
  assert.equal((await open()).admits(request), true, "after a restart, too");
  nowMs += 1;
  assert.equal(keys.admits(request), false);
  const early = keyOf(keys);
  for (let n = 0; n < USED_KEYS_MAX; n++) assert.notEqual(keys.exchange(keyOf(keys)), null);
  assert.equal(keys.exchange(early), null);
  nowMs += LINK_MS;
  assert.notEqual(keys.exchange(keyOf(keys)), null, "used keys that expired are forgotten");
});

test("after a restart cookies are valid and links are not; a new secret ends both", async () => {
  userOfProgram();
  const directory = tempDirectory();
  const first = await found(directory);
  const [link, cookie] = [linkOf(first.running), await cookieOf(linkOf(first.running))];
  const key = link.split("key=")[1];
  await first.running.close();
  const file = join(directory, ".viewer.json");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const status = async (url: string) =>
    (await fetch(`${url}/v1/sessions`, { headers: { Cookie: cookie } })).status;
  const second = await found(directory);
  assert.equal(await status(second.url), 200);
  const old = await fetch(`${second.url}/open?key=${key}`, { redirect: "manual" });
  assert.equal(old.status, 401);
  await second.running.close();
  const before = JSON.parse(readFileSync(file, "utf8")).secret;
  chmodSync(file, 0o644); // Others may have read it.
  const third = await found(directory);
  assert.equal(await status(third.url), 401);
  assert.notEqual(JSON.parse(readFileSync(file, "utf8")).secret, before);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("a token with the scope read sees private sessions; others do not", async () => {
  userOfProgram();
  const directory = tempDirectory();
  const reads = await makeToken(directory, { scopes: ["read"] });
  const appends = await makeToken(directory, { scopes: ["append"] });
  const server = await found(directory);
  const ask = (headers: Record<string, string>) => fetch(`${server.url}/v1/sessions`, { headers });
  assert.equal((await ask(bearer(reads.token))).status, 200);
  assert.deepEqual(await refused(await ask(bearer(appends.token))), [403, "NOT_ALLOWED"]);
  assert.deepEqual(await refused(await ask(bearer("vbt_none"))), [401, "TOKEN_REQUIRED"]);
  const cookie = await cookieOf(linkOf(server.running));
  assert.equal((await ask({ Cookie: cookie })).status, 200, "also where tokens are required");
  const stream = await fetch(server.at("/chat/1"), { method: "PUT", headers: { Cookie: cookie } });
  assert.equal(stream.status, 401, "a cookie is for sessions only");
});

test("a page of another origin cannot read sessions with the browser's cookie", async () => {
  userOfProgram();
  const server = await found();
  const Cookie = await cookieOf(linkOf(server.running));
  const url = `${server.url}/v1/sessions`;
  const foreign = await fetch(url, { headers: { Cookie, Origin: "https://evil.example" } });
  assert.deepEqual(await refused(foreign), [403, "ORIGIN_REFUSED"]);
  // Another port of this machine: without this header a browser does not hand over the answer.
  for (const method of ["GET", "OPTIONS"]) {
    const headers = { Cookie, Origin: "http://127.0.0.1:3000" };
    const near = await fetch(url, { method, headers });
    assert.equal(near.headers.get("access-control-allow-credentials"), null);
  }
});

test("named roots are private if a program keeps its sessions there, and else are not", async () => {
  const home = userOfProgram();
  const program = await startTestServer({ roots: [join(home, ".claude")] });
  assert.equal((await fetch(`${program.url}/v1/sessions`)).status, 401);
  const user = newUser();
  const root = tempDirectory();
  await user.write({ dialect: "rye" }, turnOf("mine"), { root });
  const own = await startTestServer({ roots: [root] });
  assert.equal(own.running.newLink(), null);
  assert.equal((await fetch(`${own.url}/v1/sessions`)).status, 200);
  assert.equal((await fetch(`${own.url}/open?key=x`)).status, 404);
});
