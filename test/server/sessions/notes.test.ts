/** The notes of the user who runs a server, over HTTP. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { notesPath } from "../../../src/core/base/node-paths.ts";
import { VerbatimClient } from "../../../src/doors/client.ts";
import { NOTE_LIMITS } from "../../../src/sessions/notes/note-state.ts";
import { changeNotes } from "../../../src/sessions/notes/notes-file.ts";
import { turnOf } from "../../support/signing-user.ts";
import { until } from "../../support/until.ts";
import { bearer, makeToken } from "../auth/token-user.ts";
import { JSON_TYPE, refused } from "../test-server.ts";
import { everyDialect, newUser, serveSessions } from "./served.ts";

/** Sessions in four layouts, of which one has a tag of its own; and a client of their owner. */
async function owner() {
  const user = newUser();
  const root = await everyDialect(user);
  const { server, url } = await serveSessions([root]);
  const token = (await makeToken(server.directory)).token;
  const reader = (await makeToken(server.directory, { scopes: ["read"] })).token;
  const client = new VerbatimClient({ url: server.url, token }).sessions;
  const { sessions } = await client.list();
  const idOf = (dialect: string) =>
    sessions.find((each) => each.dialect === dialect)?.id ?? assert.fail(dialect);
  const dialects = async (filter: Parameters<typeof client.list>[0]) =>
    (await client.list(filter)).sessions.map(({ dialect }) => dialect).sort();
  const patch = (id: string, body: string, headers: Record<string, string> = {}, query = "") => {
    const init = { method: "PATCH", body, headers: { "Content-Type": JSON_TYPE, ...headers } };
    return fetch(url(`/${id}/notes${query}`), init);
  };
  return { user, root, server, url, token, reader, client, idOf, dialects, patch };
}

test("a change leaves notes that it does not name; they are shown in lists, and removed", async () => {
  const { client, idOf } = await owner();
  const id = idOf("rye");
  const nothing = { starred: false, title: null, tags: [], note: null, at: null, entries: [] };
  assert.deepEqual(await client.notes(id), nothing);

  const notes = await client.annotate(id, { starred: true, title: "Mine", tags: ["bug"] });
  assert.deepEqual(
    { ...notes, at: null },
    { ...nothing, starred: true, title: "Mine", tags: ["bug"] },
  );
  assert.ok(Date.parse(notes.at ?? "") > 0);
  const item = (await client.list()).sessions.find((each) => each.id === id);
  const { title, recordedTitle, starred, tags } = item ?? assert.fail();
  assert.deepEqual([title, recordedTitle, starred, tags], ["Mine", "first in rye", true, ["bug"]]);
  const head = await client.get(id);
  assert.deepEqual([head.title, head.starred], ["Mine", true]);

  assert.equal((await client.annotate(id, { note: "and this" })).title, "Mine");
  const empty = { starred: false, title: null, tags: [], note: "" };
  assert.deepEqual(await client.annotate(id, empty), nothing);
  assert.equal((await client.get(id)).title, "first in rye");
});

test("an entry has notes of its own, at its place in the log", async () => {
  const { client, idOf } = await owner();
  const id = idOf("rye");
  const { entries } = await client.entries(id, { from: 0 });
  const start = entries[1]?.start ?? assert.fail();
  await client.annotate(id, { title: "Of the entry", tags: ["bug"] }, { entry: start });
  const notes = await client.annotate(id, { note: "here" }, { entry: start });
  const [entry, ...more] = notes.entries;
  const { at, ...state } = entry ?? assert.fail();
  const said = { starred: false, title: "Of the entry", tags: ["bug"], note: "here" };
  assert.deepEqual(state, { ...said, start, isChanged: false });
  assert.ok(Date.parse(at ?? "") > 0);
  assert.deepEqual([more.length, notes.note, notes.title], [0, null, null]);
  assert.equal((await client.get(id)).title, "first in rye");
  await assert.rejects(client.annotate(id, { note: "x" }, { entry: start + 1 }), /BAD_NOTE|entry/);
});

test("tag and starred filter the list and the search, and are counted as facets", async () => {
  const { client, idOf, dialects, root, user } = await owner();
  const store = await user.store({ dialect: "verbatim", root });
  const session = await store.create({ tags: ["own", "bug"] });
  for (const entry of turnOf("first in verbatim")) await session.append(entry);
  await store.close();
  await client.annotate(idOf("rye"), { starred: true, tags: ["bug"] });
  await client.annotate(idOf("homeagent"), { starred: true, title: "Renamed", tags: ["other"] });

  assert.deepEqual(await dialects({ tag: "bug" }), ["rye", "verbatim"]);
  assert.deepEqual(await dialects({ tag: "own" }), ["verbatim"]);
  assert.deepEqual(await dialects({ tag: "bu" }), []);
  assert.deepEqual(await dialects({ starred: true }), ["homeagent", "rye"]);
  assert.deepEqual(await dialects({ starred: true, tag: "bug" }), ["rye"]);
  assert.deepEqual(await dialects({ title: "renam" }), ["homeagent"]);
  assert.deepEqual(await dialects({ title: "first in homeagent" }), ["homeagent"]);

  const facets = async (filter = {}) => {
    const { facets } = await client.list({ facets: true, ...filter });
    const counts = (name: "tags" | "starred" | "agents") =>
      Object.fromEntries((facets?.[name] ?? []).map(({ value, sessions }) => [value, sessions]));
    return { tags: counts("tags"), starred: counts("starred"), all: counts("agents") };
  };
  const { tags, starred, all } = await facets();
  assert.deepEqual(tags, { bug: 2, other: 1, own: 1 });
  assert.deepEqual(starred, { true: 2 });
  const sum = (counts: Record<string, number>) =>
    Object.values(counts).reduce((total, count) => total + count, 0);
  assert.equal(sum(all), 4);
  const starredOnly = await facets({ starred: true });
  assert.deepEqual(starredOnly.tags, { bug: 1, other: 1 });
  assert.equal(sum(starredOnly.all), 2);
  assert.deepEqual((await facets({ tag: "other" })).starred, { true: 1 });

  const hits = async (filter: object) => {
    const page = await client.search("first", filter);
    return [...new Set(page.hits.map(({ session }) => session.dialect))].sort();
  };
  assert.deepEqual(await hits({ tag: "bug" }), ["rye", "verbatim"]);
  assert.deepEqual(await hits({ starred: true }), ["homeagent", "rye"]);
});

test("search finds notes, the latest first and before entries, in pages that miss and repeat none", async () => {
  const { client, idOf } = await owner();
  const id = idOf("rye");
  const { entries } = await client.entries(id, { from: 0 });
  const start = entries[1]?.start ?? assert.fail();
  const inEntries = (await client.search("first")).hits.length;
  const note = async (...request: Parameters<typeof client.annotate>) => {
    const { at } = await client.annotate(...request);
    await until(() => Date.now() > Date.parse(at ?? ""));
  };
  await note(idOf("homeagent"), { title: "The first flight", tags: ["air"] });
  await note(id, { note: "not first" });
  await note(id, { note: "first of all" }, { entry: start });

  const whole = await client.search("first");
  const seen = whole.hits.map(({ session, isNote, start }) => [session.dialect, isNote, start]);
  assert.deepEqual(seen.slice(0, 3), [
    ["rye", true, start],
    ["rye", true, 0],
    ["homeagent", true, 0],
  ]);
  assert.equal(seen.length, 3 + inEntries);
  assert.ok(whole.hits.slice(3).every(({ isNote }) => !isNote));
  assert.deepEqual(whole.hits[0]?.snippet[0], { text: "first", isHit: true });

  for (const limit of [1, 2, 3]) {
    const paged: (typeof whole.hits)[number][] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await client.search("first", { limit, ...(cursor && { cursor }) });
      paged.push(...page.hits);
      cursor = page.next;
    }
    assert.deepEqual(paged, whole.hits, `pages of ${limit}`);
  }
  const [tagHit] = (await client.search("air")).hits;
  assert.deepEqual([tagHit?.session.dialect, tagHit?.isNote], ["homeagent", true]);
  const dialects = async (q: string, options = {}) =>
    (await client.search(q, options)).hits.map(({ session }) => session.dialect);
  const tagged = await dialects("first tag:air");
  assert.deepEqual([...new Set(tagged)], ["homeagent"]);
  assert.equal((await dialects("first -tag:air")).length, seen.length - tagged.length);
  assert.deepEqual(await dialects("flight", { session: id }), []);
  assert.deepEqual(await dialects("flight dialect:rye"), []);
  assert.deepEqual(await dialects("flight"), ["homeagent"]);
  const each = await client.search("first", { perSession: 1 });
  const ofRye = seen.filter(([dialect]) => dialect === "rye").length;
  assert.deepEqual(each.leftOut.find(({ session }) => session === id)?.hits, ofRye - 1);
});

test("what another process notes is shown at once", async () => {
  const { client, idOf, root } = await owner();
  const { session } = await client.get(idOf("rye"));
  const subject = { dialect: "rye", session, store: root };
  await changeNotes(nodeHost, subject, null, { title: "From elsewhere" }, { path: notesPath() });
  assert.equal((await client.get(idOf("rye"))).title, "From elsewhere");
});

test("only the owner writes: no stranger, no token that only reads, and no page from elsewhere", async () => {
  const { token, reader, idOf, patch, client, root } = await owner();
  const id = idOf("rye");
  const body = '{"starred":true}';
  assert.equal((await patch(id, body)).status, 401);
  assert.equal((await patch(id, body, bearer(reader))).status, 403);
  const page = { ...bearer(token), Origin: "https://evil.example" };
  assert.equal((await patch(id, body, page)).status, 403);
  assert.equal((await client.notes(id)).starred, false);

  // Without tokens and private sessions, everyone on the machine may read, and may not write.
  const open = await serveSessions([root]);
  assert.equal((await fetch(open.url(`/${id}/notes`))).status, 200);
  const written = await fetch(open.url(`/${id}/notes`), { method: "PATCH", body });
  assert.equal(written.status, 401);
});

test("wrong notes are refused with a code, and nothing is written", async () => {
  const { token, idOf, patch, client, url } = await owner();
  const id = idOf("rye");
  for (const [status, code, body, query] of [
    [400, "BAD_REQUEST", "{", ""],
    [400, "BAD_REQUEST", '"\u0000"', ""],
    [400, "BAD_NOTE", "[]", ""],
    [400, "BAD_NOTE", "null", ""],
    [400, "BAD_NOTE", JSON.stringify({ title: "a\u001b[2Jb" }), ""],
    [400, "BAD_NOTE", '{"color":"red"}', ""],
    [400, "BAD_NOTE", '{"tags":["a b"]}', ""],
    [400, "BAD_NOTE", JSON.stringify({ title: "x".repeat(NOTE_LIMITS.titleCharsMax + 1) }), ""],
    [400, "BAD_NOTE", '{"note":"x"}', "?entry=1"],
    [400, "BAD_NOTE", '{"note":"x"}', "?entry=99999999"],
    [400, "BAD_REQUEST", '{"note":"x"}', "?entry=-1"],
    [400, "BAD_REQUEST", '{"note":"x"}', "?other=1"],
    [413, "BODY_TOO_LARGE", `{"note":"${"x".repeat(2 ** 20)}"}`, ""],
  ] as const) {
    const answer = await refused(await patch(id, body, bearer(token), query));
    assert.deepEqual(answer, [status, code], body.slice(0, 40));
  }
  const nowhere = await patch(id.replace(/.$/, "_"), "{}", bearer(token));
  assert.equal(nowhere.status, 404);
  for (const method of ["POST", "PUT", "DELETE"]) {
    const other = await fetch(url(`/${id}/notes`), { method, headers: bearer(token) });
    assert.equal(other.status, 405, method);
  }
  const deleted = await fetch(url(`/${id}`), { method: "DELETE", headers: bearer(token) });
  assert.equal(deleted.status, 405);
  assert.equal((await client.notes(id)).at, null);
});
