/** What a server does with sessions that it received: who sees them, and how copies are rebuilt. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { VerbatimClient } from "../../src/doors/client.ts";
import { revokeToken, tokenFile, tokenFilePath } from "../../src/server/auth/tokens.ts";
import { ReceivedSessions } from "../../src/server/received/received-sessions.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { bearer, makeToken } from "../server/auth/token-user.ts";
import { startTestServer, type TestServer } from "../server/test-server.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

const BYTES = "application/octet-stream";
const turn = (text: string) => {
  return `${JSON.stringify({ turnId: "1", role: "user", content: text, ts: 1_700_000_000_000 })}\n`;
};
const streamOf = (folder: string, name: string) => {
  return `/sessions/${folder}/homeagent/agents/cook/sessions/${name}.jsonl`;
};
const copyOf = ({ directory }: TestServer, stream: string) => {
  return join(directory, stream.replace("/sessions/", ".received/"));
};

async function receive(server: TestServer, stream: string, text: string): Promise<void> {
  await server.put(stream, BYTES);
  await server.post(stream, BYTES, text);
}

async function isCopied(server: TestServer, stream: string, text: string): Promise<void> {
  const path = copyOf(server, stream);
  const isThere = () => existsSync(path) && readFileSync(path, "utf8") === text;
  await until(isThere, `the copy of ${stream}`);
}

const namesOf = async ({ sessions }: VerbatimClient) => {
  return (await sessions.list()).sessions.map(({ session }) => session).sort();
};

test("a token for some folders sees the sessions in them, and no others", async () => {
  const server = await startTestServer();
  for (const folder of ["ada", "ben"]) {
    await receive(server, streamOf(folder, folder), turn(`word of ${folder}`));
    await isCopied(server, streamOf(folder, folder), turn(`word of ${folder}`));
  }
  const tokenFor = async (...paths: string[]) => {
    return (await makeToken(server.directory, { scopes: ["read"], paths })).token;
  };
  const token = await tokenFor("sessions/ada/**");
  const outside = await tokenFor("chat/**");
  const clientOf = (token: string) => new VerbatimClient({ url: server.url, token });
  const all = clientOf(await tokenFor("**"));
  const both = clientOf(await tokenFor("sessions/*/homeagent/**"));
  // Patterns that do not cover the whole store show nothing of it.
  const parts = [await tokenFor("sessions/ada/*"), await tokenFor("sessions/ada/homeagent/x/**")];
  const isClosed = async () => (await fetch(`${server.url}/v1/sessions`)).status === 401;
  await until(isClosed, "the server has noticed the tokens");
  await until(async () => (await namesOf(all)).length === 2, "both are listed");
  const ada = clientOf(token);
  assert.deepEqual(await namesOf(ada), ["cook/ada"]);
  assert.deepEqual(await namesOf(both), ["cook/ada", "cook/ben"]);
  for (const part of parts) assert.deepEqual(await namesOf(clientOf(part)), []);
  const found = await ada.sessions.search("word");
  const hits = found.hits.map(({ session }) => session.session);
  assert.deepEqual(hits, ["cook/ada"]);
  const { facets } = await ada.sessions.list({ facets: true });
  const counts = facets?.agents.map(({ sessions }) => sessions);
  assert.deepEqual(counts, [1]);
  const others = (await all.sessions.list()).sessions.find(({ session }) => session === "cook/ben");
  const { id = "" } = others ?? {};
  for (const part of ["", "/entries", "/verify", "/bytes", "/whereabouts", "/costs", "/markdown"]) {
    const at = `${server.url}/v1/sessions/${id}${part}`;
    assert.equal((await fetch(at, { headers: bearer(token) })).status, 404, part);
  }
  for (const query of [`/v1/sessions?parent=${id}`, `/v1/search?q=word&session=${id}`]) {
    const response = await fetch(`${server.url}${query}`, { headers: bearer(token) });
    assert.equal(response.status, 404, query);
  }
  const refused = await fetch(`${server.url}/v1/sessions`, { headers: bearer(outside) });
  assert.equal(refused.status, 403);
});

test("sessions have the machine and the user that sent them: filters, counts, search and usage", async () => {
  const server = await startTestServer();
  const senders = { ada: ["desk", "laptop"], ben: ["laptop"] };
  const answer = (who: string) => {
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = { id: who, role: "assistant", model: "claude-opus-4-5-20251101", content: [] };
    const at = { timestamp: "2026-01-01T00:00:00Z", requestId: who };
    const said = { ...message, content: [{ type: "text", text: "a walnut" }], usage };
    return `${JSON.stringify({ type: "assistant", uuid: who, ...at, message: said })}\n`;
  };
  const row = (who: string) => {
    const message = { role: "user", content: `walnut of ${who}` };
    const at = { timestamp: "2026-01-01T00:00:00Z", cwd: "/src/app" };
    return `${JSON.stringify({ type: "user", uuid: `u-${who}`, ...at, message })}\n`;
  };
  const path = "claude-code/projects/-src-app/s1.jsonl";
  for (const [user, machines] of Object.entries(senders)) {
    for (const machine of machines) {
      const stream = `/sessions/team/@${machine}/${user}/${path}`;
      await receive(server, stream, row(`${user}@${machine}`) + answer(`${user}@${machine}`));
    }
  }
  await receive(server, `/sessions/old/${path}`, row("old") + answer("old"));
  const client = new VerbatimClient({ url: server.url });
  const titles = async (filter: object) => {
    const { sessions } = await client.sessions.list(filter);
    return sessions.map(({ title }) => title?.replace("walnut of ", "")).sort();
  };
  const all = ["ada@desk", "ada@laptop", "ben@laptop", "old"];
  await until(async () => String(await titles({})) === String(all), "all are listed");
  assert.deepEqual(await titles({ user: "ada" }), ["ada@desk", "ada@laptop"]);
  assert.deepEqual(await titles({ machine: "laptop" }), ["ada@laptop", "ben@laptop"]);
  assert.deepEqual(await titles({ machine: "laptop", user: "ada" }), ["ada@laptop"]);
  assert.deepEqual(await titles({ machine: "lap" }), []);
  const { sessions, facets } = await client.sessions.list({ facets: true, user: "ben" });
  const ben = { machine: "laptop", user: "ben", folder: "team", tokens: [] };
  assert.deepEqual(sessions[0]?.sender, ben);
  const counts = (choices = facets?.users) => choices?.map((each) => [each.value, each.sessions]);
  // A facet leaves its own filter out of its counts.
  assert.deepEqual(
    [counts(), counts(facets?.machines)],
    [
      [
        ["ada", 2],
        ["ben", 1],
      ],
      [["laptop", 1]],
    ],
  );
  const found = async (query: string, filter = {}) => {
    const { hits } = await client.sessions.search(query, filter);
    return new Set(hits.map(({ session }) => session.title?.replace("walnut of ", "")));
  };
  await until(async () => (await found("walnut")).size === 4, "all are indexed");
  assert.deepEqual(await found("walnut user:ADA machine:desk"), new Set(["ada@desk"]));
  assert.deepEqual(await found("walnut -user:ada"), new Set(["ben@laptop", "old"]));
  assert.deepEqual(
    await found("walnut", { machine: "laptop", user: "ben" }),
    new Set(["ben@laptop"]),
  );
  const usageOf = async (filter: object) => {
    let report = await client.usage({ tz: "UTC", ...filter });
    await until(async () => {
      report = await client.usage({ tz: "UTC", ...filter });
      return report.isComplete;
    }, "usage is counted");
    return report;
  };
  const usage = await usageOf({ by: "user" });
  const sums = (groups: typeof usage.users) => groups.map(({ name, total }) => `${name} ${total}`);
  assert.deepEqual(sums(usage.users).sort(), ["ada 30", "ben 15", "this server 15"]);
  assert.deepEqual(sums(usage.machines).sort(), ["desk 15", "laptop 30", "this server 15"]);
  assert.deepEqual(usage.series.map(({ name }) => name).sort(), ["ada", "ben", "this server"]);
  assert.equal((await usageOf({ machine: "laptop", user: "ada" })).total.total, 15);
});

test("a session has the names of the tokens that may send to its folder now", async () => {
  const server = await startTestServer();
  const stream = "/sessions/ada/@desk/ada/homeagent/agents/cook/sessions/dinner.jsonl";
  await receive(server, stream, turn("one"));
  const { directory } = server;
  const read = await makeToken(directory, { scopes: ["read"], paths: ["sessions/ada/**"] });
  const send = ["read", "append"] as const;
  await makeToken(directory, { name: "all", scopes: send });
  await makeToken(directory, { name: "ben", scopes: send, paths: ["sessions/ben/**"] });
  const ada = await makeToken(directory, { name: "Ada", scopes: send, paths: ["sessions/ada/**"] });
  const client = new VerbatimClient({ url: server.url, token: read.token });
  const tokens = async () => (await client.sessions.list()).sessions[0]?.sender?.tokens;
  await until(
    async () => (await tokens().catch(() => []))?.join() === "Ada",
    "only Ada's is named",
  );
  await revokeToken(tokenFile(nodeHost, tokenFilePath(directory)), ada.entry.id, Date.now());
  await until(async () => (await tokens())?.length === 0, "it is revoked");
});

test("a server that received sessions shows no examples", async () => {
  process.env.HOME = tempDirectory(); // A user without sessions.
  const server = await startTestServer({ roots: "found", demo: true });
  const { token } = await makeToken(server.directory, { scopes: ["read", "append"] });
  const client = new VerbatimClient({ url: server.url, token });
  await until(async () => (await client.demo()).isShown, "the examples are shown");
  const init = { method: "PUT", headers: { "Content-Type": BYTES, ...bearer(token) } };
  await fetch(server.at(streamOf("ada", "dinner")), init);
  await until(async () => !(await client.demo()).isShown, "the examples are gone");
});

test("copies that are missing or damaged are made again from the streams", async () => {
  const first = await startTestServer();
  const { directory: dataDirectory } = first;
  const streams = ["kept", "lost", "changed", "longer"].map((name) => streamOf("ada", name));
  const [kept = "", lost = "", changed = "", longer = ""] = streams;
  const text = turn("one") + turn("two");
  for (const stream of streams) await receive(first, stream, text);
  for (const stream of streams) await isCopied(first, stream, text);
  await first.running.close();
  const clean = join(dataDirectory, ".received/clean.json");
  assert.ok(existsSync(clean));
  rmSync(clean); // As if the server had been killed, and its disk had lost what was not synced.
  rmSync(copyOf(first, lost));
  writeFileSync(copyOf(first, changed), text.replace("one", "ONE"));
  appendFileSync(copyOf(first, longer), turn("three"));
  const second = await startTestServer({ dataDirectory });
  for (const stream of streams) await isCopied(second, stream, text);
  await second.post(kept, BYTES, turn("more"));
  await isCopied(second, kept, text + turn("more"));
  await second.running.close();
  rmSync(join(dataDirectory, ".received"), { recursive: true });
  const third = await startTestServer({ dataDirectory });
  await isCopied(third, kept, text + turn("more"));
});

test("a session whose streams are deleted is gone, and one that is created again replaces it", async () => {
  const server = await startTestServer();
  const stream = streamOf("ada", "dinner");
  await receive(server, stream, turn("one"));
  await isCopied(server, stream, turn("one"));
  await fetch(server.at(stream), { method: "DELETE" });
  await until(() => !existsSync(copyOf(server, stream)), "the copy is removed");
  await receive(server, stream, turn("other"));
  await isCopied(server, stream, turn("other"));
});

test("a session that is deleted while it is copied is no fault, and leaves no copy", async () => {
  const dataDirectory = tempDirectory();
  const store = await openLocalStore({ dataDirectory });
  const stream = streamOf("ada", "dinner");
  await store.create(stream, { body: Buffer.from(turn("one")), isClosed: false });
  const { read } = store;
  store.read = async (...request) => {
    await store.remove(stream);
    return read.apply(store, request);
  };
  const faults: unknown[] = [];
  const onFault = (_: string, cause: unknown) => faults.push(cause);
  const onDeleted = async () => {};
  const copying = { host: nodeHost, store, dataDirectory, onDeleted, onFault };
  const received = await ReceivedSessions.open(copying);
  await received.settled();
  const files = readdirSync(join(dataDirectory, ".received"), { recursive: true }).map(String);
  assert.deepEqual([faults, files.filter((name) => name.endsWith(".jsonl"))], [[], []]);
  await received.close();
  await store.close();
});

test("a stream that no session can have leaves no file", async () => {
  const server = await startTestServer();
  for (const path of ["..%2f..%2fx", "agents/%252e%252e/sessions/a.jsonl", "agents/cook/x.txt"]) {
    const at = `${server.url}/v1/stream/sessions/ada/homeagent/${path}`;
    await fetch(at, { method: "PUT", headers: { "Content-Type": BYTES }, body: "x" });
  }
  await receive(server, streamOf("ada", "dinner"), turn("one"));
  await isCopied(server, streamOf("ada", "dinner"), turn("one"));
  const files = readdirSync(join(server.directory, ".received"), { recursive: true });
  const names = ["ada", "homeagent", "agents", "cook", "sessions", "dinner.jsonl"];
  const expected = names.map((_, at) => names.slice(0, at + 1).join("/"));
  assert.deepEqual(files.map(String).sort(), expected.sort());
});
