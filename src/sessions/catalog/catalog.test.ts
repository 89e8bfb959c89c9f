import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { onTestFinished, test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { emptyEntry } from "../../core/model/entry.ts";
import type { Summary } from "../../core/model/summary.ts";
import { type Cache, openCache } from "../../core/sqlite/sqlite.ts";
import {
  type FoundLog,
  parseRow,
  type RowLine,
  type SessionRow,
  type SessionSort,
  sortLines,
} from "../../dialects/session-row.ts";
import { NOTHING_KNOWN, SummaryFold } from "../summary/summary.ts";
import { Catalog, realRoot } from "./catalog.ts";
import { ROWS_PER_READ, readLines, SCHEMA } from "./table.ts";

const SUMMARY: Summary = {
  title: "Fix the build",
  agent: "cook",
  model: "m-1",
  status: "completed",
  turns: 3,
  inputTokens: 100,
  outputTokens: 20,
  totalTokens: 120,
  spend: 0.0125,
  createdAt: "2026-11-15T04:00:00.000Z",
  updatedAt: "2026-11-15T04:10:00.000Z",
  durationMs: 600_000,
  parent: null,
  project: null,
  branch: null,
  repository: null,
  directory: null,
  linesAdded: 3,
  linesRemoved: 1,
  erased: null,
  tags: [],
  user: null,
  metadata: null,
  lines: 12,
  badLines: 1,
};

function log(id: string, size = 10, mtimeMs = 1_731_650_000_123.456): FoundLog {
  return { id, path: `logs/${id}.jsonl`, size, mtimeMs };
}

async function opened(path: string): Promise<Catalog> {
  const catalog = await Catalog.open(path);
  onTestFinished(() => catalog.close());
  return catalog;
}

function place(): { path: string; root: string } {
  const directory = tempDirectory();
  mkdirSync(join(directory, "root"));
  return { path: join(directory, "cache/catalog.db"), root: join(directory, "root") };
}

/** The stored rows. */
async function rowsIn(catalog: Catalog, root: string, sort: SessionSort = "id") {
  const read = (cache: Cache) => readLines(cache, { dialect: "rye", root: realRoot(root) }, sort);
  const lines = await catalog.attempt(read, new Map<string, RowLine>());
  return sortLines([...lines.values()]).map(parseRow);
}

/** Freshens, and returns which sessions were summarised for it. */
async function freshened(
  catalog: Catalog,
  root: string,
  found: readonly FoundLog[],
  summary: Summary = SUMMARY,
): Promise<{ rows: readonly SessionRow[]; asked: string[]; removed: number }> {
  const asked: string[] = [];
  const { lines, failures, summarised, removed } = await catalog.freshen(
    "rye",
    root,
    found,
    async (id) => {
      asked.push(id);
      return summary;
    },
  );
  assert.deepEqual(failures, []);
  assert.equal(summarised, asked.length);
  return { rows: lines.map(parseRow), asked, removed };
}

test("a session is summarised once, and known after that", async () => {
  const { path, root } = place();
  const first = await freshened(await opened(path), root, [log("a"), log("b")]);
  assert.deepEqual(first.asked, ["a", "b"]);
  assert.deepEqual(first.rows[1], {
    id: "b",
    logPath: "logs/b.jsonl",
    size: 10,
    mtimeMs: 1_731_650_000_123.456,
    ...SUMMARY,
  });

  const again = await freshened(await opened(path), root, [log("b"), log("a")]);
  assert.deepEqual(again.asked, []);
  assert.deepEqual(again.rows, [first.rows[1], first.rows[0]]);
});

test("a log that has another size or time of change, by a microsecond, is summarised again", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  await freshened(catalog, root, [log("a"), log("b"), log("c")]);

  const found = [log("a", 11), log("b", 10, 1_731_650_000_123.457), log("c")];
  const { asked, rows } = await freshened(catalog, root, found, { ...SUMMARY, title: "Later" });
  assert.deepEqual(asked, ["b", "a"], "newest first");
  assert.deepEqual(
    rows.map(({ title }) => title),
    ["Later", "Later", SUMMARY.title],
  );
  assert.deepEqual((await freshened(catalog, root, found)).asked, []);
});

test("a log that is gone is forgotten", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  await freshened(catalog, root, [log("a"), log("b"), log("c")]);

  const { rows, removed } = await freshened(catalog, root, [log("b")]);
  assert.deepEqual([rows.length, removed], [1, 2]);
  assert.equal((await rowsIn(catalog, root)).length, 1);
  assert.deepEqual((await freshened(catalog, root, [log("a"), log("b")])).asked, ["a"]);
});

test("roots and dialects are kept apart, and a root reached through a link is the same root", async () => {
  const { path, root } = place();
  const other = tempDirectory();
  const link = join(other, "link");
  symlinkSync(root, link);
  const catalog = await opened(path);
  await freshened(catalog, root, [log("a")]);

  assert.deepEqual((await freshened(catalog, other, [log("a")])).asked, ["a"]);
  const homeagent = await catalog.freshen("homeagent", root, [log("a")], async () => SUMMARY);
  assert.equal(homeagent.summarised, 1);
  assert.deepEqual((await freshened(catalog, link, [log("a")])).asked, []);
  assert.deepEqual((await freshened(catalog, `${root}/../root/`, [log("a")])).asked, []);
  assert.equal((await rowsIn(catalog, link)).length, 1);
});

test("freshening where nothing has changed writes nothing", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  await freshened(catalog, root, [log("a"), log("b")]);
  const { cache } = await openCache(path, SCHEMA);
  onTestFinished(() => cache?.close());
  // Changes with every transaction of any other connection.
  const before = cache?.value("PRAGMA data_version");

  await freshened(catalog, root, [log("a"), log("b")]);
  assert.equal(cache?.value("PRAGMA data_version"), before);
  await freshened(catalog, root, [log("a")]);
  assert.notEqual(cache?.value("PRAGMA data_version"), before);
});

test("a log that cannot be summarised is listed with its file's facts, reported, and tried again", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  const broken = new Error("unreadable");
  const summarise = async (id: string) => {
    if (id === "b") throw broken;
    return SUMMARY;
  };
  const found = [log("a"), log("b"), log("c")];
  const { lines, failures, summarised } = await catalog.freshen("rye", root, found, summarise);

  assert.deepEqual(failures, [{ id: "b", error: broken }]);
  assert.equal(summarised, 2);
  const { id, path: logPath, size, mtimeMs } = log("b");
  assert.deepEqual(lines.map(parseRow)[1], { id, logPath, size, mtimeMs, ...NOTHING_KNOWN });
  assert.deepEqual((await freshened(catalog, root, found)).asked, ["b"]);
});

test("several logs are summarised at a time, eight at most, and progress is reported after each", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  let running = 0;
  let most = 0;
  const told: [number, number][] = [];
  const found = Array.from({ length: 40 }, (_, n) => log(`s${n}`));

  await catalog.freshen(
    "rye",
    root,
    found,
    async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      return SUMMARY;
    },
    { onProgress: (done, total) => told.push([done, total]) },
  );
  assert.equal(most, 8);
  assert.deepEqual(
    told,
    Array.from({ length: 41 }, (_, n) => [n, 40]),
  );
});

test("progress within a long log is reported in bytes, a megabyte at a time", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  const told: unknown[] = [];
  const long = { ...log("long"), size: 5 * 2 ** 20 };
  await catalog.freshen(
    "rye",
    root,
    [long, log("short")],
    async (id, { onOffset } = {}) => {
      for (let offset = 0; offset < 5 * 2 ** 20; offset += 2 ** 19) onOffset?.(offset);
      assert.equal(onOffset === undefined, id === "short");
      return SUMMARY;
    },
    { onProgress: (...progress) => told.push(progress) },
  );
  const bytes = told.flatMap((each) => (each as unknown[])[2] ?? []);
  const expected = [1, 2, 3, 4].flatMap((n) => [n * 2 ** 20, long.size]);
  assert.deepEqual(bytes, expected);
});

test("an interrupted first listing has stored the finished rows", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  const found = Array.from({ length: 400 }, (_, n) => log(`s${n}`));
  let kept = 0;
  let asked = 0;

  await catalog.freshen("rye", root, found, async () => {
    if (++asked === 390) kept = (await rowsIn(await opened(path), root)).length;
    return SUMMARY;
  });
  assert.ok(kept >= 256, `${kept} rows`);
  assert.equal((await rowsIn(catalog, root)).length, 400);
});

test("rows are returned sorted", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  await catalog.freshen("rye", root, [log("a"), log("b"), log("c")], async (id) => ({
    ...SUMMARY,
    updatedAt: `2026-11-15T04:0${id === "b" ? 9 : 1}:00.000Z`,
    spend: id === "c" ? 5 : null,
  }));
  const ids = (rows: readonly SessionRow[]) => rows.map(({ id }) => id).join("");

  assert.equal(ids(await rowsIn(catalog, root, "updated")), "bac");
  assert.equal(ids(await rowsIn(catalog, root, "spend")), "cab");
});

test("more rows than one read returns are all listed, each once", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  const pages = [ROWS_PER_READ, ROWS_PER_READ + 1, 3 * ROWS_PER_READ, 3 * ROWS_PER_READ + 1];
  for (const count of pages) {
    const found = Array.from({ length: count }, (_, n) => log(`s${n}`));
    await freshened(catalog, root, found);
    assert.deepEqual((await freshened(catalog, root, found)).asked, []);
    assert.equal(new Set((await rowsIn(catalog, root)).map(({ id }) => id)).size, count);
  }
});

test("the row of any session is read back unchanged", async () => {
  // Method: summaries folded from arbitrary entries: odd strings, any numbers.
  const { path, root } = place();
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("\0", "a\0b", "\ud800", "'\"\\"),
  );
  const number = fc.option(fc.oneof(fc.nat(), fc.double(), fc.maxSafeNat()));
  const usage = fc.record({
    inputTokens: number,
    outputTokens: number,
    totalTokens: number,
    spend: number,
  });
  const entry = fc.record({
    kind: fc.constantFrom("message" as const, "turn_end" as const, "end" as const),
    role: fc.constantFrom("user" as const, "assistant" as const),
    parts: text.map((text) => [{ type: "text" as const, text }]),
    model: fc.option(text),
    usage: fc.option(usage),
  });
  const session = fc.tuple(fc.array(entry, { maxLength: 4 }), fc.option(text));
  const time = fc.double({ min: 0, max: 4e12, noNaN: true });
  const size = fc.maxSafeNat();

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(session, size, time), { maxLength: 5 }),
      async (sessions) => {
        const found = sessions.map(([, size, time], n) => log(`s${n}`, size, time));
        const summaries = sessions.map(([[entries, agent]]) => {
          const fold = new SummaryFold();
          for (const entry of entries) fold.add({ ...emptyEntry({}), ...entry });
          return fold.summary({ agent });
        });
        const writer = await Catalog.open(path);
        const wiped = await writer.freshen("rye", root, [], () => assert.fail("asked"));
        assert.equal(wiped.lines.length, 0);
        const { lines } = await writer.freshen("rye", root, found, async (id) => {
          return summaries[Number(id.slice(1))] ?? assert.fail("no such session");
        });
        writer.close();

        const reader = await Catalog.open(path);
        const again = await reader.freshen("rye", root, found, () => assert.fail("asked"));
        reader.close();
        const known = (line: RowLine) => ({ ...parseRow(line), mtimeMs: 0 });
        assert.deepEqual(again.lines.map(known), lines.map(known));
      },
    ),
    { numRuns: 100 },
  );
});

test("deleted roots are removed when a new one is added", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  const passing = tempDirectory();
  await freshened(catalog, root, [log("a")]);
  await freshened(catalog, passing, [log("p")]);
  rmSync(passing, { recursive: true });
  assert.equal((await rowsIn(catalog, passing)).length, 1);

  await freshened(catalog, tempDirectory(), [log("n")]);
  assert.equal((await rowsIn(catalog, passing)).length, 0);
  assert.equal((await rowsIn(catalog, root)).length, 1);
});

test("a deleted catalog is created again", async () => {
  const { path, root } = place();
  const before = await freshened(await opened(path), root, [log("a")]);
  for (const ending of ["", "-wal", "-shm"]) rmSync(path + ending, { force: true });

  const { asked, rows } = await freshened(await opened(path), root, [log("a")]);
  assert.deepEqual(asked, ["a"]);
  assert.deepEqual(rows, before.rows);
});

test("a catalog with damaged pages is created again without an error", async () => {
  const { path, root } = place();
  const found = Array.from({ length: 500 }, (_, n) => log(`s${n}`));
  const before = await freshened(await opened(path), root, found);
  const { cache } = await openCache(path, SCHEMA);
  cache?.value("PRAGMA wal_checkpoint(TRUNCATE)");
  cache?.close();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0x41, 3 * 4096, 9 * 4096));

  const catalog = await opened(path);
  const { rows, asked } = await freshened(catalog, root, found);
  assert.equal(asked.length, 500);
  assert.deepEqual(rows, before.rows);
  assert.equal(catalog.problem, null);
  assert.deepEqual((await freshened(await opened(path), root, found)).asked, []);
});

test("a catalog without its tables works without them, and is whole the next time", async () => {
  const { path, root } = place();
  await freshened(await opened(path), root, [log("a")]);
  const { cache } = await openCache(path, SCHEMA);
  cache?.run("DROP TABLE sessions");
  cache?.close();

  const catalog = await opened(path);
  assert.deepEqual((await freshened(catalog, root, [log("a")])).asked, ["a"]);
  assert.equal(catalog.problem, "SQLITE_ERROR");
  assert.deepEqual((await freshened(catalog, root, [log("a")])).asked, ["a"]);

  const next = await opened(path);
  assert.deepEqual((await freshened(next, root, [log("a")])).asked, ["a"]);
  assert.equal(next.problem, null);
  assert.deepEqual((await freshened(next, root, [log("a")])).asked, []);
});

test("without a usable catalog, sessions are summarised each time and the reason is reported", async () => {
  const { root } = place();
  const file = join(tempDirectory(), "file");
  writeFileSync(file, "");
  const catalog = await opened(join(file, "catalog.db"));

  for (let time = 0; time < 2; time++) {
    const { rows, asked } = await freshened(catalog, root, [log("a")]);
    assert.deepEqual(asked, ["a"]);
    assert.equal(rows[0]?.title, SUMMARY.title);
  }
  assert.equal(catalog.problem, "EEXIST");
  assert.deepEqual(await rowsIn(catalog, root), []);
  assert.equal(existsSync(join(file, "catalog.db")), false);
});

test("using a closed catalog stores nothing, and is not an error", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  catalog.close();
  assert.deepEqual((await freshened(catalog, root, [log("a")])).asked, ["a"]);
});

test("a bug in our own code is not treated as a database failure", async () => {
  const { path, root } = place();
  const catalog = await opened(path);
  const wrong = { ...SUMMARY, turns: () => 0 } as unknown as Summary;
  await assert.rejects(
    catalog.freshen("rye", root, [log("a")], async () => wrong),
    TypeError,
  );
});
