import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { emptyEntry } from "../../core/model/entry.ts";
import { openCache, type SqlValue } from "../../core/sqlite/sqlite.ts";
import { findEntries } from "./find-entries.ts";
import { IndexFold } from "./index-fold.ts";
import { SEARCH_SCHEMA } from "./index-table.ts";
import { parseQuery } from "./query.ts";
import { IndexBegunAnew, KNOWN_SESSIONS_SQL, SearchIndex } from "./search-index.ts";

/** It need not exist. */
const place = { dialect: "rye", root: "/no/such/project" };

async function opened(path: string): Promise<SearchIndex> {
  const index = await SearchIndex.open(path);
  onTestFinished(() => index.close());
  return index;
}

async function put(index: SearchIndex, id: string, texts: readonly string[]): Promise<void> {
  const fold = new IndexFold();
  for (const [start, text] of texts.entries()) {
    const parts = [{ type: "text" as const, text }];
    fold.add({ ...emptyEntry({}), kind: "message", role: "user", parts }, start);
  }
  const log = { size: 1, mtimeMs: 1 };
  const progress = { indexedTo: texts.length, mark: "m", agent: null, state: fold.state(), log };
  await index.add([{ place, id, before: null, piece: fold.take(), progress }]);
}

function found(index: SearchIndex, query: string, limit = 9): Promise<number> {
  const wanted = parseQuery(query, { nowMs: 0, dialects: [] });
  const options = { places: [place], after: null, limit, examinedMax: 9_999 };
  return index.attempt((cache) => findEntries(cache, wanted, options).entries.length);
}

test("the schema on the format page is the current one", () => {
  const schema = docsPage("formats/catalog").block("sql search-schema");
  assert.equal(schema.trim(), SEARCH_SCHEMA.trim());
});

test.each(["tools", "edits", "prompts"])(
  "the page's row of %s is one that the index stores and returns",
  async (table) => {
    const json = docsPage("formats/catalog").block(`json ${table}-example`);
    const row = JSON.parse(json) as Record<string, SqlValue>;
    const index = await opened(join(tempDirectory(), "search.db"));
    const values = Object.values(row);
    const kept = await index.attempt((cache) => {
      cache.run(`INSERT INTO ${table} VALUES (${values.map(() => "?").join(", ")})`, ...values);
      return cache.all(`SELECT * FROM ${table}`);
    });
    assert.deepEqual(
      kept.map((each) => ({ ...each })),
      [row],
    );
  },
);

test("an index is private to its user, and one of another version is created again", async () => {
  const path = join(tempDirectory(), "cache/search.db");
  const index = await opened(path);
  await put(index, "a", ["one", "two"]);
  assert.equal(await found(index, "one"), 1);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  index.close();
  const { cache } = await openCache(
    path,
    "CREATE TABLE other (x); CREATE VIRTUAL TABLE w USING fts5(y)",
  );
  assert.deepEqual(cache?.all("SELECT name FROM sqlite_schema WHERE name = 'words'"), []);
  cache?.close();
  const again = await opened(path);
  assert.equal(await found(again, "one"), 0);
});

test("a damaged index is created again, and the caller gets an error that says so", async () => {
  const path = join(tempDirectory(), "search.db");
  const index = await opened(path);
  await put(
    index,
    "a",
    Array.from({ length: 200 }, (_, n) => `word${n} all`),
  );
  await index.attempt((cache) => cache.value("PRAGMA wal_checkpoint(TRUNCATE)"));
  index.close();
  const bytes = readFileSync(path);
  for (let page = 2; page < bytes.length / 4096; page++)
    bytes.fill(0x7f, page * 4096, page * 4096 + 99);
  writeFileSync(path, bytes);
  const damaged = await opened(path);
  await assert.rejects(found(damaged, "all"), IndexBegunAnew);
  assert.equal(await found(damaged, "all"), 0);
  await put(damaged, "a", ["all"]);
  assert.equal(await found(damaged, "all"), 1);
});

test("without a usable index, searching is refused with the reason", async () => {
  const path = join(tempDirectory(), "search.db");
  mkdirSync(path);
  const { details } = await refusal(SearchIndex.open(path), "CATALOG_UNAVAILABLE");
  assert.deepEqual(details, { path, problem: "EINVAL" });
});

test("a piece that does not follow the last stored one is dropped", async () => {
  const index = await opened(join(tempDirectory(), "search.db"));
  await put(index, "a", ["one"]);
  await put(index, "a", ["one"]);
  assert.equal(await found(index, "one"), 1);
});

test("a page takes as many statements among a thousand sessions as among ten, and all are added up", async () => {
  const index = await opened(join(tempDirectory(), "search.db"));
  const counts: number[] = [];
  for (const sessions of [10, 1_000]) {
    const fold = new IndexFold();
    const parts = [{ type: "text" as const, text: "all" }];
    const entry = {
      ...emptyEntry({}),
      kind: "message" as const,
      role: "assistant" as const,
      parts,
    };
    fold.add(entry, 0);
    const log = { size: 1, mtimeMs: 1 };
    const progress = { indexedTo: 1, mark: "m", agent: null, state: fold.state(), log };
    const piece = fold.take();
    const ids = Array.from({ length: sessions }, (_, n) => `s${sessions}-${n}`);
    await index.add(ids.map((id) => ({ place, id, before: null, piece, progress })));
    let statements = 0;
    const wanted = parseQuery("all", { nowMs: 0, dialects: [] });
    await index.attempt((cache) => {
      const counting = new Proxy(cache, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          if (name === "all") statements++;
          return value.bind(target);
        },
      });
      const options = { places: [place], after: null, limit: 9, examinedMax: 9_999 };
      assert.equal(findEntries(counting, wanted, options).entries.length, 9);
    });
    counts.push(statements);
  }
  assert.deepEqual(counts, [1, 1]);
});

test("which sessions are indexed is read from an index alone, without their rows", async () => {
  const index = await opened(join(tempDirectory(), "search.db"));
  for (const id of ["a", 'b"\n', "c"]) await put(index, id, ["words"]);
  const plan = await index.attempt((cache) =>
    cache.all(`EXPLAIN QUERY PLAN ${KNOWN_SESSIONS_SQL}`, 1, ""),
  );
  assert.match(JSON.stringify(plan), /COVERING INDEX sessions_by_state/);
  const known: unknown[] = [];
  for await (const piece of index.known(place)) known.push(...piece);
  const state = { size: 1, mtimeMs: 1 };
  assert.deepEqual(known, [
    ["a", state],
    ['b"\n', state],
    ["c", state],
  ]);
});
