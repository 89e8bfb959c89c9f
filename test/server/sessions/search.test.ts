/** Search and tools over all sessions: the answers, in pages, while indexing continues. */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type SearchOptions, type ToolOptions, VerbatimClient } from "../../../src/doors/client.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { refused } from "../test-server.ts";
import { newUser, ryeLog, type ServedOptions, serveSessions } from "./served.ts";

const SHOWN = '<script>alert("soup")</script>';
const HOSTILE = `${SHOWN}\u001b[2J`;

/** A rye thread, written as another program would. */
function plant(root: string, id: string, ...events: readonly object[]): string {
  const path = ryeLog(root, id);
  mkdirSync(dirname(path), { recursive: true });
  const lines = events.map((event, n) => {
    const ts = `2026-01-0${1 + n}T00:00:00Z`;
    return `${JSON.stringify({ ts, thread_id: id, directive: "cook", ...event })}\n`;
  });
  writeFileSync(path, lines.join(""));
  return path;
}

const user = (text: string) => ({ type: "user_message", text });

function append(root: string, id: string, text: string): void {
  const line = { ts: "2026-01-09T00:00:00Z", thread_id: id, directive: "cook", ...user(text) };
  appendFileSync(ryeLog(root, id), `${JSON.stringify(line)}\n`);
}

function kitchen(): string {
  const root = tempDirectory();
  plant(
    root,
    "cook-1",
    user("Make a soup"),
    { type: "tool_call_start", tool: "stove", call_id: "1", input: { heat: "high" } },
    {
      type: "tool_call_result",
      call_id: "1",
      output: "boiling soup",
      error: "hot",
      duration_ms: 70,
    },
    {
      type: "step_finish",
      model: "opus-9",
      tokens: { input_tokens: 10, output_tokens: 5 },
      cost: { spend: 0.25 },
    },
    { type: "thread_complete", model: "opus-9", cost: { turns: 1, tokens: 15, spend: 0.5 } },
  );
  plant(root, "cook-2", user(`And ${HOSTILE} again`));
  return root;
}

async function served(root: string, options: ServedOptions = {}) {
  const { server } = await serveSessions([root], options);
  return { server, client: new VerbatimClient({ url: server.url }) };
}

test("a hit has its session, its offset, and a snippet that is data", async () => {
  newUser();
  const root = kitchen();
  const { client, server } = await served(root);
  const { hits, next, isComplete } = await client.sessions.search("SOUP role:user");
  assert.deepEqual([hits.length, next, isComplete], [2, null, true]);
  const [hostile, plain] = hits;
  assert.deepEqual(plain?.snippet, [
    { text: "Make a ", isHit: false },
    { text: "soup", isHit: true },
  ]);
  assert.equal(hostile?.snippet.map(({ text }) => text).join(""), `And ${SHOWN} again`);
  expect(plain).toMatchObject({
    start: 0,
    role: "user",
    at: "2026-01-01T00:00:00.000Z",
    tools: [],
  });
  const { id } = plain?.session ?? assert.fail();
  assert.deepEqual(
    plain?.session,
    await client.sessions.list().then(({ sessions }) => {
      return sessions.find((session) => session.id === id);
    }),
  );
  assert.equal(plain?.session.durationMs, 4 * 86_400_000);
  const { entries } = await client.sessions.entries(id, { around: plain?.start ?? 0, limit: 1 });
  assert.equal(entries[0]?.end, plain?.end, "the place is one that entries can be asked for by");
  const raw = await fetch(`${server.url}/v1/search?q=soup`);
  assert.match(raw.headers.get("content-type") ?? "", /^application\/json/);
  assert.match(raw.headers.get("content-security-policy") ?? "", /sandbox/);
});

test("a word next to terminal escapes is found, and its snippet has none of them", async () => {
  newUser();
  const root = tempDirectory();
  plant(root, "cook-1", user("it is \u001b[32mgreen\u001b[0m now"));
  const { client } = await served(root);
  const [hit] = (await client.sessions.search("green")).hits;
  assert.equal(hit?.snippet.map(({ text }) => text).join("|"), "it is |green| now");
});

test("a search can be filtered, limited to one session, and end in an unfinished word", async () => {
  newUser();
  const { client } = await served(kitchen());
  const count = async (...asked: Parameters<typeof client.sessions.search>) =>
    (await client.sessions.search(...asked)).hits.length;
  assert.equal(await count("soup"), 3);
  assert.equal(await count("tool:STOVE"), 2);
  assert.equal(await count("boiling tool:stove role:tool"), 1);
  assert.equal(await count("soup model:opus agent:cook dialect:rye session:cook-1"), 2);
  assert.equal(await count("soup since:2026-01-02"), 1);
  assert.equal(await count("sou"), 0);
  assert.equal(await count("sou", { typing: true }), 3);
  const [boiling] = (await client.sessions.search("boiling")).hits;
  assert.equal(await count("soup", { session: boiling?.session.id ?? "" }), 2);
});

test("a search has the filters of the list, and kinds of entries", async () => {
  newUser();
  const root = kitchen();
  plant(root, "bake-1", { ...user("Bread and soup"), directive: "bake" });
  const { client } = await served(root);
  const found = async (options: SearchOptions) => {
    const { hits } = await client.sessions.search("soup", options);
    return hits.map(({ session }) => session.session).sort();
  };
  const cooked = ["cook-1", "cook-1", "cook-2"];
  assert.deepEqual(await found({}), ["bake-1", ...cooked]);
  assert.deepEqual(await found({ agent: "bake" }), ["bake-1"]);
  assert.deepEqual(await found({ project: root, agent: "cook" }), cooked);
  assert.deepEqual(await found({ project: "/nowhere" }), []);
  assert.deepEqual(await found({ model: "opus-9" }), ["cook-1", "cook-1"]);
  assert.deepEqual(await found({ status: "completed" }), ["cook-1", "cook-1"]);
  assert.deepEqual(await found({ kind: "tools" }), ["cook-1"]);
  assert.deepEqual(await found({ kind: "prompts", agent: "cook" }), ["cook-1", "cook-2"]);
  assert.deepEqual(await found({ kind: "answers" }), []);
  assert.deepEqual(await found({ since: "2026-01-03T00:00:00Z" }), ["cook-1"]);
  assert.deepEqual(await found({ until: "2026-01-02", model: "opus-9" }), ["cook-1"]);
  const [bread] = (await client.sessions.search("bread")).hits;
  const session = bread?.session.id ?? "";
  assert.deepEqual(await found({ session, agent: "bake" }), ["bake-1"]);
  assert.deepEqual(await found({ session, agent: "cook" }), []);
});

test("a page has at most so many hits of each session, and counts the others", async () => {
  newUser();
  const root = tempDirectory();
  plant(root, "many-1", ...Array.from({ length: 7 }, () => user("soup")));
  plant(root, "few-1", user("soup"));
  const { client } = await served(root);
  const { hits, leftOut, next } = await client.sessions.search("soup", { perSession: 3 });
  const many = hits.filter(({ session }) => session.session === "many-1");
  assert.deepEqual([hits.length, many.length, next], [4, 3, null]);
  assert.deepEqual(leftOut, [{ session: many[0]?.session.id, hits: 4 }]);
  assert.deepEqual((await client.sessions.search("soup")).leftOut, []);
  const small = await client.sessions.search("soup", { perSession: 3, limit: 2 });
  assert.deepEqual([small.hits.length, small.leftOut], [2, []]);
});

test("pages of any size hold every hit once, also while sessions grow", async () => {
  newUser();
  const root = tempDirectory();
  for (let n = 0; n < 4; n++) plant(root, `cook-${n}`, user("all"), user("none"), user("all"));
  const { client } = await served(root, { limits: { entriesExaminedMax: 3 } });
  for (const limit of [1, 2, 5, 100]) {
    const places: string[] = [];
    let isFirst = true;
    for (let cursor: string | undefined; isFirst || cursor !== undefined; isFirst = false) {
      const page = await client.sessions.search("all", { limit, ...(cursor ? { cursor } : {}) });
      places.push(...page.hits.map(({ session, start }) => `${session.session}@${start}`));
      cursor = page.next ?? undefined;
      if (isFirst) append(root, "cook-0", "new");
    }
    assert.equal(places.length, 8, `pages of ${limit}`);
    assert.equal(new Set(places).size, 8);
  }
});

test("an invalid search is refused with its code", async () => {
  newUser();
  const { server } = await served(kitchen());
  const url = (query: string) => `${server.url}/v1/search?${query}`;
  assert.deepEqual(await refused(await fetch(url(""))), [400, "BAD_REQUEST"]);
  assert.deepEqual(await refused(await fetch(url("q=soup&no=1"))), [400, "BAD_REQUEST"]);
  assert.deepEqual(await refused(await fetch(url("q=soup&limit=101"))), [400, "BAD_REQUEST"]);
  assert.deepEqual(await refused(await fetch(url("q=soup&cursor=x"))), [400, "BAD_REQUEST"]);
  assert.deepEqual(await refused(await fetch(url("q=%22soup"))), [400, "SEARCH_QUERY"]);
  assert.deepEqual(await refused(await fetch(url("q=soup&session=x"))), [404, "SESSION_NOT_FOUND"]);
  assert.equal((await fetch(url("q=soup"), { method: "POST" })).status, 405);
  assert.equal((await fetch(url("q=soup&limit=100"), { method: "HEAD" })).status, 200);
});

test("new, grown and deleted sessions are searched in their current state", async () => {
  newUser();
  const root = kitchen();
  const { client } = await served(root);
  const found = async (query: string) => (await client.sessions.search(query)).hits.length;
  assert.equal(await found("salad"), 0);
  append(root, "cook-2", "salad");
  assert.equal(await found("salad"), 1);
  plant(root, "cook-3", user("salad"));
  assert.equal(await found("salad"), 2);
  rmSync(dirname(ryeLog(root, "cook-2")), { recursive: true });
  assert.equal(await found("salad"), 1);
});

test("a search is answered from the current index, and says that indexing continues", async () => {
  newUser();
  const root = tempDirectory();
  for (let n = 0; n < 150; n++) plant(root, `cook-${n}`, user(`all ${"x ".repeat(600)}`));
  const { client } = await served(root, { limits: { searchWaitMs: 1 } });
  const first = await client.sessions.search("all");
  assert.equal(first.isComplete, false);
  for (let isComplete = false; !isComplete; ) {
    ({ isComplete } = await client.sessions.search("all", { limit: 1 }));
  }
  assert.equal((await client.sessions.search("all", { limit: 100 })).hits.length, 100);
});

test("an index that is damaged while a server runs is rebuilt, and the query is answered", async () => {
  const { home } = newUser();
  const root = kitchen();
  const { client } = await served(root);
  assert.equal((await client.sessions.search("soup")).hits.length, 3);
  const path = join(home, "cache/verbatim/search.db");
  const bytes = readFileSync(path);
  for (let at = 4096; at < bytes.length; at += 4096) bytes.fill(0x7f, at, at + 200);
  for (const ending of ["", "-wal", "-shm"]) rmSync(path + ending, { force: true });
  writeFileSync(path, bytes);
  for (const each of [(await served(root)).client, client]) {
    assert.equal((await each.sessions.search("soup")).hits.length, 3);
  }
});

test("the use of tools is added up, for chosen days and dialects", async () => {
  newUser();
  const { client } = await served(kitchen());
  const report = await client.tools();
  const [session] = (await client.sessions.search("boiling")).hits;
  assert.deepEqual(report.tools, [
    {
      tool: "stove",
      calls: 1,
      errors: 1,
      timed: 1,
      totalMs: 70,
      slowest: { ms: 70, session: session?.session.id, start: session?.start },
    },
  ]);
  assert.deepEqual([report.isCut, report.isComplete], [false, true]);
  const tools = async (options: ToolOptions) =>
    (await client.tools(options)).tools.map(({ tool }) => tool);
  assert.deepEqual(await tools({ since: "2026-01-01", until: "2027-01-01" }), ["stove"]);
  assert.deepEqual(await tools({ since: "2027-01-01" }), []);
  assert.deepEqual(await tools({ dialect: "entire" }), []);
});
