import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { ID_SEGMENT_BYTES_MAX } from "../../core/base/limits.ts";
import type { WriterFacts } from "../facets/writing.ts";
import { rye, ryeDialect } from "./dialect.ts";
import { newThreadId } from "./thread-id.ts";

const FACTS: WriterFacts = {
  id: "hello_world-1739012630",
  nowMs: 0,
  agent: "hello_world",
  newId: () => assert.fail("rye's lines carry no random id"),
  cwd: "/p",
  version: "0",
  model: null,
};

function isRefused(id: string): void {
  const { details } = thrownRefusal(() => rye.naming.logPath(id), "BAD_ID");
  assert.equal(details.id, id);
}

test("a thread's log is in the project, in a directory named by its id (S2-5)", () => {
  assert.deepEqual(rye.naming.logPath("hello_world-1739012630"), [
    ".ai",
    "threads",
    "hello_world-1739012630",
    "transcript.jsonl",
  ]);
  assert.deepEqual(rye.naming.logPath("test/tools/write-177"), [
    ".ai",
    "threads",
    "test",
    "tools",
    "write-177",
    "transcript.jsonl",
  ]);
});

test("a new thread's id is its directive and the second it began (S2-4)", () => {
  assert.equal(newThreadId("hello_world", 1739012630_999), "hello_world-1739012630");
  assert.equal(newThreadId("test/tools/write", 1771394855_000), "test/tools/write-1771394855");
  thrownRefusal(() => newThreadId("hello world", 0), "BAD_ID");
  thrownRefusal(() => newThreadId("../up", 0), "BAD_ID");
});

test("an id with anything but plain segments is refused", () => {
  const bad = ["", "/", "/a", "a/", "a//b", ".", "..", "a/..", "a/./b", "a..b", "a b", "é", "a\\b"];
  for (const id of [...bad, "a\0", "a:b", "a\n", "~", "a*"]) isRefused(id);
  isRefused("x".repeat(ID_SEGMENT_BYTES_MAX + 1));
  rye.naming.logPath("x".repeat(ID_SEGMENT_BYTES_MAX));
});

test("no id can name a file that a thread keeps in its directory", () => {
  for (const name of [
    "transcript.jsonl",
    "transcript.jsonl.lock",
    "transcript.md",
    "thread.json",
    "thread.json.tmp",
    "registry.db",
    "registry.db-wal",
    "Transcript.JSONL",
  ]) {
    isRefused(name);
    isRefused(`parent/${name}`);
    isRefused(`${name}/child`);
  }
  rye.naming.logPath("transcript-1739012630");
});

test("a directory may hold a thread and also contain others", () => {
  for (const id of ["a", "a/b", "a/b/c"]) assert.equal(rye.naming.idAt(rye.naming.logPath(id)), id);
});

test("a path that is not a thread's log has no id", () => {
  for (const path of [
    [],
    ["transcript.jsonl"],
    [".ai", "threads"],
    [".ai", "threads", "transcript.jsonl"],
    [".ai", "threads", "a", "transcript.md"],
    [".ai", "threads", "a", "thread.json"],
    [".ai", "other", "a", "transcript.jsonl"],
    ["sub", ".ai", "threads", "a", "transcript.jsonl"],
    [".ai", "threads", "..", "transcript.jsonl"],
    [".ai", "threads", "a b", "transcript.jsonl"],
    [".ai", "threads", "", "transcript.jsonl"],
    [".ai", "threads", "a/b", "transcript.jsonl"],
    [".ai", "threads", "thread.json", "transcript.jsonl"],
  ]) {
    assert.equal(rye.naming.idAt(path), null, path.join(" "));
  }
});

test("any accepted id is found again at its path", () => {
  const segment = fc.string({ unit: fc.constantFrom(..."abZ09._-/é .".split("")), maxLength: 8 });
  fc.assert(
    fc.property(fc.oneof(segment, fc.string()), (id) => {
      let path: readonly string[];
      try {
        path = rye.naming.logPath(id);
      } catch {
        return;
      }
      assert.equal(rye.naming.idAt(path), id);
      assert.ok(path.every((name) => /^[A-Za-z0-9._-]+$/.test(name) && !/^\.+$/.test(name)));
    }),
    { numRuns: 2000 },
  );
});

test("the writer's fields complete a line, in the chosen envelope (S2-1)", () => {
  const given = { type: "user_message", text: "hi" };
  const ts = "1970-01-01T00:00:00.000000+00:00";
  assert.deepEqual(rye.writing.complete(given, FACTS), {
    ts,
    type: "user_message",
    thread_id: FACTS.id,
    directive: "hello_world",
    text: "hi",
  });
  assert.deepEqual(ryeDialect({ envelope: "payload" }).writing.complete(given, FACTS), {
    timestamp: ts,
    thread_id: FACTS.id,
    event_type: "user_message",
    payload: { directive: "hello_world", text: "hi" },
  });
  const { details } = thrownRefusal(
    () => rye.writing.complete(given, { ...FACTS, agent: null }),
    "INVALID_ENTRY",
  );
  assert.equal(details.field, "directive");
});
