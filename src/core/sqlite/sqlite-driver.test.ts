import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "vitest";
import { findDriver, loadDriver, problemOf, remedyOf } from "./sqlite-driver.ts";

class Usable {}

const OURS = `verbatim-log-sqlite-${process.platform}-${process.arch}`;

/** A loader that finds only these modules. */
function finds(names: readonly string[], asked: string[] = []) {
  return (name: string) => {
    asked.push(name);
    if (!names.includes(name)) throw new Error(`no ${name}`);
    return { DatabaseSync: Usable };
  };
}

test.each(["22.16.0", "24.0.0", "26.10.0"])(
  "Node %s uses its own SQLite, and loads nothing else",
  (node) => {
    const asked: string[] = [];
    assert.equal(findDriver(finds(["node:sqlite", OURS], asked), node).DatabaseSync, Usable);
    assert.deepEqual(asked, ["node:sqlite"]);
  },
);

test.each(["20.19.0", "22.15.1", "23.11.0"])("Node %s uses a package", (node) => {
  for (const name of [OURS, `${OURS}-musl`, "@photostructure/sqlite"]) {
    const asked: string[] = [];
    assert.equal(findDriver(finds(["node:sqlite", name], asked), node).DatabaseSync, Usable);
    assert.deepEqual([asked.at(-1), asked.includes("node:sqlite")], [name, false]);
  }
});

test("without any, the error says what to install", () => {
  assert.throws(() => findDriver(finds([])), { code: "NO_SQLITE", message: /22\.16.*optional/ });
  assert.match(remedyOf("NO_SQLITE", "delete it"), /22\.16.*optional/);
  assert.equal(remedyOf("SQLITE_FULL", "delete it"), "delete it");
});

test("Node's warning about its SQLite is not shown, and later warnings are", () => {
  const { emitWarning } = process;
  const shown: unknown[] = [];
  process.emitWarning = (text: unknown) => void shown.push(text);
  try {
    findDriver((name) => {
      process.emitWarning(`${name} is experimental`);
      return { DatabaseSync: Usable };
    });
    process.emitWarning("later");
  } finally {
    process.emitWarning = emitWarning;
  }
  assert.deepEqual(shown, ["later"]);
});

test("an error of SQLite has the name of its code, whichever driver reports it", () => {
  const { DatabaseSync } = loadDriver();
  const database = new DatabaseSync(":memory:");
  const failing = (sql: string) => {
    try {
      database.exec(sql);
    } catch (error) {
      return problemOf(error);
    }
    return "none";
  };
  assert.equal(failing("SELECT * FROM missing"), "SQLITE_ERROR");
  database.exec("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)");
  assert.equal(failing("INSERT INTO t VALUES (1)"), "SQLITE_CONSTRAINT");
  assert.equal(problemOf(Object.assign(new Error(), { errcode: 266 })), "SQLITE_IOERR");
  assert.equal(problemOf(Object.assign(new Error(), { errcode: 99 })), "SQLITE_99");
  assert.equal(problemOf(Object.assign(new Error(), { code: "EROFS" })), "EROFS");
  database.close();
});

test("no statement has numbered parameters: Node before 22.20 and 24.8 cannot bind them", () => {
  const source = new URL("../../", import.meta.url);
  const files = readdirSync(source, { recursive: true, encoding: "utf8" });
  const sources = files.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  assert.ok(sources.length > 100);
  const numbered = sources.filter((name) =>
    /\?\d/.test(readFileSync(new URL(name, source), "utf8")),
  );
  assert.deepEqual(numbered, []);
});
