import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { type Cache, openCache } from "./sqlite.ts";

const SCHEMA = "CREATE TABLE t (n INTEGER);";

async function opened(path: string, schema = SCHEMA): Promise<Cache> {
  const { cache, problem } = await openCache(path, schema);
  assert.equal(problem, null);
  assert.ok(cache);
  onTestFinished(() => {
    try {
      cache.close();
    } catch {
      // The test has closed it.
    }
  });
  return cache;
}

function count(cache: Cache): unknown {
  return cache.value("SELECT count(*) FROM t");
}

/** A database with some pages of rows in it, closed. */
async function filled(path: string): Promise<void> {
  const cache = await opened(path);
  cache.transaction(() => {
    for (let n = 0; n < 5000; n++) cache.run("INSERT INTO t VALUES (?)", n);
  });
  cache.value("PRAGMA wal_checkpoint(TRUNCATE)"); // Into the file, which is to be damaged.
  cache.close();
}

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test("a new cache is 0600 with all its files, in directories of 0700", async () => {
  const directory = join(tempDirectory(), "a/b");
  const cache = await opened(join(directory, "cache.db"));
  cache.run("INSERT INTO t VALUES (1)");

  assert.deepEqual(readdirSync(directory).sort(), ["cache.db", "cache.db-shm", "cache.db-wal"]);
  for (const name of readdirSync(directory)) assert.equal(mode(join(directory, name)), "600", name);
  assert.equal(mode(directory), "700");
  assert.equal(mode(join(directory, "..")), "700");
});

test("a cache that others can read is made 0600 before anything is written to it", async () => {
  const path = join(tempDirectory(), "cache.db");
  writeFileSync(path, "");
  chmodSync(path, 0o644);
  await opened(path);
  assert.equal(mode(path), "600");
});

test("a cache has a write-ahead log, syncs normally and waits when another process writes", async () => {
  const cache = await opened(join(tempDirectory(), "cache.db"));
  assert.equal(cache.value("PRAGMA journal_mode"), "wal");
  assert.equal(cache.value("PRAGMA synchronous"), 1);
  assert.equal(cache.value("PRAGMA busy_timeout"), 2000);
});

test("written rows are there after closing and reopening", async () => {
  const path = join(tempDirectory(), "cache.db");
  await filled(path);
  assert.equal(count(await opened(path)), 5000);
});

test("a transaction that fails leaves nothing behind, and the next one works", async () => {
  const cache = await opened(join(tempDirectory(), "cache.db"));
  assert.throws(() =>
    cache.transaction(() => {
      cache.run("INSERT INTO t VALUES (1)");
      throw new Error("in the middle");
    }),
  );
  assert.equal(count(cache), 0);
  cache.transaction(() => cache.run("INSERT INTO t VALUES (2)"));
  assert.equal(count(cache), 1);
});

test("a file of another version, older or newer, is created again", async () => {
  const path = join(tempDirectory(), "cache.db");
  await filled(path);
  const other = await opened(path, 'CREATE TABLE "an "" odd name" (x); CREATE TABLE t (n, extra);');
  assert.equal(count(other), 0);
  other.run("INSERT INTO t VALUES (1, 2)");
  other.close();

  const back = await opened(path);
  assert.equal(count(back), 0);
  assert.equal(back.value("SELECT group_concat(name) FROM sqlite_schema"), "t");
});

test("a file of another version is created again, whatever references and indexes it has", async () => {
  const path = join(tempDirectory(), "cache.db");
  const tables = "CREATE TABLE a (x INTEGER PRIMARY KEY); CREATE TABLE b (x REFERENCES a);";
  const { cache } = await openCache(path, `${tables} CREATE VIRTUAL TABLE c USING fts5(y);`);
  cache?.run("INSERT INTO a VALUES (1)");
  cache?.run("INSERT INTO b VALUES (1)");
  cache?.run("INSERT INTO c VALUES ('word')");
  cache?.close();
  const { cache: next, problem } = await openCache(path, "CREATE TABLE d (x)");
  assert.equal(problem, null);
  const names = next?.all("SELECT name FROM sqlite_schema WHERE type = 'table'");
  assert.deepEqual(
    names?.map(({ name }) => name),
    ["d"],
  );
  next?.close();
});

test("an outdated file is created again while another process has it open", async () => {
  const path = join(tempDirectory(), "cache.db");
  const old = await opened(path);
  old.run("INSERT INTO t VALUES (1)");
  const next = await opened(path, "CREATE TABLE u (n INTEGER);");
  next.run("INSERT INTO u VALUES (5)");
  assert.throws(() => count(old), { errcode: 1 });
  assert.equal(next.value("SELECT n FROM u"), 5);
});

test("a file that is not a database is replaced", async () => {
  // Method: garbage, a cut inside the header, an overwritten header.
  const damages: Record<string, (path: string) => void> = {
    garbage: (path) => writeFileSync(path, "no database at all\n".repeat(500)),
    "a cut header": (path) => truncateSync(path, 60),
    "an overwritten start": (path) => {
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0x41, 0, 200));
    },
  };
  for (const [name, damage] of Object.entries(damages)) {
    const path = join(tempDirectory(), "cache.db");
    await filled(path);
    damage(path);
    const cache = await opened(path);
    cache.run("INSERT INTO t VALUES (1)");
    assert.equal(count(cache), 1, name);
    assert.equal(mode(path), "600");
  }
});

test("damage that opening does not detect is found and repaired when the file is suspect", async () => {
  const path = join(tempDirectory(), "cache.db");
  await filled(path);
  const sound = await openCache(path, SCHEMA, { isSuspect: true });
  assert.equal(sound.cache && count(sound.cache), 5000);
  sound.cache?.close();

  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0x41, 8192, 20_000));
  const blind = await opened(path);
  assert.throws(() => count(blind), { errcode: 11 });
  blind.close();

  const mended = await openCache(path, SCHEMA, { isSuspect: true });
  assert.equal(mended.cache && count(mended.cache), 0);
  mended.cache?.close();
});

test("a write-ahead log left by the old database is not applied to the new one", async () => {
  const path = join(tempDirectory(), "cache.db");
  await filled(path);
  const first = await opened(path);
  first.run("UPDATE t SET n = -1 WHERE n = 4000"); // A page in the middle, and no other.
  const log = readFileSync(`${path}-wal`);
  first.close();
  writeFileSync(path, "garbage ".repeat(1000));
  writeFileSync(`${path}-wal`, log);

  const cache = await opened(path);
  assert.equal(count(cache), 0);
  assert.equal(cache.value("PRAGMA integrity_check"), "ok");
});

test("without a usable file there is no cache, and the reason is reported", async () => {
  const directory = tempDirectory();
  writeFileSync(join(directory, "file"), "");
  mkdirSync(join(directory, "directory"));
  symlinkSync(join(directory, "file"), join(directory, "link"));
  const places = { "file/cache.db": "EEXIST", directory: "EINVAL", link: "EINVAL" };
  for (const [place, problem] of Object.entries(places)) {
    assert.deepEqual(await openCache(join(directory, place), SCHEMA), { cache: null, problem });
  }
  assert.equal(existsSync(join(directory, "file-wal")), false);
});
