import assert from "node:assert/strict";
import { test } from "vitest";
import { findDriver, loadDriver, problemOf } from "./sqlite-driver.ts";

class Usable {
  get isTransaction() {
    return false;
  }
}
class TooOld {}

const OURS = `verbatim-log-sqlite-${process.platform}-${process.arch}`;

/** A loader that finds only these modules. */
function finds(modules: Readonly<Record<string, unknown>>, asked: string[] = []) {
  return (name: string) => {
    asked.push(name);
    const DatabaseSync = modules[name];
    if (DatabaseSync === undefined) throw new Error(`no ${name}`);
    return { DatabaseSync };
  };
}

test("Node's own SQLite is the first choice, and nothing else is loaded", () => {
  const asked: string[] = [];
  const driver = findDriver(finds({ "node:sqlite": Usable, [OURS]: Usable }, asked));
  assert.equal(driver.DatabaseSync, Usable);
  assert.deepEqual(asked, ["node:sqlite"]);
});

test.each([OURS, `${OURS}-musl`, "@photostructure/sqlite"])(
  "where Node has no SQLite, or one that is too old, %s is loaded",
  (name) => {
    assert.equal(findDriver(finds({ [name]: Usable })).DatabaseSync, Usable);
    const both = { "node:sqlite": TooOld, [name]: Usable };
    assert.equal(findDriver(finds(both)).DatabaseSync, Usable);
  },
);

test("without any, the error says what to install", () => {
  assert.throws(() => findDriver(finds({})), { code: "NO_SQLITE", message: /22\.16.*optional/ });
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
