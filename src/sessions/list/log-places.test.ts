import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { isLogPlace } from "./log-places.ts";

test("output may not be written to a dialect's log or its sidecar files", async () => {
  const root = tempDirectory();
  const logs = [
    ".ai/threads/a-1/transcript.jsonl",
    ".ai/threads/deep/er/a-1/transcript.jsonl",
    ".entire/metadata/2026-02-10-a1b2/full.jsonl",
    "agents/cook/sessions/s1.jsonl",
    ".verbatim/claude/app/6f1c/transcript.jsonl",
    ".verbatim/sdk/door/s1.jsonl",
  ];
  for (const log of logs) {
    for (const ending of [
      "",
      ".lock",
      ".checkpoints",
      ".checkpoints.lock",
      ".torn-12",
      ".vbd",
      ".erase-log",
    ]) {
      assert.ok(await isLogPlace(join(root, log + ending)), log + ending);
    }
  }
  assert.ok(await isLogPlace(join(root, ".entire/metadata/2026-02-10-a1b2/6f1c.0.spill")));
  for (const other of [
    "transcript.jsonl",
    "s1.jsonl",
    "sessions/s1.jsonl",
    "a-1/transcript.md",
    ".ai/threads/a-1/page.html",
    ".ai/threads/transcript.jsonl",
    "pins.jsonl.checkpoints",
    "s1.vbd",
    "6f1c.0.spill",
  ]) {
    assert.ok(!(await isLogPlace(join(root, other))), other);
  }
});

test("a log outside a store is recognised by its lock", async () => {
  const root = tempDirectory();
  writeFileSync(join(root, "events.jsonl"), "");
  assert.ok(!(await isLogPlace(join(root, "events.jsonl"))));
  writeFileSync(join(root, "events.jsonl.lock"), "");
  assert.ok(await isLogPlace(join(root, "events.jsonl")));
  assert.ok(await isLogPlace(join(root, "events.jsonl.torn-1")));
});

test("output may not be written to a server's stream files, but may be written to its directory", async () => {
  const data = tempDirectory();
  const names = ["logs/chat.jsonl", "logs/new.bin", "journal/1.j", "meta.jsonl", "streams.db"];
  for (const name of names) {
    mkdirSync(dirname(join(data, name)), { recursive: true });
    assert.ok(!(await isLogPlace(join(data, name))), `${name} without a streams.lock`);
  }
  writeFileSync(join(data, "streams.lock"), "");
  for (const name of names) {
    assert.ok(await isLogPlace(join(data, name)), name);
  }
  assert.ok(!(await isLogPlace(join(data, "requests.log"))));
});

test("a link to a session's directory leads to its log", async () => {
  const root = tempDirectory();
  const thread = join(root, ".ai/threads/a-1");
  mkdirSync(thread, { recursive: true });
  symlinkSync(thread, join(root, "here"));
  assert.ok(await isLogPlace(join(root, "here/transcript.jsonl")));
  assert.ok(!(await isLogPlace(join(root, "gone/transcript.jsonl"))));
});

test("output may not be written to a database or the files next to it", async () => {
  const root = tempDirectory();
  const database = join(root, "opencode.db");
  for (const ending of ["", "-wal", "-shm"]) assert.ok(!(await isLogPlace(database + ending)));
  writeFileSync(database, "SQLite format 3\0…");
  for (const ending of ["", "-wal", "-shm", "-journal"])
    assert.ok(await isLogPlace(database + ending));
  assert.ok(!(await isLogPlace(join(root, "opencode.html"))));
});
