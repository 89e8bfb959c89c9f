/** Two servers on one database, through HTTP. */

import assert from "node:assert/strict";
import { describe, onTestFinished, test } from "vitest";
import { VerbatimClient } from "../../src/doors/client.ts";
import { openServer } from "../../src/doors/server.ts";
import { type RunningServer, serveStore } from "../../src/server/serve.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { refusal } from "../support/refusal.ts";
import { SignedDatabase } from "../support/signed-database.ts";
import { PULL } from "../support/subscription-http.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a live reader on one server receives what is appended on another", async () => {
    const [one, two] = await servers(newSchema());
    const path = "/v1/stream/s";
    const headers = { "Content-Type": "text/plain" };
    await fetch(`${one.url}${path}`, { method: "PUT", headers });
    const waiting = fetch(`${two.url}${path}?offset=now&live=long-poll`);
    await fetch(`${one.url}${path}`, { method: "POST", headers, body: "hello" });
    const read = await (await fetch(`${two.url}${path}?offset=-1`)).text();
    assert.equal(read, "hello");
    const answer = await waiting;
    assert.ok(["", "hello"].includes(await answer.text()));
  });

  test("a session that one server received is listed, read and followed on another", async () => {
    const [one, two] = await servers(newSchema());
    const path = "/v1/stream/sessions/ada/homeagent/agents/cook/sessions/soup.jsonl";
    const send = (method: string, text: string) => {
      const body = JSON.stringify({ turnId: "1", role: "user", content: text, ts: 1 });
      const headers = { "Content-Type": "application/octet-stream" };
      return fetch(`${one.url}${path}`, { method, headers, body: `${body}\n` });
    };
    assert.equal((await send("PUT", "first")).status, 201);
    const client = new VerbatimClient({ url: two.url });
    const { sessions } = await client.sessions.list();
    assert.deepEqual(
      sessions.map(({ session }) => session),
      ["cook/soup"],
    );
    const at = `${two.url}/v1/sessions/${sessions[0]?.id}`;
    for (let n = 0; n < 20; n++) {
      assert.ok((await send("POST", `then ${n}`)).ok);
      const entries = await (await fetch(`${at}/entries`)).text();
      assert.ok(entries.includes(`then ${n}`), "a read has what was acknowledged before");
    }
    const events = await fetch(`${at}/events`);
    let text = "";
    const reading = (async () => {
      for await (const bytes of events.body ?? []) text += Buffer.from(bytes).toString();
    })();
    await until(() => text.includes("first"), "what was there");
    assert.ok((await send("POST", "second")).ok);
    await until(() => text.includes("second"), "what was sent since");
    await two.close();
    await reading;
  });

  test("a subscription on one server gets what is appended on another", async () => {
    const [one, two] = await servers(newSchema());
    const headers = { "Content-Type": "application/json" };
    const at = (server: RunningServer, path: string) => `${server.url}/v1/stream${path}`;
    const send = (url: string, method: string, body?: object) =>
      fetch(url, { method, headers, body: JSON.stringify(body ?? {}) });
    const { pattern: _, ...unnamed } = PULL;
    const bodies = { glob: PULL, named: { ...unnamed, streams: ["chat/1"] } };
    for (const [id, body] of Object.entries(bodies)) {
      const answer = await send(at(one, `/__ds/subscriptions/${id}`), "PUT", body);
      assert.equal(answer.status, 201, await answer.text());
    }
    const streams = { glob: "/events/1", named: "/chat/1" };
    for (const [id, path] of Object.entries(streams)) {
      await fetch(at(two, path), { method: "PUT", headers });
      await send(at(two, path), "POST", { n: 1 });
      const claim = at(one, `/__ds/subscriptions/${id}/claim`);
      const isWoken = async () => (await send(claim, "POST", { worker: "w" })).ok;
      await until(isWoken, `${id} has work`);
    }
  });

  test("one server runs the subscriptions; the other refuses requests until it may take over", async () => {
    const schema = newSchema();
    const [one, two] = await servers(schema);
    const body = JSON.stringify(PULL);
    const headers = { "Content-Type": "application/json" };
    const put = (server: RunningServer) =>
      fetch(`${server.url}/v1/stream/__ds/subscriptions/a`, { method: "PUT", headers, body });
    const answers = [await put(one), await put(two)];
    assert.equal(answers[0]?.status, 201);
    assert.equal(answers[1]?.status, 503);
    assert.equal(answers[1]?.headers.get("Retry-After"), "1");
    await one.close();
    const [three] = await servers(schema);
    assert.equal((await put(three)).status, 200); // It is there already.
  });

  test("/health says what the database promises", async () => {
    const [one] = await servers(newSchema());
    const health = (await (await fetch(`${one.url}/health`)).json()) as { durability: string };
    assert.equal(health.durability, "memory");
  });

  test("a database that does not answer makes the server unavailable, and both changes are reported", async () => {
    const directory = new URLSearchParams((await sharedPostgres()).split("?")[1]).get("host");
    const proxy = await PostgresProxy.open(directory ?? "");
    const choices = { schema: newSchema(), durability: "memory" } as const;
    const store = await openPostgresStore(proxy.url, choices);
    const faults: string[] = [];
    const onFault = (what: string, cause: unknown) => faults.push(`${what}: ${cause}`);
    const server = await serveStore(store, { dataDirectory: tempDirectory(), port: 0, onFault });
    onTestFinished(async () => {
      await server.close();
      await proxy.close();
    });
    const statusOf = async (probe: string) => {
      const response = await fetch(`${server.url}/${probe}`);
      return [response.status, ((await response.json()) as { status: string }).status];
    };
    const { target } = proxy;
    proxy.target = null;
    proxy.cutAll();
    const lost = () => faults.filter((each) => each.startsWith("streams are unavailable: "));
    await until(() => lost().length > 0, "the loss is reported");
    assert.deepEqual(await statusOf("health"), [503, "unavailable"]);
    assert.deepEqual(await statusOf("ready"), [503, "unavailable"]);
    assert.deepEqual(await statusOf("live"), [200, "unavailable"]);
    proxy.target = target;
    const back = () =>
      faults.filter((each) => /^streams are available again: after \d+ s$/.test(each));
    await until(() => back().length > 0, "the return is reported");
    assert.deepEqual(await statusOf("health"), [200, "ok"]);
    assert.deepEqual([lost().length, back().length], [1, 1]);
    assert.match(lost()[0] ?? "", /the database does not answer/);
  });

  test("a server refuses a database that promises too little", async () => {
    const options = { root: tempDirectory(), port: 0, store: await sharedPostgres() };
    await refusal(openServer(options), "POSTGRES_REFUSED");
  });

  test("a server that signs, asked for it as with files, signs streams in a database", async () => {
    const database = await SignedDatabase.create("verbatim"); // The schema of a server.
    const { url: store } = database;
    const options = { root: tempDirectory(), port: 0, store, durability: "memory" } as const;
    const server = await openServer({ ...options, sign: true });
    const path = `/${newSchema()}`;
    const headers = { "Content-Type": "text/plain" };
    await fetch(`${server.url}/v1/stream${path}`, { method: "PUT", headers, body: "one" });
    await server.close();
    assert.deepEqual(await database.kinds(path), ["genesis", "batch"]);
    assert.equal((await database.reports()).get(path)?.verdict, "verified");
  });
});

async function servers(schema: string): Promise<[RunningServer, RunningServer]> {
  const open = async () => {
    const choices = { schema, durability: "memory" } as const;
    const store = await openPostgresStore(await sharedPostgres(), choices);
    const server = await serveStore(store, { dataDirectory: tempDirectory(), port: 0 });
    onTestFinished(() => server.close());
    return server;
  };
  return [await open(), await open()];
}
