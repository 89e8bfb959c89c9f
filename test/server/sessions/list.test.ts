/** The list of sessions: filters, pages, and sessions that are created, grow or are deleted. */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { listPage } from "../../../src/server/sessions/list.ts";
import { SEES_ALL } from "../../../src/server/sessions/roots.ts";
import { SessionService } from "../../../src/server/sessions/service.ts";
import { SESSION_LIMITS } from "../../../src/server/sessions/session-limits.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { until } from "../../support/until.ts";
import { WatchedFiles } from "../../support/watched-files.ts";
import { refused } from "../test-server.ts";
import { everyDialect, newUser, ryeLog, type SessionPage, serveSessions } from "./served.ts";

/** A rye log of one user message, written as another program would. */
function plant(root: string, id: string, text: string, ts = "2026-01-01T00:00:00Z"): string {
  const path = ryeLog(root, id);
  mkdirSync(dirname(path), { recursive: true });
  const line = { ts, type: "user_message", thread_id: id, directive: "d", text };
  writeFileSync(path, `${JSON.stringify(line)}\n`);
  return path;
}

test("sessions of every dialect are listed, and each is found by the id in the list", async () => {
  const root = await everyDialect(newUser());
  const { json } = await serveSessions([root]);
  const page = await json<SessionPage>("");
  assert.deepEqual(page.sessions.map(({ dialect }) => dialect).sort(), [
    "entire",
    "homeagent",
    "rye",
  ]);
  assert.equal(page.isComplete, true);
  assert.equal(page.next, null);
  for (const { id, session, title } of page.sessions) {
    assert.match(title ?? "", /^first in/);
    expect(await json(`/${id}`)).toMatchObject({ id, session, title });
  }
});

test("pages of any size hold every session once, in one order over all stores", async () => {
  newUser();
  // Method: equal times everywhere, so that only the order of stores and ids distinguishes them.
  const roots = [tempDirectory(), tempDirectory(), tempDirectory()];
  for (const root of roots) {
    for (let n = 0; n < 7; n++) plant(root, `d-${n}`, `${n}`, `2026-01-0${1 + (n % 3)}T00:00:00Z`);
  }
  const { json } = await serveSessions(roots);
  const whole = (await json<SessionPage>("?limit=200")).sessions.map(({ id }) => id);
  assert.equal(new Set(whole).size, 21);
  for (let limit = 1; limit <= 22; limit++) {
    const ids: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const asked: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const page: SessionPage = await json<SessionPage>(`?limit=${limit}${asked}`);
      ids.push(...page.sessions.map(({ id }) => id));
      cursor = page.next;
    }
    assert.deepEqual(ids, whole, `pages of ${limit}`);
  }
});

test("filters by dialect, status, time and title match exactly what they name", async () => {
  const user = newUser();
  const root = await everyDialect(user);
  plant(root, "old-1", "An OLD question", "2020-05-05T12:00:00Z");
  const { json } = await serveSessions([root]);
  const titles = async (query: string) =>
    (await json<SessionPage>(query)).sessions.map(({ title }) => title).sort();
  assert.deepEqual(await titles("?dialect=entire"), ["first in entire"]);
  assert.deepEqual(await titles("?title=old%20q"), ["An OLD question"]);
  assert.deepEqual(await titles("?until=2021-01-01"), ["An OLD question"]);
  assert.deepEqual(await titles("?since=2020-05-05T12:00:00Z&until=2020-05-05T12:00:00.001Z"), [
    "An OLD question",
  ]);
  assert.equal((await titles("?since=2021-01-01T00:00:00Z")).length, 3);
  assert.deepEqual(await titles("?title=nobody%20said%20this"), []);
  assert.deepEqual(await titles("?status=completed"), []);
});

test("a filter that matches little returns a short page and a cursor, and misses nothing", async () => {
  newUser();
  const root = tempDirectory();
  for (let n = 0; n < 30; n++) plant(root, `d-${n}`, n % 10 === 0 ? "needle" : "hay");
  const { json } = await serveSessions([root], { limits: { rowsExaminedMax: 4 } });
  let found = 0;
  let pages = 0;
  for (let cursor: string | null = ""; cursor !== null; pages++) {
    const asked: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const page: SessionPage = await json<SessionPage>(`?title=needle${asked}`);
    found += page.sessions.length;
    cursor = page.next;
  }
  assert.equal(found, 3);
  assert.equal(pages, 8);
});

test("new, grown and deleted sessions are in the next list", async () => {
  newUser();
  const root = tempDirectory();
  const path = plant(root, "a-1", "one");
  const { json } = await serveSessions([root]);
  assert.equal((await json<SessionPage>("")).sessions.length, 1);
  plant(root, "b-2", "two", "2026-02-02T00:00:00Z");
  const line = { ts: "2026-03-03T00:00:00Z", type: "user_message", thread_id: "a-1", text: "x" };
  appendFileSync(path, `${JSON.stringify(line)}\n`);
  const grown = (await json<SessionPage>("")).sessions;
  assert.deepEqual(
    grown.map(({ session, updatedAt }) => [session, updatedAt?.slice(0, 10)]),
    [
      ["a-1", "2026-03-03"],
      ["b-2", "2026-02-02"],
    ],
  );
  rmSync(dirname(path), { recursive: true });
  assert.deepEqual(
    (await json<SessionPage>("")).sessions.map(({ session }) => session),
    ["b-2"],
  );
});

test("a thread without an end has the status of its current thread.json, though its log is the same", async () => {
  newUser();
  const root = tempDirectory();
  const path = plant(root, "a-1", "one");
  const { json } = await serveSessions([root]);
  const [listed] = (await json<SessionPage>("")).sessions;
  assert.equal(listed?.status, null);
  for (const status of ["running", "paused"]) {
    const meta = { thread_id: "a-1", directive: "d", status };
    writeFileSync(join(dirname(path), "thread.json"), JSON.stringify(meta));
    for (const asked of ["", `?status=${status}`]) {
      const { sessions } = await json<SessionPage>(asked);
      assert.deepEqual(
        sessions.map((session) => session.status),
        [status],
      );
    }
    const head: { readonly status: string } = await json(`/${listed?.id}`);
    assert.equal(head.status, status);
  }
  assert.deepEqual((await json<SessionPage>("?status=running")).sessions, []);
});

test("a link in the place of a session is counted as unreadable, and is not an error", async () => {
  newUser();
  const root = tempDirectory();
  plant(root, "a-1", "one");
  const elsewhere = tempDirectory();
  mkdirSync(dirname(ryeLog(root, "b-1")));
  symlinkSync(plant(elsewhere, "b-1", "two"), ryeLog(root, "b-1"));
  // The test server fails the test if it reports an internal error.
  const { json } = await serveSessions([root]);
  const page = await json<SessionPage & { readonly unreadable: number }>("");
  assert.deepEqual([page.sessions.length, page.unreadable], [1, 1]);
});

test("a list that cannot wait for all sessions to be read says so, until they are read", async () => {
  newUser();
  const root = tempDirectory();
  for (let n = 0; n < 300; n++) plant(root, `d-${n}`, "x");
  const { json } = await serveSessions([root], { limits: { listWaitMs: 0 } });
  let page = await json<SessionPage>("?limit=200");
  assert.equal(page.isComplete, false);
  // The cursor of the very beginning: pages after the first do not check for changes.
  const cursor = Buffer.from('["updated","~","",""]').toString("base64url");
  const isComplete = async () => {
    page = await json<SessionPage>(`?limit=200&cursor=${cursor}`);
    return page.isComplete;
  };
  await until(isComplete, "reading all sessions", 200);
  assert.equal(page.sessions.length, 200);
});

test("an unreadable session is counted, and logged once", async () => {
  const user = newUser();
  const root = tempDirectory();
  for (const id of ["a", "b"]) {
    const path = join(root, `agents/cook/sessions/${id}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '{"turnId":"1","role":"user","content":"x","ts":1}\n');
  }
  const files = new WatchedFiles();
  files.before = ({ call, name }) => {
    if (call === "read" && name === "b.jsonl") throw Object.assign(new Error(), { code: "EIO" });
  };
  const faults: string[] = [];
  const service = new SessionService({
    host: files.host,
    roots: [root],
    cwd: root,
    limits: { ...SESSION_LIMITS, freshMs: 0, listWaitMs: 60_000 },
    nowMs: Date.now,
    onFault: (what) => faults.push(what),
    catalogPath: join(user.home, "catalog.db"),
  });
  for (let n = 0; n < 3; n++) {
    const page = await listPage(service, "/v1/sessions", SEES_ALL);
    assert.deepEqual(
      page.sessions.map(({ session }) => session),
      ["cook/a"],
    );
    assert.equal(page.unreadable, 1);
  }
  assert.deepEqual(faults, ["reading the session cook/b"]);
  await service.close();
});

test("a store that is created after the server started is served", async () => {
  newUser();
  const root = tempDirectory();
  const { json } = await serveSessions([root]);
  assert.deepEqual((await json<SessionPage>("")).sessions, []);
  plant(root, "a-1", "one");
  assert.equal((await json<SessionPage>("")).sessions.length, 1);
});

test("a long session that is being written keeps its summary, marked as out of date", async () => {
  newUser();
  const root = tempDirectory();
  const path = plant(root, "a-1", "one");
  const { json } = await serveSessions([root], { limits: { restingBytes: 10 } });
  const [first] = (await json<SessionPage>("")).sessions;
  assert.equal(first?.isCurrent, true);
  appendFileSync(path, "not json\n");
  const [grown] = (await json<SessionPage>("")).sessions;
  assert.equal(grown?.isCurrent, false);
  assert.equal(grown?.bytes, (first?.bytes ?? 0) + 9);
  expect(await json(`/${grown?.id}`)).toMatchObject({ isCurrent: false, badLines: 0 });
});

test("without a catalog the list says why, and sessions can still be read", async () => {
  const user = newUser();
  const root = tempDirectory();
  plant(root, "a-1", "one");
  const listed = await serveSessions([root]);
  const [session] = (await listed.json<SessionPage>("")).sessions;
  // Method: a file in the place of the catalog's directory.
  const blocked = join(user.home, "blocked");
  writeFileSync(blocked, "");
  process.env.XDG_CACHE_HOME = blocked;
  const { url, json } = await serveSessions([root]);
  assert.deepEqual(await refused(await fetch(url(""))), [503, "CATALOG_UNAVAILABLE"]);
  expect(await json(`/${session?.id}`)).toMatchObject({ title: "one", isCurrent: true });
});

test("an invalid filter is refused, and never ignored", async () => {
  newUser();
  const { url } = await serveSessions([tempDirectory()]);
  for (const query of [
    "limit=0",
    "limit=201",
    "limit=x",
    "dialect=klingon",
    "status=",
    "since=yesterday",
    "since=2026-02-30",
    "until=2026-02-28T24:00:00Z",
    "cursor=x",
    "cursor=W10",
    "titel=x",
    "limit=1&limit=2",
  ]) {
    assert.deepEqual(await refused(await fetch(url(`?${query}`))), [400, "BAD_REQUEST"], query);
  }
  for (const [path, method] of [
    ["/stats", "POST"],
    ["", "PUT"],
    ["", "DELETE"],
    ["", "PATCH"],
  ] as const) {
    const response = await fetch(url(path), { method });
    assert.equal(response.status, 405, method);
    const post = path === "" ? "POST, " : "";
    assert.equal(response.headers.get("allow"), `GET, HEAD, ${post}OPTIONS`);
  }
});

test("a signed session whose log was deleted is listed as missing, and its verdict is rollback", async () => {
  const user = newUser();
  const root = tempDirectory();
  const there = await user.writeTurns({ dialect: "rye" }, 1, { root, id: "there-1" });
  const gone = await user.writeTurns({ dialect: "rye" }, 1, { root, id: "gone-1" });
  const { json, url } = await serveSessions([root]);
  const listed = async (query = "") => {
    const page = await json<SessionPage>(query);
    return page.sessions.map(({ session, isMissing }) => [session, isMissing]);
  };
  assert.deepEqual(new Map((await listed()) as [string, boolean][]), PRESENT);
  rmSync(dirname(gone.path), { recursive: true });
  const missing = new Map([...PRESENT, ["gone-1", true]]);
  assert.deepEqual(new Map((await listed()) as [string, boolean][]), missing);
  const pages: [string, boolean][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const asked: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const page: SessionPage = await json<SessionPage>(`?limit=1${asked}`);
    for (const { session } of page.sessions) pages.push([session, missing.get(session) ?? false]);
    cursor = page.next;
  }
  assert.deepEqual(new Map(pages), missing, "pages of one");
  assert.equal(pages.length, 2);
  assert.deepEqual(await listed("?dialect=entire"), []);
  assert.deepEqual(await listed("?status=error"), []);
  const { sessions } = await json<SessionPage>("");
  const { id } = sessions.find(({ session }) => session === "gone-1") ?? assert.fail();
  expect(await json(`/${id}`)).toMatchObject({ session: "gone-1", isMissing: true, end: 0 });
  expect(await json(`/${id}/verify`)).toMatchObject({ verdict: "rollback" });
  assert.deepEqual(await refused(await fetch(url(`/${id}/entries`))), [404, "SESSION_NOT_FOUND"]);
  // The whole store is deleted, and both are reported as missing.
  rmSync(join(root, ".ai"), { recursive: true });
  assert.deepEqual(
    (await listed()).map(([, isMissing]) => isMissing),
    [true, true],
  );
  const place = `rye:${root}`;
  for (const { target } of [there, gone]) await user.heads.forget({ place, id: target.id });
  assert.deepEqual(await listed(), [], "forgotten by a person");
});

const PRESENT = new Map([
  ["there-1", false],
  ["gone-1", false],
]);
