/** `/v1/admin/tokens`: making, listing, rotating and revoking tokens, on files and on a database. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { describe, onTestFinished, test } from "vitest";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { LOOK_MS } from "../../../src/server/auth/gate.ts";
import { POLL_MS } from "../../../src/server/auth/token-follower.ts";
import { REFUSAL_MS } from "../../../src/server/auth/token-limits.ts";
import { TokenTables } from "../../../src/server/auth/token-tables.ts";
import {
  createToken,
  revokeToken,
  tokenFile,
  tokenFilePath,
} from "../../../src/server/auth/tokens.ts";
import { TOKENS_PATH } from "../../../src/server/router/paths.ts";
import { ManualTime } from "../../support/manual-time.ts";
import { lacksPostgres, newDatabase, rowsIn } from "../../support/postgres.ts";
import { PostgresProxy } from "../../support/postgres-proxy.ts";
import { until } from "../../support/until.ts";
import { check } from "../described.ts";
import { refused, startTestServer } from "../test-server.ts";
import { bearer, makeToken, type Wanted } from "./token-user.ts";

const DAY_S = 86_400;

type Item = Readonly<Record<string, unknown>> & { readonly id: string; readonly token: string };

/** Requests to the admin API of a server by one token. */
function adminOf(url: string, token: string) {
  return (method: string, path = "", body?: unknown) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const init = { method, headers: bearer(token), ...(body === undefined ? {} : { body: text }) };
    return fetch(`${url}/v1/admin/tokens${path}`, init);
  };
}

/** A server on files, with a token that manages tokens. */
async function served(wanted: Wanted = { scopes: ["admin", "tokens"] }) {
  const time = new ManualTime(Date.now());
  const notes: string[] = [];
  const server = await startTestServer({ time, onNote: (note) => notes.push(note) });
  const maker = await makeToken(server.directory, wanted);
  time.pass(LOOK_MS);
  const statusOf = async (token: string, path = "/team/1", method = "GET") => {
    time.pass(LOOK_MS);
    return (await fetch(server.at(path), { method, headers: bearer(token) })).status;
  };
  return { server, time, notes, maker, ask: adminOf(server.url, maker.token), statusOf };
}

test("a token is made, shown once, listed without its hash, rotated and revoked", async () => {
  const { server, time, notes, maker, ask, statusOf } = await served();
  const limits = { requestsPerSecond: 50, readers: 3 };
  const body = { name: "team", scopes: ["append"], paths: ["team/**"], limits };
  const made = await ask("POST", "", { ...body, expiresInSeconds: DAY_S });
  assert.equal(made.status, 201);
  await check(TOKENS_PATH, made.clone(), "POST");
  const { token, ...item } = (await made.json()) as Item;
  const expiresAt = new Date(time.nowMs() + DAY_S * 1000).toISOString();
  const createdAt = new Date(time.nowMs()).toISOString();
  const times = { createdAt, createdBy: maker.entry.id, expiresAt, revokedAt: null };
  const { id } = item;
  assert.deepEqual(item, { id, ...body, project: null, ...times, state: "valid" });
  assert.equal(await statusOf(token, "/team/1", "PUT"), 201);

  await check(TOKENS_PATH, await ask("GET"));
  const listed = (await (await ask("GET")).json()) as { tokens: Item[] };
  assert.deepEqual(
    listed.tokens.map((each) => each.id),
    [maker.entry.id, id],
  );
  assert.deepEqual(listed.tokens[1], item);

  const rotation = await ask("POST", `/${id}/rotate`, { graceSeconds: 60 });
  await check(`${TOKENS_PATH}/{token}/rotate`, rotation.clone(), "POST");
  const next = (await rotation.json()) as Item;
  assert.deepEqual(
    [next.expiresAt, next.createdBy, next.limits],
    [expiresAt, maker.entry.id, limits],
  );
  assert.equal(await statusOf(token, "/team/1", "PUT"), 200);
  assert.equal(await statusOf(next.token, "/team/1", "PUT"), 200);
  time.pass(60_000);
  assert.equal(await statusOf(token, "/team/1", "PUT"), 401);
  const again = (await (await ask("POST", `/${next.id}/rotate`)).json()) as Item;
  assert.equal(
    await statusOf(next.token, "/team/1", "PUT"),
    401,
    "without a grace it ends at once",
  );
  assert.equal(await statusOf(again.token, "/team/1", "PUT"), 200);
  assert.deepEqual(await refused(await ask("POST", `/${id}/rotate`)), [404, "TOKEN_NOT_FOUND"]);

  const revoked = await ask("DELETE", `/${again.id}`);
  assert.equal(revoked.status, 204);
  await check(`${TOKENS_PATH}/{token}`, revoked, "DELETE");
  assert.equal(await statusOf(again.token, "/team/1", "PUT"), 401);
  assert.deepEqual(await refused(await ask("DELETE", "/00000000")), [404, "TOKEN_NOT_FOUND"]);

  // The operator sees who did what, by which request, and no secret.
  const requests = [made, rotation, revoked].map((each) => each.headers.get("Request-Id"));
  assert.equal(new Set(requests).size, 3);
  const by = (request: string | null | undefined) =>
    `by token ${maker.entry.id}, request ${request}`;
  assert.equal(notes[0], `token ${id} was created ${by(requests[0])}`);
  assert.equal(notes[1], `token ${id} was rotated to ${next.id} ${by(requests[1])}`);
  assert.equal(notes.at(-1), `token ${again.id} was revoked ${by(requests[2])}`);
  const stored = readFileSync(tokenFilePath(server.directory), "utf8") + notes.join("\n");
  for (const secret of [token, next.token, again.token, maker.token]) {
    assert.ok(!stored.includes(secret.slice(4)));
  }
});

test("a wrong call is refused with the field that is wrong, and makes nothing", async () => {
  const { ask } = await served();
  const scopes = ["read"];
  const cases: readonly [unknown, RegExp][] = [
    ["{", /the body is not JSON/],
    [[], /the body must be an object/],
    [{ scopes, path: "a" }, /path is not a field/],
    [{}, /scopes must be/],
    [{ scopes: [] }, /scopes must be/],
    [{ scopes: ["write"] }, /scopes must be/],
    [{ scopes: "read" }, /scopes must be/],
    [{ scopes, name: 1 }, /name is refused/],
    [{ scopes, name: "a\nb" }, /name is refused/],
    [{ scopes, paths: [] }, /paths must be/],
    [{ scopes, paths: "a" }, /paths must be/],
    [{ scopes, paths: ["a*"] }, /paths has one/],
    [{ scopes, paths: [1] }, /paths has one/],
    [{ scopes, machine: "a/b" }, /machine is refused/],
    [{ scopes, machine: "desk", paths: ["a"] }, /machine is another way/],
    [{ scopes, project: "" }, /project is refused/],
    [
      { scopes: ["read", "append"], project: "app" },
      /project is only for the scopes read and usage/,
    ],
    [{ scopes, limits: { requests: 1 } }, /limits is refused/],
    [{ scopes, limits: { streams: 0 } }, /limits is refused/],
    [{ scopes, limits: [] }, /limits is refused/],
    [{ scopes, expiresInSeconds: 0 }, /expiresInSeconds must be/],
    [{ scopes, expiresInSeconds: 1e12 }, /expiresInSeconds must be/],
  ];
  for (const [body, said] of cases) {
    const response = await ask("POST", "", body);
    const text = await response.clone().text();
    assert.match(text, said);
    assert.deepEqual(await refused(response), [400, "BAD_REQUEST"], text);
  }
  const grace = await ask("POST", "/00000000/rotate", { graceSeconds: -1 });
  assert.match(await grace.clone().text(), /graceSeconds must be/);
  assert.deepEqual(await refused(grace), [400, "BAD_REQUEST"]);
  assert.deepEqual(await refused(await ask("PUT", "")), [405, "METHOD_NOT_ALLOWED"]);
  assert.deepEqual(await refused(await ask("GET", "/00000000")), [405, "METHOD_NOT_ALLOWED"]);
  const { tokens } = (await (await ask("GET")).json()) as { tokens: Item[] };
  assert.equal(tokens.length, 1);
});

test("a token makes, sees and ends only tokens that are not wider than itself", async () => {
  const narrow: Wanted = {
    scopes: ["read", "tokens"],
    paths: ["team/**"],
    limits: { requestsPerSecond: 1000 },
  };
  const { server, ask, time } = await served(narrow);
  const others = await Promise.all([
    makeToken(server.directory, { scopes: ["read"] }),
    makeToken(server.directory, { scopes: ["admin"], paths: ["team/**"] }),
    makeToken(server.directory, { scopes: ["read"], paths: ["team/**"] }), // Without its limit.
  ]);
  time.pass(LOOK_MS);
  const wider: readonly [object, RegExp][] = [
    [{ scopes: ["append"] }, /scopes would allow more/],
    [{ scopes: ["admin"] }, /scopes would allow more/],
    [{ scopes: ["read"], paths: ["**"] }, /paths would allow more/],
    [{ scopes: ["read"], paths: ["team/**", "other"] }, /paths would allow more/],
    [{ scopes: ["read"], machine: "desk" }, /paths would allow more/],
    [{ scopes: ["read"], limits: { readers: 1 } }, /limits would allow more/],
    [{ scopes: ["read"], limits: { requestsPerSecond: 1001 } }, /limits would allow more/],
  ];
  for (const [body, said] of wider) {
    const response = await ask("POST", "", body);
    assert.match(await response.clone().text(), said);
    assert.deepEqual(await refused(response), [400, "BAD_REQUEST"]);
  }
  const made = (await (await ask("POST", "", { scopes: ["read", "tokens"] })).json()) as Item;
  assert.deepEqual([made.paths, made.limits], [["team/**"], { requestsPerSecond: 1000 }]);
  const { tokens } = (await (await ask("GET")).json()) as { tokens: Item[] };
  assert.deepEqual(tokens.length, 2, "itself, and the one that it made");
  for (const { entry } of others) {
    assert.deepEqual(await refused(await ask("DELETE", `/${entry.id}`)), [404, "TOKEN_NOT_FOUND"]);
    const rotation = await ask("POST", `/${entry.id}/rotate`);
    assert.deepEqual(await refused(rotation), [404, "TOKEN_NOT_FOUND"]);
  }
});

test("a token that is revoked while its request is being sent makes no other", async () => {
  const { server, time, maker } = await served();
  const list = tokenFile(nodeHost, tokenFilePath(server.directory));
  const asked = request(`${server.url}${TOKENS_PATH}`, {
    method: "POST",
    headers: { ...bearer(maker.token), Expect: "100-continue", Connection: "close" },
  });
  asked.flushHeaders();
  await once(asked, "continue"); // It is admitted.
  await revokeToken(list, maker.entry.id, time.nowMs());
  asked.end(JSON.stringify({ scopes: ["read"] }));
  const [{ statusCode }] = await once(asked, "response");
  assert.equal(statusCode, 401);
  assert.equal((await list.entries()).length, 1);
});

test("without any token, nothing on this machine may make one over HTTP", async () => {
  const server = await startTestServer();
  for (const [method, path] of [
    ["GET", ""],
    ["POST", ""],
    ["DELETE", "/00000000"],
  ] as const) {
    const ask = adminOf(server.url, "vbt_x");
    const bare = await fetch(`${server.url}/v1/admin/tokens${path}`, { method });
    assert.deepEqual(await refused(bare), [401, "TOKEN_REQUIRED"]);
    assert.deepEqual(await refused(await ask(method, path)), [401, "TOKEN_REQUIRED"]);
  }
});

describe.skipIf(lacksPostgres)("with a database", () => {
  /** Two servers, each with its own directory, and a token that manages tokens. */
  async function pair() {
    const url = await newDatabase();
    const directory = new URLSearchParams(url.split("?")[1]).get("host");
    const proxy = await PostgresProxy.open(directory ?? "");
    onTestFinished(() => proxy.close());
    const faults: string[] = [];
    const onFault = (what: string) => faults.push(what);
    const time = new ManualTime(Date.now());
    const options = { durability: "memory", time, onFault } as const;
    const one = await startTestServer({ ...options, store: url });
    const [, name] = /\/(s[0-9a-f]{16})\?/.exec(url) ?? [];
    const through = proxy.url.replace(/\/postgres$/, `/${name}`);
    assert.ok(through.includes(`/${name}`), proxy.url);
    const two = await startTestServer({ ...options, store: through });
    const tables = await TokenTables.open(url);
    onTestFinished(() => tables.close());
    const wanted = {
      name: "",
      scopes: ["admin", "tokens"],
      paths: ["**"],
      expiresAtMs: null,
    } as const;
    const maker = await createToken(tables, wanted, time.nowMs());
    const statusOf = async (server: typeof one, token: string) => {
      return (await fetch(server.at("/team/1"), { headers: bearer(token) })).status;
    };
    /** Both servers ask the database until the token has this status on them. */
    const settles = async (token: string, status: number, servers = [one, two]) => {
      for (const server of servers) {
        await until(async () => {
          time.pass(POLL_MS); // A poll may be on its way already.
          return (await statusOf(server, token)) === status;
        }, `it is ${status}`);
      }
    };
    // Until it has read a token, a server needs none, and every token has this status there.
    await settles("vbt_unknown", 401);
    await settles(maker.token, 404);
    return { url, proxy, one, two, time, tables, maker, faults, statusOf, settles };
  }

  test("a token that one server makes is valid on both, and ends on both when the other revokes it", async () => {
    const { url, one, two, time, maker, statusOf, settles } = await pair();
    assert.equal(await statusOf(two, "vbt_unknown"), 401);
    const made = await adminOf(one.url, maker.token)("POST", "", { scopes: ["read", "append"] });
    const { token, id } = (await made.json()) as Item;
    assert.equal(await statusOf(one, token), 404, "at once where it was made");
    await settles(token, 404);
    const live = await fetch(one.at("/team/1"), { method: "PUT", headers: bearer(token) });
    assert.equal(live.status, 201);
    const reading = fetch(`${one.at("/team/1")}?offset=now&live=sse`, { headers: bearer(token) });
    const events = (await reading).text();
    const rows = await rowsIn(url, "SELECT entry FROM verbatim.tokens ORDER BY place");
    const entry = JSON.parse(String(rows[1]?.entry));
    const { sha256, createdAt } = entry;
    const made2 = { createdAt, createdBy: maker.entry.id };
    assert.deepEqual(entry, {
      id,
      name: "",
      sha256,
      scopes: ["read", "append"],
      paths: ["**"],
      ...made2,
    });
    assert.ok(!JSON.stringify(rows).includes(token.slice(4)));

    assert.equal((await adminOf(two.url, maker.token)("DELETE", `/${id}`)).status, 204);
    assert.equal(await statusOf(two, token), 401, "at once where it was revoked");
    await settles(token, 401);
    time.pass(LOOK_MS);
    await events; // It ends.
  });

  test("while the database is away the last list holds, and what is revoked stays revoked", async () => {
    const { url, proxy, one, two, time, tables, maker, faults, statusOf, settles } = await pair();
    const gone = await createToken(
      tables,
      { name: "", scopes: ["admin"], paths: ["**"], expiresAtMs: null },
      time.nowMs(),
    );
    await settles(gone.token, 404);
    await adminOf(one.url, maker.token)("DELETE", `/${gone.entry.id}`);
    await settles(gone.token, 401);
    const { target } = proxy;
    proxy.target = null;
    proxy.cutAll();
    time.pass(POLL_MS);
    await until(() => faults.includes("reading the tokens of the database"), "it is reported");
    assert.equal(await statusOf(two, gone.token), 401);
    assert.notEqual(await statusOf(two, maker.token), 401);
    assert.equal(await statusOf(two, "vbt_unknown"), 401);
    // As if the database were set back to a backup from before the revocation.
    const { sha256, createdAt } = gone.entry;
    const before = { ...gone.entry, sha256, createdAt };
    await rowsIn(
      url,
      `UPDATE verbatim.tokens SET entry = '${JSON.stringify(before)}' WHERE id = '${gone.entry.id}';
       UPDATE verbatim.token_list SET version = version + 1`,
    );
    proxy.target = target;
    const other = await createToken(
      tables,
      { name: "", scopes: ["read"], paths: ["**"], expiresAtMs: null },
      time.nowMs(),
    );
    await until(async () => {
      time.pass(POLL_MS);
      return (await statusOf(two, other.token)) === 404;
    }, "the list is read again");
    await settles(other.token, 404);
    for (const server of [one, two]) assert.equal(await statusOf(server, gone.token), 401);
  });

  test("an entry that this version does not know is not used, and the last list holds", async () => {
    const { url, one, two, time, maker, faults, statusOf } = await pair();
    await rowsIn(
      url,
      `INSERT INTO verbatim.tokens (id, entry) VALUES ('ffffffff', '{"id":"ffffffff","extra":1}');
       UPDATE verbatim.token_list SET version = version + 1`,
    );
    time.pass(POLL_MS);
    const reports = () => faults.filter((each) => each === "reading the tokens of the database");
    await until(() => reports().length === 2, "both report it");
    for (const server of [one, two]) assert.equal(await statusOf(server, maker.token), 404);
  });

  test("a revocation takes effect after the database was set back, whatever was last read", async () => {
    const { url, tables, time, settles, two, statusOf } = await pair();
    const make = () => {
      const wanted = { name: "", scopes: ["admin"], paths: ["**"], expiresAtMs: null } as const;
      return createToken(tables, wanted, time.nowMs());
    };
    const old = await make();
    const [before] = await rowsIn(url, "SELECT version FROM verbatim.token_list");
    const lost = await make();
    await settles(lost.token, 404);
    await rowsIn(
      url,
      `DELETE FROM verbatim.tokens WHERE id = '${lost.entry.id}';
       UPDATE verbatim.token_list SET version = ${before?.version}`,
    );
    assert.equal(await statusOf(two, old.token), 404);
    await revokeToken(tables, old.entry.id, time.nowMs());
    await settles(old.token, 401);
    await settles(lost.token, 401);
  });

  test("far from the limit appends are not counted one by one, and what was claimed is given back", async () => {
    const { url, one, two, tables, time, settles } = await pair();
    const wanted = { name: "", scopes: ["append"], paths: ["a/**"], expiresAtMs: null } as const;
    const limits = { storedBytes: 32 * 1024 * 1024 };
    const { token } = await createToken(tables, { ...wanted, limits }, time.nowMs());
    await settles(token, 403);
    const headers = { ...bearer(token), "Content-Type": "text/plain" };
    const path = one.at("/a/0");
    assert.equal((await fetch(path, { method: "PUT", headers })).status, 201);
    const claims = () => rowsIn(url, "SELECT bytes::int, until FROM verbatim.token_writes");
    const post = (to: string) => fetch(to, { method: "POST", headers, body: "x" });
    assert.equal((await post(path)).status, 204);
    const [first, ...others] = await claims();
    assert.equal(first?.bytes, limits.storedBytes / 8 - 1);
    assert.deepEqual(others, []);
    for (let n = 0; n < 10; n++) assert.equal((await post(path)).status, 204);
    assert.deepEqual(await claims(), [first]);
    time.pass(1000);
    await until(async () => (await claims())[0]?.bytes === 0, "it is given back");
    assert.equal((await post(two.at("/a/0"))).status, 204);
  });

  test("streams and bytes are limited on both servers together", async () => {
    const { one, two, tables, time, settles } = await pair();
    const limits = { streams: 6, storedBytes: 60 };
    const { token } = await createToken(
      tables,
      { name: "", scopes: ["read", "append"], paths: ["a/**", "c"], limits, expiresAtMs: null },
      time.nowMs(),
    );
    await settles(token, 403);
    /** Refusals are sent when time passes. */
    const write = async (
      method: string,
      server: typeof one,
      path: string,
      body = "x".repeat(9),
    ) => {
      const headers = { ...bearer(token), "Content-Type": "text/plain" };
      const answer = fetch(server.at(path), { method, headers, body });
      let isOver = false;
      answer.then(() => {
        isOver = true;
      });
      await until(() => {
        time.pass(REFUSAL_MS);
        return isOver;
      }, "it is answered");
      return (await answer).status;
    };
    // One after the other, on alternating servers.
    for (const n of [0, 1, 2]) {
      assert.equal(await write("PUT", n % 2 ? two : one, `/a/${n}`), 201);
    }
    // At the same time: never past the limit together. One that would just fit may be refused.
    const all = Array.from({ length: 12 }, (_, n) => write("PUT", n % 2 ? two : one, `/a/x${n}`));
    const made = (await Promise.all(all)).filter((status) => status === 201).length;
    assert.ok(made <= 3, `${made} were made`);
    // One after the other: exactly up to the limit, and not one past it.
    for (let n = made; n < 3; n++) {
      assert.equal(await write("PUT", n % 2 ? two : one, `/a/y${n}`), 201);
    }
    for (const server of [one, two]) assert.equal(await write("PUT", server, "/a/z"), 429);
    assert.equal(await write("POST", one, "/a/0", "123"), 204); // 57 bytes.
    assert.equal(await write("POST", two, "/a/1", "456"), 204); // 60 bytes.
    for (const server of [one, two]) assert.equal(await write("POST", server, "/a/1", "7"), 429);
  });
});
