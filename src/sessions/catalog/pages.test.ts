import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import type { Summary } from "../../core/model/summary.ts";
import { iterateLogs, type Layout } from "../../dialects/find.ts";
import { parseRow, type SessionRow } from "../../dialects/session-row.ts";
import { NOTHING_KNOWN } from "../summary/summary.ts";
import { Catalog } from "./catalog.ts";
import { type Mark, type Page, page } from "./page.ts";
import { type PageRow, pageSql, readPage } from "./page-rows.ts";
import { freshenInSlices, lookAtLog, readRow } from "./pages.ts";
import { bareRow, writeRows } from "./table.ts";

const LAYOUT: Layout = {
  under: ["logs"],
  levels: [],
  isLog: (name) => name.endsWith(".jsonl"),
  idAt: (path) => path.at(-1)?.replace(".jsonl", "") ?? null,
};

async function openCatalog(): Promise<Catalog> {
  const catalog = await Catalog.open(join(tempDirectory(), "catalog.db"));
  assert.equal(catalog.problem, null);
  return catalog;
}

function rowsOf(count: number, updatedAt: (n: number) => string | null): SessionRow[] {
  return Array.from({ length: count }, (_, n) => {
    const log = { id: `s${n}`, path: `logs/s${n}.jsonl`, size: n, mtimeMs: 1_700_000_000_000 + n };
    return { ...bareRow(log), ...NOTHING_KNOWN, updatedAt: updatedAt(n) };
  });
}

const NO_FILTER = { since: null, until: null, statuses: null };

async function keep(catalog: Catalog, root: string, rows: readonly SessionRow[]): Promise<void> {
  await catalog.attempt((cache) => writeRows(cache, { dialect: "rye", root }, rows), undefined);
}

test("50,000 rows are listed in pages, each once, newest first, whether or not they have a time", async () => {
  const catalog = await openCatalog();
  const root = tempDirectory();
  const rows = rowsOf(50_000, (n) => (n % 3 === 0 ? null : `2024-01-01T00:00:${n % 60}.000Z`));
  await keep(catalog, root, rows);
  const more = (from: Mark | null) =>
    readPage(catalog, "rye", root, { ...NO_FILTER, from, limit: 500 });
  const take = (row: PageRow) => row;
  const read = async (cursor: string | null): Promise<Page<PageRow>> => {
    const sources = [{ store: { key: "s" }, rows: [], more }];
    return (
      (await page(sources, { order: "updated", limit: 997, cursor, take })) ??
      assert.fail("not a cursor")
    );
  };
  const all: PageRow[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const listed = await read(cursor || null);
    all.push(...listed.sessions);
    cursor = listed.next;
  }
  for (const [n, { key, id, row }] of all.entries()) {
    const before = all[n - 1];
    assert.ok(
      !before || String(key) < String(before.key) || (key === before.key && id > before.id),
    );
    assert.equal(key, row.updatedAt ?? new Date(row.mtimeMs).toISOString());
  }
  assert.equal(all.length, 50_000);
  catalog.close();
});

test("a page is read by its index: no other row is read, and nothing is sorted", async () => {
  const catalog = await openCatalog();
  const root = tempDirectory();
  await keep(
    catalog,
    root,
    rowsOf(10, () => "2026-01-01T00:00:00Z"),
  );
  await readPage(catalog, "rye", root, { ...NO_FILTER, from: null, limit: 1 });
  const plan = await catalog.attempt((cache) => {
    const { text } = pageSql({ ...NO_FILTER, from: null, limit: 1 });
    return JSON.stringify(cache.all(`EXPLAIN QUERY PLAN ${text}`, "rye", root, "~", "~", "", 1));
  }, "");
  assert.match(plan, /SEARCH sessions USING INDEX sessions_by_change \(root=\? AND <expr>/);
  assert.doesNotMatch(plan, /TEMP B-TREE/);
  catalog.close();
});

test("freshening in slices gives the same rows as freshening at once", async () => {
  // Method: more logs than a slice holds; then some are changed, added and deleted.
  const root = tempDirectory();
  const plant = (id: string, text: string) => {
    const path = join(root, "logs", `${id}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  for (let n = 0; n < 300; n++) plant(`s${n}`, "x".repeat(n));
  let summarised = 0;
  const summarise = async (id: string): Promise<Summary> => {
    summarised++;
    if (id === "s7") throw new Error("unreadable");
    return { ...NOTHING_KNOWN, title: id, lines: lookAtLog(root, `logs/${id}.jsonl`)?.size ?? 0 };
  };
  const [sliced, whole] = [await openCatalog(), await openCatalog()];
  const failures: string[] = [];
  const freshen = () =>
    freshenInSlices(sliced, "rye", root, iterateLogs(root, LAYOUT), {
      summarise,
      isLeft: ({ id }) => id === "s8",
      onFailure: (id) => failures.push(id),
      signal: new AbortController().signal,
    });
  await freshen();
  assert.equal(summarised, 300);
  assert.deepEqual(failures, ["s7"]);
  await freshen();
  assert.equal(summarised, 301, "only the failed one is tried again");
  appendFileSync(join(root, "logs/s5.jsonl"), "more");
  appendFileSync(join(root, "logs/s8.jsonl"), "more");
  await freshen();
  assert.equal(summarised, 303);
  const { lines } = await whole.freshen("rye", root, iterateLogs(root, LAYOUT), summarise);
  for (const row of lines.map(parseRow)) {
    const kept = await readRow(sliced, "rye", root, row.id);
    if (row.id === "s7") assert.equal(kept, null);
    else if (row.id === "s8") assert.equal(kept?.size, 8, "the row is unchanged");
    else assert.deepEqual(kept, row);
  }
  sliced.close();
  whole.close();
});
