/** Sessions of OpenCode: rows of its databases, and the JSON files of older versions. */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { readForeign } from "../../src/core/sqlite/foreign-database.ts";
import { opencode } from "../../src/dialects/agents/opencode/dialect.ts";
import { lookAtLog } from "../../src/sessions/catalog/pages.ts";
import { findSession } from "../../src/sessions/list/find-session.ts";
import { SummaryFold } from "../../src/sessions/summary/summary.ts";
import { startChild } from "../support/child.ts";
import { OpencodeDatabase } from "./opencode-database.ts";
import { entriesOf, foundLogs, place } from "./opencode-store.ts";

const files = (root: string) => readdirSync(root).sort();
const tool = (state: object) => ({ type: "tool", callID: "c1", tool: "bash", state });

function writeSession(database: OpencodeDatabase): void {
  database.session("ses_1", { model: '{"id":"m"}' });
  const model = { modelID: "claude-x", providerID: "anthropic" };
  database.message("ses_1", "msg_1", 1000, { role: "user", time: { created: 1000 } }, [
    { type: "text", text: "the file's text", synthetic: true },
    { type: "file", mime: "image/png", url: "data:image/png;base64,iVBOR", filename: "a.png" },
    { type: "text", text: "How many lines?" },
    { type: "text", text: "not for the model", ignored: true },
  ]);
  const tokens = { input: 10, output: 5, reasoning: 2, total: 47, cache: { read: 20, write: 10 } };
  const answer = { role: "assistant", ...model, tokens, cost: 0.25, finish: "stop" };
  database.message("ses_1", "msg_2", 2000, { ...answer, time: { created: 2000, completed: 3 } }, [
    { type: "step-start" },
    { type: "reasoning", text: "Hm.", metadata: { anthropic: { signature: "sig" } } },
    tool({
      status: "completed",
      input: { command: "wc" },
      output: "3",
      time: { start: 1, end: 5 },
    }),
    tool({ status: "error", input: {}, error: "no such file" }),
    tool({ status: "running", input: {} }),
    { type: "text", text: "Three." },
  ]);
}

test("a session in the database is read as one line for it and one for each message", async () => {
  const { root, path } = place();
  const database = new OpencodeDatabase(path);
  writeSession(database);
  const [start, prompt, answer] = await entriesOf(root, "ses_1");
  assert.ok(start && prompt && answer);
  expect(start).toMatchObject({ kind: "start", at: "1970-01-01T00:00:01.000Z" });
  expect(opencode.reading.about?.(start.native, "ses_1")).toEqual({
    title: "Count lines",
    cwd: "/home/me/app",
  });
  expect(prompt).toMatchObject({ role: "user", messageId: "msg_1" });
  expect(prompt.saidBy).toBeUndefined();
  expect(prompt.parts).toMatchObject([
    { type: "image", mediaType: "image/png", name: "a.png", data: "iVBOR" },
    { type: "text", text: "How many lines?" },
    { type: "text", text: "the file's text" },
    { type: "other", native: { ignored: true } },
  ]);
  expect(answer).toMatchObject({ role: "assistant", model: "claude-x", stopReason: "stop" });
  expect(answer.usage).toEqual({
    inputTokens: 10,
    outputTokens: 7,
    cacheReadTokens: 20,
    cacheWriteTokens: 10,
    totalTokens: null,
    spend: 0.25,
  });
  expect(answer.parts).toMatchObject([
    { type: "reasoning", text: "Hm.", signature: "sig" },
    { type: "tool_call", callId: "c1", tool: "bash", input: { command: "wc" } },
    { type: "tool_result", callId: "c1", output: "3", error: null, durationMs: 4 },
    { type: "tool_call" },
    { type: "tool_result", output: null, error: "no such file" },
    { type: "tool_call" },
    { type: "text", text: "Three." },
  ]);
  const fold = new SummaryFold();
  for (const entry of [start, prompt, answer]) {
    fold.add(entry, null, opencode.turns.turnMark(entry.native, "ses_1"));
  }
  expect(fold.summary({ agent: null })).toMatchObject({ turns: 1, totalTokens: 47, spend: 0.25 });
  database.close();
});

test("a change of a session changes what a listing compares", () => {
  const { root, path } = place();
  const database = new OpencodeDatabase(path);
  writeSession(database);
  database.session("ses_2");
  const look = () => foundLogs(root).logs.find(({ id }) => id === "ses_1");
  const states = [look()];
  const isOther = () => {
    const { size, mtimeMs, path: log = "" } = look() ?? {};
    assert.deepEqual(lookAtLog(root, log, opencode.naming.layout), { size, mtimeMs });
    assert.ok(!states.some((state) => state?.size === size && state?.mtimeMs === mtimeMs));
    states.push(look());
  };
  database.database.exec("UPDATE session SET title = 'x', time_updated = 5000 WHERE id = 'ses_1'");
  isOther();
  database.message("ses_1", "msg_3", 6000, { role: "user" }, [{ type: "text", text: "More" }]);
  isOther();
  database.database.exec(
    "UPDATE part SET data = '{}', time_updated = 7000 WHERE id = 'prt_msg_3_0'",
  );
  isOther();
  database.database.exec("DELETE FROM part WHERE message_id = 'msg_3'");
  isOther();
  assert.equal(lookAtLog(root, "opencode.db/ses_gone", opencode.naming.layout), null);
  database.close();
});

test("while OpenCode writes, each reading is of one moment, with what is only in its -wal file", async () => {
  const { root, path } = place();
  const database = new OpencodeDatabase(path);
  database.session("ses_1");
  database.close();
  assert.deepEqual(files(root), ["opencode.db"]);
  const writer = startChild("test/agents/opencode-child.ts", path, "write");
  await writer.line();
  let last = 0;
  for (let round = 0; round < 12; round++) {
    const entries = await entriesOf(root, "ses_1");
    for (const { kind, parts, native } of entries) {
      if (kind === "message") assert.equal(parts.length, 3, JSON.stringify(native).slice(0, 200));
    }
    assert.ok(entries.length >= last);
    last = entries.length;
    assert.deepEqual(foundLogs(root).problems, []);
  }
  assert.ok(last > 20);
  await writer.kill();
  // Its -wal file is left behind, with messages.
  const before = files(root);
  assert.deepEqual(before, ["opencode.db", "opencode.db-shm", "opencode.db-wal"]);
  assert.ok((await entriesOf(root, "ses_1")).length >= last);
  assert.deepEqual(files(root), before);
});

test("a -shm file that was read in the middle of a change is read again", () => {
  const { path } = place();
  const database = new OpencodeDatabase(path);
  database.session("ses_1");
  let reads = 0;
  const rows = readForeign(path, ({ tell }) => {
    if (++reads === 1) {
      throw Object.assign(new Error("readonly"), { errcode: 264 });
    }
    return tell("id", "session");
  });
  assert.deepEqual([reads, rows], [2, [["ses_1"]]]);
  database.close();
});

test("a database whose program was killed and whose -shm file is broken is read", async () => {
  const { path } = place();
  const database = new OpencodeDatabase(path);
  database.session("ses_1");
  database.close();
  const writer = startChild("test/agents/opencode-child.ts", path, "write");
  await writer.line();
  await writer.kill();
  writeFileSync(`${path}-shm`, Buffer.alloc(32_768));
  const rows = readForeign(path, ({ tell }) => tell("id", "session"));
  assert.deepEqual(rows, [["ses_1"]]);
});

test("reading leaves no file behind, and the owner can clean up after it", async () => {
  const { root, path } = place();
  const database = new OpencodeDatabase(path);
  writeSession(database);
  assert.equal((await entriesOf(root, "ses_1")).length, 3);
  assert.equal(files(root).length, 3);
  database.close(); // The last connection merges the -wal file and deletes it.
  assert.deepEqual(files(root), ["opencode.db"]);
  const bytes = readFileSync(path);
  assert.equal((await entriesOf(root, "ses_1")).length, 3);
  assert.equal(foundLogs(root).logs.length, 1);
  assert.deepEqual(files(root), ["opencode.db"]);
  assert.deepEqual(readFileSync(path), bytes);
});

test("a locked database is reported, and other sessions are found", async () => {
  const { root, path } = place();
  const child = startChild("test/agents/opencode-child.ts", path, "lock");
  assert.equal(await child.line(), "locked");
  const { logs, problems } = foundLogs(root);
  assert.deepEqual(logs, []);
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? "", /opencode\.db failed with SQLITE_BUSY.*try again/);
  await assert.rejects(entriesOf(root, "ses_locked"), /SQLITE_BUSY/);
  await assert.rejects(
    findSession(nodeHost, "ses_x", { cwd: root, root, dialect: "opencode" }),
    /there is no session ses_x.*SQLITE_BUSY/s,
  );
});

test("a file that is no database, is damaged or has other tables is reported", async () => {
  const odd: Record<string, (path: string) => void> = {
    NOTADB: (path) => writeFileSync(path, "not a database, but long enough to be one\n".repeat(99)),
    "no tables session": (path) => new DatabaseSync(path).exec("CREATE TABLE session (id)"),
    "no tables": (path) => {
      const sql = ["session", "message", "part"].map((name) => {
        return `CREATE VIEW ${name} AS SELECT 1 AS id, 1 AS session_id, 1 AS message_id,
          1 AS time_created, 1 AS time_updated, '' AS data;`;
      });
      new DatabaseSync(path).exec(sql.join("\n"));
    },
    CORRUPT: (path) => {
      const database = new OpencodeDatabase(path);
      for (let at = 0; at < 99; at++) database.session(`ses_${at}`, { title: "x".repeat(999) });
      database.close();
      const bytes = readFileSync(path);
      bytes.fill(0x5a, 4096 + 100);
      writeFileSync(path, bytes);
    },
    EINVAL: (path) => mkdirSync(path),
  };
  for (const [problem, make] of Object.entries(odd)) {
    const { root, path } = place();
    make(path);
    const { logs, problems } = foundLogs(root);
    assert.deepEqual([logs, problems.length], [[], 1], problem);
    assert.ok(problems[0]?.includes(problem), problems[0]);
    await assert.rejects(entriesOf(root, "ses_1"), { name: "VerbatimError" });
  }
});

test("rows with any content are read, and each is accounted for", async () => {
  const { root, path } = place();
  const database = new OpencodeDatabase(path);
  const deep = "[".repeat(50_000) + "]".repeat(50_000);
  const odd = [
    "",
    "{",
    "7",
    "null",
    "[]",
    `{"role":${deep}}`,
    '{"role":"user","time":7}',
    "\u0000",
  ];
  database.session("ses_1", { directory: "", title: "", time_updated: -1, permission: "{" });
  database.session("../../etc/passwd");
  const at = (n: number) => ({ role: "assistant", time: { created: n }, tokens: "no" });
  for (const [n, data] of odd.entries()) {
    database.message("ses_1", `msg_${n}`, n, at(n), [{}, { type: "tool" }, { type: 7 }]);
    database.database.prepare("UPDATE message SET data = ? WHERE id = ?").run(data, `msg_${n}`);
    database.database.prepare("UPDATE part SET data = ? WHERE id = ?").run(data, `prt_msg_${n}_0`);
  }
  database.message("ses_1", "msg_last", 99, at(1e300), []);
  database.database.exec("PRAGMA foreign_keys = OFF; DELETE FROM message WHERE id = 'msg_3'");
  const { logs, problems } = foundLogs(root);
  assert.deepEqual([logs.map(({ id }) => id), problems.length], [["ses_1"], 1]);
  // The session, seven messages and the last, and parts without their message.
  assert.equal((await entriesOf(root, "ses_1")).length, 1 + odd.length - 1 + 1 + 1);
  database.close();
});

test("child sessions, compaction and made-up titles", async () => {
  const { root } = place();
  const database = new OpencodeDatabase(join(root, "opencode-dev.db"));
  const title = "Child session - 2026-02-03T04:05:06.789Z";
  database.session("ses_child", { parent_id: "ses_1", title });
  database.session("ses_1");
  const state = { status: "completed", input: { subagent_type: "explore" }, output: "ok" };
  database.message("ses_1", "msg_1", 1, { role: "assistant" }, [
    { ...tool({ ...state, metadata: { sessionId: "ses_child" } }), tool: "task" },
  ]);
  database.message("ses_1", "msg_2", 2, { role: "user" }, [
    { type: "compaction", auto: true, tail_start_id: "msg_1" },
  ]);
  const summary = { role: "assistant", summary: true, finish: "stop", parentID: "msg_2" };
  database.message("ses_1", "msg_3", 3, summary, [{ type: "text", text: "So far." }]);
  const id = "opencode-dev.db/ses_1";
  const [, call, boundary, short] = await entriesOf(root, id);
  assert.ok(call && boundary && short);
  expect(call.parts[1]).toEqual({
    type: "child",
    session: "opencode-dev.db/ses_child",
    agent: "explore",
  });
  assert.equal(boundary.saidBy, "program");
  assert.equal(short.saidBy, "summary");
  const { compaction } = opencode.turns;
  assert.ok(compaction);
  assert.ok(compaction.isBoundary(boundary.native) && compaction.isSummary(short.native));
  assert.deepEqual([...compaction.keptBy(boundary.native, [call.native])], [call.native]);
  const [child] = await entriesOf(root, "opencode-dev.db/ses_child");
  assert.ok(child);
  assert.deepEqual(opencode.reading.about?.(child.native, "opencode-dev.db/ses_child"), {
    cwd: "/home/me/app",
    parent: id,
  });
  assert.equal(opencode.naming.nameOf?.(id), "ses_1");
  database.close();
});

test("events of newer versions are read where a session has no messages", async () => {
  const { root, path } = place();
  const database = new OpencodeDatabase(path);
  database.session("ses_1");
  const time = { created: 1000 };
  database.event("ses_1", 1, "user", { text: "Hello", time });
  database.event("ses_1", 2, "model-switched", { model: { id: "m" }, time });
  const state = { status: "completed", input: { a: 1 }, content: [{ type: "text", text: "x" }] };
  database.event("ses_1", 3, "assistant", {
    model: { id: "m1", providerID: "p" },
    cost: 0.5,
    time,
    tokens: { input: 1, output: 2, reasoning: 0, cache: { read: 0, write: 0 } },
    content: [
      { type: "text", text: "Hi" },
      { type: "tool", id: "c", name: "ls", state },
    ],
  });
  const entries = await entriesOf(root, "ses_1");
  assert.deepEqual(
    entries.map(({ kind, role, parts }) => [kind, role, ...parts.map(({ type }) => type)]),
    [
      ["start", null],
      ["message", "user", "text"],
      ["other", null],
      ["message", "assistant", "text", "tool_call", "tool_result"],
    ],
  );
  expect(entries[3]).toMatchObject({ model: "m1", usage: { inputTokens: 1, spend: 0.5 } });
  database.close();
});
