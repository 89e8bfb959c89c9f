/** Waiting readers whose token is revoked or changed. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { LOOK_MS } from "../../../src/server/auth/gate.ts";
import { revokeToken, tokenFile, tokenFilePath } from "../../../src/server/auth/tokens.ts";
import { ManualTime } from "../../support/manual-time.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { until } from "../../support/until.ts";
import { newUser, ryeLog, type SessionPage, serveSessions } from "../sessions/served.ts";
import { bearer, makeToken } from "./token-user.ts";

const SAID = `${JSON.stringify({ ts: "2026-01-01T00:00:00Z", type: "user_message", text: "a" })}\n`;

/** A server with a stream and a session. Its time passes when the test says so. */
async function served() {
  newUser();
  const root = tempDirectory();
  mkdirSync(dirname(ryeLog(root, "a-1")), { recursive: true });
  writeFileSync(ryeLog(root, "a-1"), SAID);
  const time = new ManualTime(Date.now());
  const { server, json } = await serveSessions([root], { time });
  const [session] = (await json<SessionPage>("")).sessions;
  await server.put("/s", "text/plain", { body: "one" });
  const ways = {
    "events of a stream": `${server.at("/s")}?offset=now&live=sse`,
    "a long-poll": `${server.at("/s")}?offset=now&live=long-poll`,
    "events of a session": `${server.url}/v1/sessions/${session?.id}/events`,
  };
  return { server, time, path: tokenFilePath(server.directory), ways };
}

/** Reads in every way; `over` has each reader that has ended, `all` their answers. */
async function readers(ways: Readonly<Record<string, string>>, token: string) {
  const all = Object.entries(ways).map(async ([way, url]) => {
    const response = await fetch(url, { headers: bearer(token) });
    return { way, status: response.status, text: await response.text() };
  });
  const over: string[] = [];
  for (const each of all) each.then(({ way }) => over.push(way));
  return { all: Promise.all(all), over };
}

/** Resolves when that many readers wait. */
async function waiting(url: string, count: number): Promise<void> {
  await until(async () => {
    const health = (await (await fetch(`${url}/health`)).json()) as { liveReaders: number };
    return health.liveReaders === count;
  }, `waiting of ${count} readers`);
}

test("a live reader ends soon after its token was revoked, and no other does", async () => {
  const { server, time, path, ways } = await served();
  const mine = await makeToken(server.directory, { scopes: ["read"] });
  const theirs = await makeToken(server.directory);
  time.pass(LOOK_MS);
  const count = Object.keys(ways).length;
  const revoked = await readers(ways, mine.token);
  const others = await readers(ways, theirs.token);
  await waiting(server.url, 2 * count);
  for (let looks = 0; looks < 3; looks++) time.pass(LOOK_MS);
  await waiting(server.url, 2 * count);
  assert.deepEqual([...revoked.over, ...others.over], [], "a valid token ends no reader");

  await revokeToken(tokenFile(nodeHost, path), mine.entry.id, Date.now());
  time.pass(LOOK_MS); // Far less than their time limits.
  const ended = await revoked.all;
  // A poll is answered without data, with the offset to continue from; event streams end as at
  // their time limit.
  assert.deepEqual(
    ended.map(({ way, status }) => [way, status]),
    [
      ["events of a stream", 200],
      ["a long-poll", 204],
      ["events of a session", 200],
    ],
  );
  for (const url of Object.values(ways)) {
    assert.equal((await fetch(url, { headers: bearer(mine.token) })).status, 401, url);
  }
  await waiting(server.url, count);
  const append = { ...bearer(theirs.token), "Content-Type": "text/plain" };
  await fetch(server.at("/s"), { method: "POST", headers: append, body: "two" });
  await waiting(server.url, count - 1); // The poll is answered, and the two others continue.
  assert.deepEqual(others.over, ["a long-poll"]);
  await server.running.close();
  const [events] = await others.all;
  assert.match(events?.text ?? "", /^data:two$/m);
});

type Change = (entry: object) => object | null;

test.each<[string, Change]>([
  ["has expired", (entry) => ({ ...entry, expiresAt: "2026-01-01T00:00:00.000Z" })],
  ["no longer matches their paths", (entry) => ({ ...entry, paths: ["other/**"] })],
  ["may only append", (entry) => ({ ...entry, scopes: ["append"] })],
  ["was removed from the file", () => null],
])("live readers end soon after their token %s", async (_, change) => {
  const { server, time, path, ways } = await served();
  const { token } = await makeToken(server.directory, { scopes: ["read"] });
  time.pass(LOOK_MS);
  const reading = await readers(ways, token);
  await waiting(server.url, Object.keys(ways).length);
  const file = JSON.parse(readFileSync(path, "utf8")) as { tokens: object[] };
  const tokens = file.tokens.map(change).filter((entry) => entry !== null);
  writeFileSync(path, JSON.stringify({ ...file, tokens }));
  time.pass(LOOK_MS);
  await reading.all;
});
