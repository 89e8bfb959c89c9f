/** Entries over HTTP: what is written, what is refused, and that a retry writes nothing again. */

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { VerbatimClient } from "../../../src/doors/client.ts";
import type { NewPostedSession } from "../../../src/server/posted/posted-sessions.ts";
import { POSTED_ENTRIES_MAX } from "../../../src/server/posted/route.ts";
import { serveStore } from "../../../src/server/serve.ts";
import type { ServeOptions } from "../../../src/server/settings/serve-options.ts";
import { openPostgresStore } from "../../../src/streams/postgres/postgres-store.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../../support/postgres.ts";
import { refusal } from "../../support/refusal.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { until } from "../../support/until.ts";
import { bearer, makeToken } from "../auth/token-user.ts";
import { check } from "../described.ts";
import { startTestServer, type TestServer, testServer } from "../test-server.ts";

const JSON_TYPE = "application/json";
const LINES_TYPE = "application/x-ndjson";
const SESSIONS = "/v1/sessions";
const ENTRIES = `${SESSIONS}/{id}/entries`;

const say = (text: string) => ({ kind: "message", role: "user", parts: [{ type: "text", text }] });

interface Written {
  readonly id: string;
  readonly session: string;
  readonly url: string;
  readonly end: number;
  readonly entries: readonly { id: string; start: number; end: number }[];
}

interface Refused {
  readonly error: { readonly code: string; readonly message: string; readonly field?: string };
}

type Sent = string | Uint8Array | object;

interface Headers {
  readonly key?: string | undefined;
  readonly token?: string;
  readonly type?: string;
}

function post(url: string, sent: Sent, { key, token, type = JSON_TYPE }: Headers = {}) {
  const isRaw = typeof sent === "string" || sent instanceof Uint8Array;
  return fetch(url, {
    method: "POST",
    headers: {
      ...(type !== "" && { "Content-Type": type }),
      ...(key !== undefined && { "Idempotency-Key": key }),
      ...(token !== undefined && bearer(token)),
    },
    body: (isRaw ? sent : JSON.stringify(sent)) as string,
  });
}

/** The answer to a request that must be carried out, which the OpenAPI document describes. */
async function written(answer: Promise<Response>, path: string, status = 201): Promise<Written> {
  const response = await answer;
  assert.equal(response.status, status, await response.clone().text());
  await check(path, response.clone(), "POST");
  return (await response.json()) as Written;
}

async function refusalOf(answer: Promise<Response>, path = ENTRIES) {
  const response = await answer;
  await check(path, response.clone(), "POST");
  const { error } = (await response.json()) as Refused;
  return [response.status, error.code, error.field ?? error.message] as const;
}

const BACKENDS = [
  { name: "files", isSkipped: false, open: startTestServer },
  { name: "PostgreSQL", isSkipped: lacksPostgres, open: openOnPostgres },
];

async function openOnPostgres(options: Partial<ServeOptions> = {}, schema = newSchema()) {
  const directory = tempDirectory();
  const store = await openPostgresStore(await sharedPostgres(), { schema, durability: "memory" });
  const running = await serveStore(store, { ...options, dataDirectory: directory, port: 0 });
  onTestFinished(() => running.close());
  return testServer(running, directory);
}

/** What is in the log of a session, without what the server adds. */
async function textsOf({ url }: TestServer, id: string): Promise<string[]> {
  const { entries } = await new VerbatimClient({ url }).sessions.entries(id, { from: 0 });
  return entries.flatMap(({ entry }) => (entry?.parts ?? []).map((part) => textIn(part)));
}

const textIn = (part: object) => ("text" in part ? String(part.text) : "");

async function newSession({ url }: TestServer, asked: NewPostedSession = {}): Promise<Written> {
  return written(post(`${url}${SESSIONS}`, asked), SESSIONS);
}

describe.each(BACKENDS)("in $name", ({ isSkipped, open }) => {
  describe.skipIf(isSkipped)("", () => {
    test("a session has what it was created with, and its entries in order, at once", async () => {
      const server = await open();
      const about = { agent: "cook", title: "Soup", tags: ["a"], user: "ada", metadata: { n: 1 } };
      const session = await newSession(server, about);
      const at = `${server.url}${session.url}`;
      const first = await written(post(`${at}/entries`, say("one")), ENTRIES);
      const rest = await written(post(`${at}/entries`, [say("two"), say("three")]), ENTRIES);
      const lines = `${JSON.stringify(say("four"))}\r\n\n${JSON.stringify(say("five"))}`;
      const last = await written(post(`${at}/entries`, lines, { type: LINES_TYPE }), ENTRIES);
      assert.deepEqual(await textsOf(server, session.id), ["one", "two", "three", "four", "five"]);
      const client = new VerbatimClient({ url: server.url });
      const head = await client.sessions.get(session.id);
      const { agent, title, tags, user, metadata, end } = head;
      assert.deepEqual({ agent, title, tags, user, metadata }, about);
      assert.deepEqual([head.project, head.directory], [null, null]);
      assert.equal(end, last.end);
      const places = [session, first, rest, last].flatMap(({ entries }) => entries);
      const { entries } = await client.sessions.entries(session.id, { from: 0 });
      const stored = entries.map(({ start, end, entry }) => ({
        id: entry?.native?.id,
        start,
        end,
      }));
      assert.deepEqual(places, stored);
    });

    test("a retry with the same key writes nothing, and has the same answer", async () => {
      const server = await open();
      const url = `${server.url}${SESSIONS}`;
      const asked = { title: "Soup", agent: "cook" };
      const session = await written(post(url, asked, { key: "s" }), SESSIONS);
      const sameFields = { agent: "cook", title: "Soup" };
      assert.deepEqual(await written(post(url, sameFields, { key: "s" }), SESSIONS, 200), session);
      const at = `${server.url}${session.url}/entries`;
      // The key of another session is another key; one of text that is in an entry, too.
      const decoy = { ...say("x"), metadata: { id: `${session.session}.0`, more: "a".repeat(9) } };
      await written(post(at, decoy, { key: "s" }), ENTRIES);
      const sent = [say("one"), { ...say("two"), at: "2026-01-01T00:00:00.000Z" }];
      const first = await written(post(at, sent, { key: "e" }), ENTRIES);
      await written(post(at, say("three")), ENTRIES);
      const retries = [1, 2, 3].map(() => written(post(at, sent, { key: "e" }), ENTRIES, 200));
      assert.deepEqual(await Promise.all(retries), [first, first, first]);
      assert.deepEqual(await textsOf(server, session.id), ["x", "one", "two", "three"]);
      const others = [
        [say("one")],
        [say("one"), say("other")],
        [...sent, say("more")],
        [sent[0], { ...sent[1], at: "2026-01-02T00:00:00.000Z" }],
      ];
      for (const other of others) {
        const [status, code] = await refusalOf(post(at, other, { key: "e" }));
        assert.deepEqual([status, code], [422, "IDEMPOTENCY_KEY_REUSED"]);
      }
      const [status, code] = await refusalOf(post(url, { title: "Tea" }, { key: "s" }), SESSIONS);
      assert.deepEqual([status, code], [422, "IDEMPOTENCY_KEY_REUSED"]);
      assert.deepEqual(await textsOf(server, session.id), ["x", "one", "two", "three"]);
    });

    test("an id of the caller's creates one session, however often it is sent", async () => {
      const server = await open();
      const url = `${server.url}${SESSIONS}`;
      const session = await newSession(server, { id: "soup: no 1", title: "Soup" });
      assert.equal(session.session, "soup: no 1");
      const again = post(url, { id: "soup: no 1", title: "Soup" });
      assert.deepEqual(await written(again, SESSIONS, 200), session);
      const other = await refusalOf(post(url, { id: "soup: no 1" }), SESSIONS);
      assert.deepEqual(other.slice(0, 2), [409, "SESSION_EXISTS"]);
      const both = await refusalOf(post(url, { id: "tea" }, { key: "k" }), SESSIONS);
      assert.deepEqual(both.slice(0, 2), [400, "BAD_REQUEST"]);
      await written(post(`${server.url}${session.url}/entries`, say("one")), ENTRIES);
      assert.deepEqual(await textsOf(server, session.id), ["one"]);
    });

    test("a batch with a wrong entry is refused as a whole, by the field that is wrong", async () => {
      const server = await open();
      const session = await newSession(server);
      const at = `${server.url}${session.url}/entries`;
      const wrong = { ...say("x"), parts: [{ type: "text", text: 1 }] };
      const refusals: [Sent, string, string?][] = [
        [wrong, "parts.0.text"],
        [[wrong], "0.parts.0.text"],
        [[say("one"), say("two"), { ...say("x"), content: "x" }], "2.content"],
        [[say("one"), null], "1.entry"],
        [{ kind: "no" }, "kind"],
        [{ ...say("x"), at: "yesterday" }, "at"],
        [{ type: "entry", entry: say("x") }, "type"],
        [{ ...say("x"), parts: [{ type: "file", mediaType: null, path: "/etc/passwd" }] }, ""],
        [`${JSON.stringify(say("one"))}\n${JSON.stringify(wrong)}`, "1.parts.0.text", LINES_TYPE],
      ];
      for (const [sent, field, type = JSON_TYPE] of refusals) {
        const [status, code, named] = await refusalOf(post(at, sent, { type, key: "k" }));
        assert.deepEqual([status, code], [400, "INVALID_ENTRY"], JSON.stringify(sent));
        if (field !== "") assert.equal(named, field);
      }
      const after = await written(post(at, say("right"), { key: "k" }), ENTRIES);
      assert.equal(after.entries[0]?.start, session.end);
    });

    test("a body that is not entries, or too large, is refused and writes nothing", async () => {
      const server = await open({ bodyBytesMax: 9 * 1024 * 1024 });
      const session = await newSession(server);
      const at = `${server.url}${session.url}/entries`;
      const many = JSON.stringify(Array.from({ length: POSTED_ENTRIES_MAX + 1 }, () => say("x")));
      const refusals: [Sent, number, string, Headers?][] = [
        ["{", 400, "BAD_REQUEST"],
        ["", 400, "BAD_REQUEST"],
        ["[]", 400, "BAD_REQUEST"],
        ["\n\n", 400, "BAD_REQUEST", { type: LINES_TYPE }],
        ['{"kind":"turn_end"}\n{', 400, "BAD_REQUEST", { type: LINES_TYPE }],
        [say("x"), 400, "BAD_REQUEST", { type: "text/plain" }],
        [say("x"), 400, "BAD_REQUEST", { type: "application/x-www-form-urlencoded" }],
        [say("x"), 400, "BAD_REQUEST", { key: "" }],
        [say("x"), 400, "BAD_REQUEST", { key: "two words" }],
        [say("x"), 400, "BAD_REQUEST", { key: "k".repeat(256) }],
        [Uint8Array.of(0x22, 0xff, 0x22), 400, "BAD_REQUEST"],
        [`{"kind":"turn_end","metadata":{"n":9007199254740993}}`, 400, "BAD_REQUEST"],
        [many, 400, "BAD_REQUEST"],
        [say("x".repeat(8 * 1024 * 1024)), 413, "LINE_TOO_LONG"],
        [say("x".repeat(9 * 1024 * 1024)), 413, "BODY_TOO_LARGE"],
      ];
      for (const [sent, status, code, headers] of refusals) {
        const refused = await refusalOf(post(at, sent, headers));
        assert.deepEqual(refused.slice(0, 2), [status, code], `${refused[2]}`);
      }
      assert.equal((await newSessionHead(server, session)).end, session.end);
      const full = Array.from({ length: POSTED_ENTRIES_MAX }, () => ({ kind: "turn_end" }));
      const all = await written(post(at, full, { key: "k".repeat(255) }), ENTRIES);
      assert.equal(all.entries.length, POSTED_ENTRIES_MAX);
      const again = await written(post(at, full, { key: "k".repeat(255) }), ENTRIES, 200);
      assert.deepEqual(again, all);
    });

    test("a new session with a wrong field is refused by that field", async () => {
      const server = await open();
      const url = `${server.url}${SESSIONS}`;
      const refusals: [Sent, string, string][] = [
        [{ titel: "x" }, "INVALID_ENTRY", "titel"],
        [{ title: "" }, "INVALID_ENTRY", "title"],
        [{ tags: ["a", 1] }, "INVALID_ENTRY", "tags.1"],
        [{ agent: 1 }, "INVALID_ENTRY", "agent"],
        [{ metadata: "x" }, "INVALID_ENTRY", "metadata"],
        [{ folder: "../x" }, "INVALID_ENTRY", "folder"],
        [[], "INVALID_ENTRY", "the body"],
        [{ id: "a/b" }, "BAD_ID", ""],
        [{ id: "..", title: "x" }, "BAD_ID", ""],
        [{ parent: "a/b" }, "BAD_ID", ""],
        ["{", "BAD_REQUEST", ""],
        [{ title: "x".repeat(64 * 1024) }, "BODY_TOO_LARGE", ""],
      ];
      for (const [sent, code, field] of refusals) {
        const [, refused, named] = await refusalOf(post(url, sent), SESSIONS);
        assert.equal(refused, code, JSON.stringify(sent));
        if (field !== "") assert.equal(named, field);
      }
      const { sessions } = await new VerbatimClient({ url: server.url }).sessions.list();
      assert.deepEqual(sessions, []);
      assert.equal((await post(url, "", { type: "" })).status, 201); // Nothing is required.
    });

    test("sessions that are unknown, closed or written elsewhere take no entries", async () => {
      const server = await open();
      const session = await newSession(server, { id: "soup" });
      const at = (id: string) => `${server.url}${SESSIONS}/${id}/entries`;
      await written(post(at(session.id), say("one"), { key: "k" }), ENTRIES);
      const [store] = session.id.split(".");
      for (const id of ["x", `${store}.eA`, "0000000000000000.eA", `${store}.Li4`]) {
        const [status, code] = await refusalOf(post(at(id), say("x")));
        assert.deepEqual([status, code], [404, "SESSION_NOT_FOUND"], id);
      }
      // A sender's session in the same store: neither takes what the other writes.
      const stream = "/sessions/entries/verbatim/.verbatim/sessions";
      const bytes = "application/octet-stream";
      await server.put(`${stream}/sent.jsonl`, bytes);
      const sent = `${store}.${Buffer.from("sent").toString("base64url")}`;
      const [status, code] = await refusalOf(post(at(sent), say("x"), { key: "k" }));
      assert.deepEqual([status, code], [409, "SESSION_NOT_WRITABLE"]);
      const taken = await refusalOf(post(`${server.url}${SESSIONS}`, { id: "sent" }), SESSIONS);
      assert.deepEqual(taken.slice(0, 2), [409, "SESSION_EXISTS"]);
      const headers = { "Content-Type": bytes };
      const own = server.at(`${stream}/soup.jsonl`);
      const mixed = await fetch(own, { method: "POST", headers, body: "x\n" });
      assert.equal(mixed.status, 409);
      await fetch(own, { method: "POST", headers: { "Stream-Closed": "true" } });
      const closed = await refusalOf(post(at(session.id), say("two")));
      assert.deepEqual(closed.slice(0, 2), [409, "SESSION_NOT_WRITABLE"]);
      await written(post(at(session.id), say("one"), { key: "k" }), ENTRIES, 200);
      await fetch(own, { method: "DELETE" });
      const gone = await refusalOf(post(at(session.id), say("one"), { key: "k" }));
      assert.deepEqual(gone.slice(0, 2), [404, "SESSION_NOT_FOUND"]);
    });

    test("a token posts with its scope, to its folder, and sees what is there", async () => {
      const server = await open();
      const url = `${server.url}${SESSIONS}`;
      const tokenFor = async (scopes: string[], path: string) => {
        const wanted = { scopes: scopes as ["read"], paths: [path] };
        return (await makeToken(server.directory, wanted)).token;
      };
      const cook = await tokenFor(["entries", "read"], "sessions/cook/**");
      const writer = await tokenFor(["entries"], "sessions/cook/**");
      const other = await tokenFor(["entries", "read"], "sessions/other/**");
      const sender = await tokenFor(["read", "append"], "sessions/cook/**");
      const narrow = await tokenFor(["entries"], "sessions/cook/@desk/**");
      const all = await tokenFor(["entries", "read"], "**");
      await until(async () => (await fetch(url)).status === 401, "the tokens are noticed");
      const session = await written(post(url, {}, { token: cook }), SESSIONS);
      const at = `${url}/${session.id}/entries`;
      await written(post(at, say("one"), { token: writer }), ENTRIES);
      const refused = async (answer: Promise<Response>, path = ENTRIES) => {
        return (await refusalOf(answer, path)).slice(0, 2);
      };
      assert.deepEqual(await refused(post(at, say("x"))), [401, "TOKEN_REQUIRED"]);
      assert.deepEqual(await refused(post(at, say("x"), { token: sender })), [403, "NOT_ALLOWED"]);
      const theirs = post(at, say("x"), { token: other });
      assert.deepEqual(await refused(theirs), [404, "SESSION_NOT_FOUND"]);
      for (const [token, asked] of [
        [sender, {}],
        [narrow, {}],
        [cook, { folder: "other" }],
      ] as const) {
        assert.deepEqual(await refused(post(url, asked, { token }), SESSIONS), [
          403,
          "NOT_ALLOWED",
        ]);
      }
      const read = await fetch(`${url}/${session.id}`, { headers: bearer(writer) });
      assert.equal(read.status, 403);
      const put = server.at("/sessions/cook/x");
      assert.equal((await fetch(put, { method: "PUT", headers: bearer(writer) })).status, 403);
      const elsewhere = await written(post(url, { folder: "tea" }, { token: all }), SESSIONS);
      await written(post(`${url}/${elsewhere.id}/entries`, say("x"), { token: all }), ENTRIES);
      const seen = async (token: string) => {
        const { sessions } = await new VerbatimClient({ url: server.url, token }).sessions.list();
        return sessions.map(({ id }) => id).sort();
      };
      await until(async () => (await seen(all)).length === 2, "both are listed");
      assert.deepEqual(await seen(cook), [session.id]);
      assert.deepEqual(await seen(other), []);
    });
  });
});

async function newSessionHead({ url }: TestServer, { id }: Written) {
  return new VerbatimClient({ url }).sessions.get(id);
}

test("the client creates a session and appends to it", async () => {
  const { url } = await startTestServer();
  const { sessions } = new VerbatimClient({ url });
  const created = await sessions.create({ title: "Soup" }, { idempotencyKey: "s" });
  assert.deepEqual(await sessions.create({ title: "Soup" }, { idempotencyKey: "s" }), created);
  const entry = { kind: "message", role: "user", parts: [{ type: "text", text: "one" }] } as const;
  const first = await sessions.append(created.id, entry, { idempotencyKey: "e" });
  assert.deepEqual(await sessions.append(created.id, [entry], { idempotencyKey: "e" }), first);
  assert.equal((await sessions.get(created.id)).end, first.end);
  const wrong = () => sessions.append(created.id, { kind: "no" } as never);
  const { details } = await refusal(wrong(), "REQUEST_REFUSED");
  assert.deepEqual([details.status, details.code], [400, "INVALID_ENTRY"]);
  assert.equal(details.field, "kind");
});

test("a program's session of the server takes no entries over HTTP", async () => {
  const root = tempDirectory();
  const { openStore } = await import("../../../src/doors/index.ts");
  const store = await openStore({ root, remember: false });
  const session = await store.create({ title: "here" });
  await store.close();
  appendFileSync(join(root, "other.txt"), "x");
  const server = await startTestServer({ roots: [root] });
  const client = new VerbatimClient({ url: server.url });
  const [item] = (await client.sessions.list()).sessions;
  assert.equal(item?.session, session.id);
  const refused = await refusalOf(post(`${server.url}${SESSIONS}/${item?.id}/entries`, say("x")));
  assert.deepEqual(refused.slice(0, 2), [409, "SESSION_NOT_WRITABLE"]);
});
