/** Sessions of Goose: rows of its database, made by the schema in its public source, and files. */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Entry } from "../../src/core/model/entry.ts";
import { goose } from "../../src/dialects/agents/goose.ts";
import { findLogs, type Unreadable } from "../../src/dialects/find.ts";
import { lookAtLog } from "../../src/sessions/catalog/pages.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { message, SCHEMA, SESSION } from "./goose-database.ts";

function place() {
  const root = join(tempDirectory(), "goose");
  mkdirSync(join(root, "sessions"), { recursive: true });
  return { root, path: join(root, "sessions", "sessions.db") };
}

async function entriesOf(root: string, id: string): Promise<Entry[]> {
  const session = await new Store(nodeHost, { dialect: "goose", root }).open(id);
  const entries: Entry[] = [];
  for await (const entry of session.entries()) entries.push(entry);
  return entries;
}

function found(root: string) {
  const unreadable: Unreadable[] = [];
  const logs = findLogs(root, goose.naming.layout, {
    onUnreadable: (each) => unreadable.push(each),
  });
  return { logs, problems: unreadable.map(({ cause }) => cause.message) };
}

test("a session in the database is read in order, while Goose has it open", async () => {
  const { root, path } = place();
  const database = new DatabaseSync(path);
  database.exec(SCHEMA + SESSION);
  const call = { name: "shell", arguments: { command: "wc" } };
  const toolCall = { status: "success", value: call };
  database.exec(message("user", [{ type: "text", text: "How many?" }], 1));
  database.exec(message("assistant", [{ type: "toolRequest", id: "c1", toolCall }], 3));
  const toolResult = { status: "error", error: "no such file" };
  database.exec(message("user", [{ type: "toolResponse", id: "c1", toolResult }], 3));
  database.exec(message("user", [{ type: "text", text: "x" }], 2, '{"userVisible":false}'));
  for (const odd of ["", "{", "7", '["x",{"type":"text"},{"type":7}]']) {
    database.exec(message("assistant", odd, 9));
  }
  const entries = await entriesOf(root, "20260101_1");
  assert.deepEqual(
    entries.map(({ role, saidBy, parts }) => [role, saidBy, ...parts.map(({ type }) => type)]),
    [
      [null, undefined],
      ["user", undefined, "text"],
      ["user", "program", "text"],
      ["assistant", undefined, "tool_call"],
      ["tool", undefined, "tool_result"],
      ...[1, 2, 3].map(() => [null, undefined]),
      ["assistant", undefined, "other", "other"],
    ],
  );
  expect(entries[4]?.parts[0]).toMatchObject({ callId: "c1", error: "no such file" });
  expect(entries[0]).toMatchObject({ model: "m1", usage: { inputTokens: 10, totalTokens: 15 } });
  assert.equal(found(root).logs.length, 1);
  database.close();
  assert.deepEqual(readdirSync(join(root, "sessions")), ["sessions.db"]);
  assert.equal((await entriesOf(root, "20260101_1")).length, entries.length);
  assert.deepEqual(readdirSync(join(root, "sessions")), ["sessions.db"]);
});

test("messages that Goose adds or replaces change what a listing compares", () => {
  const { root, path } = place();
  const database = new DatabaseSync(path);
  database.exec(SCHEMA + SESSION);
  const seen = new Set<string>();
  const changes = [
    message("user", [], 1),
    `DELETE FROM messages; ${message("user", [{ type: "text", text: "x" }], 1)}`,
    "UPDATE sessions SET updated_at = '2026-01-01 12:00:01'",
  ];
  for (const sql of changes) {
    database.exec(sql);
    const { size, mtimeMs, path: log = "" } = found(root).logs[0] ?? {};
    assert.deepEqual(lookAtLog(root, log, goose.naming.layout), { size, mtimeMs });
    seen.add(`${size} ${mtimeMs}`);
  }
  assert.equal(seen.size, changes.length);
  database.close();
});

test("older files are read, unless the database has their session", async () => {
  const { root, path } = place();
  const lines = [
    { description: "Old one", working_dir: "/home/me/old", message_count: 2, total_tokens: 7 },
    { role: "user", created: 1704110400, content: [{ type: "text", text: "Hello" }] },
    { role: "assistant", created: 1704110401, content: [{ type: "text", text: "Hi" }] },
  ].map((line) => JSON.stringify(line));
  for (const name of ["20240101_120000", "20260101_1"]) {
    writeFileSync(join(root, "sessions", `${name}.jsonl`), `${lines.join("\n")}\n`);
  }
  assert.equal(found(root).logs.length, 2);
  const database = new DatabaseSync(path);
  database.exec(SCHEMA + SESSION);
  assert.deepEqual(
    found(root).logs.map(({ id }) => id),
    ["20260101_1", "20240101_120000.jsonl"],
  );
  const [first, prompt] = await entriesOf(root, "20240101_120000.jsonl");
  assert.ok(first && prompt);
  const about = goose.reading.about?.(first.native, "20240101_120000.jsonl");
  assert.deepEqual(about, { title: "Old one", cwd: "/home/me/old" });
  expect(prompt).toMatchObject({ role: "user", at: "2024-01-01T12:00:00.000Z" });
  database.close();
});

test("a file that is no database, or has other tables, is reported", async () => {
  for (const problem of ["NOTADB", "no tables sessions"]) {
    const { root, path } = place();
    if (problem === "NOTADB") writeFileSync(path, "x".repeat(9999));
    else new DatabaseSync(path).exec("CREATE TABLE sessions (id)");
    writeFileSync(join(root, "sessions", "a.jsonl"), "7\n");
    const { logs, problems } = found(root);
    assert.deepEqual([logs.length, problems.length], [1, 1]);
    assert.ok(problems[0]?.includes(problem), problems[0]);
    await assert.rejects(entriesOf(root, "20260101_1"), { code: "IO_ERROR" });
  }
});

test("an integer above 2^53 is read as text, digit by digit, and the session is shown", async () => {
  const { root, path } = place();
  const database = new DatabaseSync(path);
  database.exec(SCHEMA + SESSION + message("user", [{ type: "text", text: "Hi" }], 1));
  database.exec("UPDATE messages SET created_timestamp = 9223372036854775807");
  const [, prompt] = await entriesOf(root, "20260101_1");
  expect(prompt).toMatchObject({ at: null, parts: [{ type: "text", text: "Hi" }] });
  expect(prompt?.native).toMatchObject({ created: "9223372036854775807" });
  database.close();
});
