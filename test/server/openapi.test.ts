/** The OpenAPI document: every route is in it, and real answers match it. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { type EntryPage, type SessionPage, VerbatimClient } from "../../src/doors/client.ts";
import { openApiDocument } from "../../src/server/openapi/document.ts";
import { MOUNTS, ownerOf } from "../../src/server/router/mounts.ts";
import {
  INSIGHTS_PATH,
  isBelow,
  MOUNT_NAMES,
  OPENAPI_PATH,
  SEARCH_PATH,
  SESSIONS_ROOT,
  TOOLS_PATH,
  USAGE_PATH,
} from "../../src/server/router/paths.ts";
import { EVENT_PARAMETERS } from "../../src/server/sessions/events.ts";
import { LIST_PARAMETERS } from "../../src/server/sessions/list.ts";
import {
  EXCHANGES_PARAMETERS,
  OUTLINE_PARAMETERS,
  SESSION_PARTS,
} from "../../src/server/sessions/route.ts";
import { SEARCH_PARAMETERS, TOOLS_PARAMETERS } from "../../src/server/sessions/search.ts";
import {
  BYTES_PARAMETERS,
  ENTRY_PARAMETERS,
  MARKDOWN_PARAMETERS,
} from "../../src/server/sessions/session-reads.ts";
import { FIGURE_PARAMETERS } from "../../src/server/usage/figure-sessions.ts";
import { COSTS_PARAMETERS, USAGE_PARAMETERS } from "../../src/server/usage/route.ts";
import { INSIGHTS_PARAMETERS } from "../../src/server/usage/usage-request.ts";
import { faultsOf } from "../support/json-schema.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { check, document, ref } from "./described.ts";
import { everyDialect, newUser, ryeLog, serveSessions } from "./sessions/served.ts";
import { startTestServer } from "./test-server.ts";

test("the document is served unchanged, is OpenAPI 3.1, and defines what it refers to", async () => {
  const server = await startTestServer();
  const response = await fetch(`${server.url}${OPENAPI_PATH}`);
  assert.deepEqual(await response.json(), document);
  assert.match(document.openapi, /^3\.1\./);
  for (const [, name = ""] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)) ref(name);
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  assert.equal(new Set(ids).size, ids.length, "an operation's id is its own");
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const { parameters = [] } of Object.values(operations)) {
      const named = parameters.filter((each) => each.in === "path").map(({ name }) => `{${name}}`);
      assert.deepEqual(path.match(/\{\w+\}/g) ?? [], named, path);
    }
  }
});

test("a server's document has the routes of its mounts, and defines what it refers to", async () => {
  const paths: Record<string, unknown> = {};
  for (const name of MOUNT_NAMES) {
    const { needs } = MOUNTS[name];
    const part = await openApiDocument(needs ? [needs, name] : [name]);
    for (const path of Object.keys(part.paths)) {
      const owner = ownerOf(path);
      const isOwn = owner === null || owner === name || owner === needs || owner === "viewer";
      assert.ok(isOwn, `${path} in the document of ${name}`);
    }
    for (const [, schema = ""] of JSON.stringify(part).matchAll(/"\$ref":"([^"]+)"/g)) {
      assert.ok(Object.hasOwn(part.components.schemas, schema.split("/").at(-1) ?? ""), schema);
    }
    Object.assign(paths, part.paths);
  }
  assert.deepEqual(JSON.parse(JSON.stringify(paths)), document.paths);
});

test("every route of the server is in the document", () => {
  // Read from the router's source, so that a new route must be described.
  const router = readFileSync(
    new URL("../../src/server/router/router.ts", import.meta.url),
    "utf8",
  );
  const pages = [...router.matchAll(/path === "(\/[^"]*)"/g)].map(([, path = ""]) => path);
  assert.ok(pages.includes("/health"));
  for (const page of [...pages, OPENAPI_PATH]) assert.ok(document.paths[page]?.get, page);
  const paths = Object.keys(document.paths);
  for (const name of MOUNT_NAMES) {
    for (const prefix of MOUNTS[name].prefixes) {
      if (name === "viewer") continue; // Files for people.
      assert.ok(
        paths.some((path) => isBelow(path, prefix)),
        prefix,
      );
    }
  }
  for (const part of Object.keys(SESSION_PARTS)) {
    const path = `${SESSIONS_ROOT}/{id}${part === "" ? "" : `/${part}`}`;
    assert.ok(document.paths[path]?.get, path);
  }
  for (const path of [SEARCH_PATH, USAGE_PATH, TOOLS_PATH])
    assert.ok(document.paths[path]?.get, path);
  const routes = new URL("../../src/server/streams/route.ts", import.meta.url);
  const methods = [...readFileSync(routes, "utf8").matchAll(/case "([A-Z]+)":/g)].map(
    ([, method = ""]) => method,
  );
  assert.deepEqual(
    Object.keys(document.paths["/v1/stream/{path}"] ?? {}).sort(),
    methods.map((method) => method.toLowerCase()).sort(),
  );
});

test("the described parameters are those that the server accepts", () => {
  for (const [path, taken] of [
    [SEARCH_PATH, SEARCH_PARAMETERS],
    [USAGE_PATH, USAGE_PARAMETERS],
    [TOOLS_PATH, TOOLS_PARAMETERS],
    [INSIGHTS_PATH, INSIGHTS_PARAMETERS],
    [`${INSIGHTS_PATH}/sessions`, FIGURE_PARAMETERS],
    [SESSIONS_ROOT, LIST_PARAMETERS],
    [`${SESSIONS_ROOT}/{id}/entries`, ENTRY_PARAMETERS],
    [`${SESSIONS_ROOT}/{id}/events`, EVENT_PARAMETERS],
    [`${SESSIONS_ROOT}/{id}/bytes`, BYTES_PARAMETERS],
    [`${SESSIONS_ROOT}/{id}/checkpoints`, BYTES_PARAMETERS],
    [`${SESSIONS_ROOT}/{id}/markdown`, MARKDOWN_PARAMETERS],
    [`${SESSIONS_ROOT}/{id}/outline`, OUTLINE_PARAMETERS],
    [`${SESSIONS_ROOT}/{id}/whereabouts`, []],
    [`${SESSIONS_ROOT}/{id}/usage`, []],
    [`${SESSIONS_ROOT}/{id}/costs`, COSTS_PARAMETERS],
    [`${SESSIONS_ROOT}/{id}/exchanges`, EXCHANGES_PARAMETERS],
    [`${SESSIONS_ROOT}/{id}/verify`, []],
    [`${SESSIONS_ROOT}/{id}`, []],
  ] as const) {
    const { parameters = [] } = document.paths[path]?.get ?? {};
    const described = parameters.filter((each) => each.in === "query").map(({ name }) => name);
    assert.deepEqual(described.sort(), [...taken].sort(), path);
  }
});

test("real answers about sessions of every dialect match the document", async () => {
  const root = await everyDialect(newUser());
  mkdirSync(dirname(ryeLog(root, "odd-1")), { recursive: true });
  const end = { ts: "2026-01-01T00:00:00Z", type: "thread_error", thread_id: "odd-1" };
  writeFileSync(ryeLog(root, "odd-1"), `bad\n\n[]\n{"a":1}\n${JSON.stringify(end)}\n{"torn`);
  const { server, url } = await serveSessions([root]);
  await check(SESSIONS_ROOT, await fetch(url("?limit=2")));
  await check(SESSIONS_ROOT, await fetch(url("?limit=0")));
  const { parameters = [] } = document.paths[SEARCH_PATH]?.get ?? {};
  assert.ok(parameters.some(({ name, required }) => name === "q" && required));
  for (const query of ["q=first", "q=tool:x", "q=%22", "q=first&typing=x", ""]) {
    await check(SEARCH_PATH, await fetch(`${server.url}${SEARCH_PATH}?${query}`));
  }
  for (const query of ["", "since=2026-01-01&until=2027-01-01", "since=x"]) {
    for (const path of [USAGE_PATH, TOOLS_PATH]) {
      await check(path, await fetch(`${server.url}${path}?${query}`));
    }
  }
  for (const query of ["", "since=2026-01-01&until=2026-12-31", "since=x"]) {
    await check(INSIGHTS_PATH, await fetch(`${server.url}${INSIGHTS_PATH}?${query}`));
  }
  const behind = `${INSIGHTS_PATH}/sessions`;
  for (const query of ["figure=responses", "figure=calls&tool=bash", "figure=edits&file=a", ""]) {
    await check(behind, await fetch(`${server.url}${behind}?${query}`));
  }
  const client = new VerbatimClient({ url: server.url });
  let count = 0;
  for await (const { id } of client.sessions.all()) {
    count++;
    for (const part of Object.keys(SESSION_PARTS)) {
      const suffix = part === "" ? "" : `/${part}`;
      const left = new AbortController();
      const response = await fetch(url(`/${id}${suffix}`), { signal: left.signal });
      assert.equal(response.status, 200, part);
      await check(`${SESSIONS_ROOT}/{id}${suffix}`, response);
      left.abort();
      await check(`${SESSIONS_ROOT}/{id}${suffix}`, await fetch(url(`/x${suffix}`)));
      await check(`${SESSIONS_ROOT}/{id}${suffix}`, await fetch(url(`/${id}${suffix}?no=1`)));
    }
    await check(`${SESSIONS_ROOT}/{id}/entries`, await fetch(url(`/${id}/entries?native=false`)));
    await check(`${SESSIONS_ROOT}/{id}/entries`, await fetch(url(`/${id}/entries?from=999999`)));
    await check(`${SESSIONS_ROOT}/{id}/entries`, await fetch(url(`/${id}/entries?from=1`)));
  }
  assert.equal(count, 4);
  for (const page of ["/", "/live", "/health", "/ready", "/metrics", "/v1/demo"]) {
    await check(page, await fetch(`${server.url}${page}`));
  }
});

test("the document describes user entries that a program or an agent wrote", async () => {
  const root = tempDirectory();
  const directory = join(root, ".entire/metadata/s");
  mkdirSync(directory, { recursive: true });
  const message = { role: "user", content: "Caveat" };
  const row = { type: "user", uuid: "u1", timestamp: "2026-01-01T00:00:00Z", message };
  writeFileSync(join(directory, "full.jsonl"), `${JSON.stringify({ ...row, isMeta: true })}\n`);
  const { url, json } = await serveSessions([root]);
  const [session] = (await json<SessionPage>("")).sessions;
  const page = await json<EntryPage>(`/${session?.id}/entries`);
  assert.equal(page.entries[0]?.entry?.saidBy, "program");
  await check(`${SESSIONS_ROOT}/{id}/entries`, await fetch(url(`/${session?.id}/entries`)));
});

test("live events match the document", async () => {
  const root = await everyDialect(newUser());
  const { server } = await serveSessions([root]);
  const client = new VerbatimClient({ url: server.url });
  for (const { id } of (await client.sessions.list()).sessions) {
    const { end } = await client.sessions.get(id);
    for await (const event of client.sessions.follow(id)) {
      const { type, ...data } = event;
      assert.equal(type, "entry");
      assert.deepEqual(faultsOf(data, ref("Entry"), ref), []);
      if (event.type === "entry" && event.end === end) break;
    }
  }
});

test("the checker reports missing fields, extra fields and wrong types", () => {
  const schema = ref("SessionUsage");
  const whole = Object.fromEntries((schema.required as string[]).map((name) => [name, null]));
  const good = { ...whole, id: "x", session: "x", turns: 0, isCurrent: true };
  assert.deepEqual(faultsOf(good, schema, ref), []);
  const { turns: _, ...without } = good;
  for (const bad of [without, { ...good, more: 1 }, { ...good, turns: -1 }, { ...good, id: 1 }]) {
    assert.equal(faultsOf(bad, schema, ref).length, 1, JSON.stringify(bad));
  }
});
