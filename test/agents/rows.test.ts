/**
 * Every command, MCP and the sessions API on sessions that are rows of a program's database, by id,
 * the beginning of it, the path below the database, and `last`.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { CliUser } from "../cli/cli.ts";
import { linkedClient } from "../cli/linked-client.ts";
import { treeAt } from "../support/tree.ts";
import { message, SCHEMA, SESSION } from "./goose-database.ts";
import { mcpCall } from "./mcp-call.ts";
import { OpencodeDatabase } from "./opencode-database.ts";

interface Rows {
  readonly dialect: string;
  readonly label: string;
  readonly id: string;
  readonly beginning: string;
  /** Of the database, below the home directory. */
  readonly path: readonly string[];
  /** Makes the database; returns a function that adds a message, and one that closes it. */
  readonly make: (path: string) => { add: (text: string) => void; close: () => void };
}

const OPENCODE: Rows = {
  dialect: "opencode",
  label: "OpenCode",
  id: "ses_1",
  beginning: "ses",
  path: [".local", "share", "opencode", "opencode.db"],
  make(path) {
    const database = new OpencodeDatabase(path);
    const time = { created: 1001, completed: 1002 };
    const state = { status: "completed", input: { command: "wc" }, output: "12" };
    const asked = { role: "user", time: { created: 1000 } };
    database.session("ses_1");
    database.message("ses_1", "m1", 1000, asked, [{ type: "text", text: "Count the zebras" }]);
    database.message("ses_1", "m2", 1001, { role: "assistant", time, modelID: "m" }, [
      { type: "tool", callID: "c1", tool: "bash", state },
      { type: "text", text: "12 zebras" },
    ]);
    const add = (text: string) => {
      const told = { role: "assistant", time: { created: 2000, completed: 2001 } };
      database.message("ses_1", "m3", 2000, told, [{ type: "text", text }]);
      database.database.exec("UPDATE session SET time_updated = 2000");
    };
    return { add, close: () => database.close() };
  },
};

const GOOSE: Rows = {
  dialect: "goose",
  label: "Goose",
  id: "20260101_1",
  beginning: "202601",
  path: [".local", "share", "goose", "sessions", "sessions.db"],
  make(path) {
    const database = new DatabaseSync(path);
    const text = (said: string) => [{ type: "text", text: said }];
    database.exec(SCHEMA + SESSION);
    database.exec(message("user", text("Count the zebras"), 1));
    database.exec(message("assistant", text("12 zebras"), 2));
    const add = (said: string) => database.exec(message("assistant", text(said), 3));
    return { add, close: () => database.close() };
  },
};

const BOTH = [
  ["OpenCode", OPENCODE],
  ["Goose", GOOSE],
] as const;

/** The program still has its database open. */
function userOf({ path, make }: Rows) {
  const user = new CliUser();
  const database = join(user.home, ...path);
  mkdirSync(join(database, ".."), { recursive: true });
  const { add, close } = make(database);
  onTestFinished(close);
  return { user, database, add };
}

test.each(BOTH)(
  "a row of %s is named by its id, the beginning of it, its path, or last",
  async (_, rows) => {
    const { user, database } = userOf(rows);
    for (const name of [rows.id, rows.beginning, join(database, rows.id), "last"]) {
      const { code, stdout, stderr } = await user.run(["show", name]);
      assert.deepEqual([code, stderr], [0, ""], name);
      expect(stdout).toContain("Count the zebras");
    }
    const missing = await user.run(["show", join(database, "none")]);
    assert.equal(missing.code, 7);
    expect(missing.stderr).toMatch(/there is no session .*none/);
  },
);

test.each(BOTH)("no command writes its output over the database of %s", async (_, rows) => {
  const { user, database } = userOf(rows);
  const before = treeAt(join(database, ".."));
  for (const ending of ["", "-wal", "-shm"]) {
    const output = ["--output", database + ending];
    for (const command of [
      ["export", rows.id, ...output],
      ["export", rows.id, "--format", "etf", ...output],
      ["export", rows.id, "--format", "html", "--output", database + ending],
      ["export", "--format", "bundle", rows.id, ...output],
    ]) {
      const { code, stderr } = await user.run(command);
      assert.notEqual(code, 0, command.join(" "));
      expect(stderr).toContain("choose another file");
    }
  }
  assert.deepEqual(treeAt(join(database, "..")), before);
  const page = join(user.home, "page.md");
  assert.equal((await user.run(["export", rows.id, "--output", page])).code, 0);
  assert.match(readFileSync(page, "utf8"), /Count the zebras/);
});

test.each(BOTH)("every command works on a row of %s and changes nothing there", async (_, rows) => {
  const { user, database } = userOf(rows);
  const { id, label } = rows;
  const resume = ["resume", id, "--for", "anthropic", "--model", "m", "--allow-unsigned"];
  const commands: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["ls"], 0, new RegExp(`${label}.*Count lines`)],
    [["show", id, "--json"], 0, /"role":"user"/],
    [["export", id, "--format", "html"], 0, /<html/],
    [["export", id], 0, /## User/],
    [["export", id, "--format", "etf"], 0, /12 zebras/],
    [["search", "zebras"], 0, new RegExp(id)],
    [["verify", id], 3, new RegExp(`unsigned.*${label} signs nothing`, "s")],
    [["doctor", id], 0, /1 session: nothing found/],
    [["doctor", "--fix", id], 0, /nothing to mend/],
    [["keys", "head", "pin", id], 3, /unsigned/],
    [["show", database], 7, /SQLite database. Name a session .* `verbatim ls` lists them/],
    [resume, 0, /Count the zebras/],
    [
      [...resume, "--record"],
      7,
      /only read; `verbatim export --format bundle`, then `verbatim import`/,
    ],
    [["export", "--format", "bundle", id], 0, new RegExp(`${id}.vbx.*signed by you`, "s")],
  ];
  const before = treeAt(join(database, ".."));
  for (const [args, code, printed] of commands) {
    const ran = await user.run(args);
    assert.equal(ran.code, code, `${args.join(" ")}: ${ran.stderr}`);
    expect(ran.stdout + ran.stderr, args.join(" ")).toMatch(printed);
  }
  assert.deepEqual(treeAt(join(database, "..")), before);
});

test.each(BOTH)("what %s writes next is shown by show --follow", async (_, rows) => {
  const { user, add } = userOf(rows);
  const running = user.start(["show", rows.id, "--follow", "--last", "1", "--json"]);
  expect(JSON.stringify(await running.json())).toContain("12 zebras");
  add("13, with the foal");
  expect(JSON.stringify(await running.json())).toContain("with the foal");
});

test.each(BOTH)("mcp lists, reads, searches and verifies rows of %s", async (_, rows) => {
  const { user } = userOf(rows);
  const call = await mcpCall(user);
  expect(await call("list_sessions", { dialect: rows.dialect })).toContain("Count lines");
  expect(await call("read_session", { session: rows.beginning })).toContain("Count the zebras");
  expect(await call("search_sessions", { query: "zebras" })).toContain(rows.id);
  expect(await call("verify_session", { session: rows.id })).toContain("unsigned");
});

test.each(BOTH)(
  "the sessions API lists, reads, follows, searches and verifies rows of %s",
  async (_, rows) => {
    const { user, add } = userOf(rows);
    const { sessions } = await linkedClient(user.start(["serve", "--port", "0"]));
    const [item] = (await sessions.list()).sessions;
    assert.ok(item);
    assert.deepEqual([item.title, item.program], ["Count lines", rows.label]);
    assert.equal((await sessions.get(item.id)).title, "Count lines");
    const { entries } = await sessions.entries(item.id);
    assert.deepEqual(
      entries.map(({ role }) => role),
      [null, "user", "assistant"],
    );
    expect(await sessions.markdown(item.id)).toContain("Count the zebras");
    expect(JSON.stringify(await sessions.search("zebras"))).toContain(rows.id);
    assert.equal((await sessions.verify(item.id)).verdict, "unsigned");
    const end = entries.at(-1)?.end ?? 0;
    const following = sessions.follow(item.id, { from: end });
    add("13, with the foal");
    for await (const event of following) if (JSON.stringify(event).includes("foal")) break;
  },
);
