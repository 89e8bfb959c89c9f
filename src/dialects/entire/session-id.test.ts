import assert from "node:assert/strict";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { datedId } from "../shared/new-ids.ts";
import { idAt, logPath } from "./session-id.ts";

const UUID = "a1b2c3d4-e5f6-4890-abcd-ef1234567890";

test("a new id is the day in UTC and a uuid, at any time of day (S1-R3)", () => {
  for (const time of ["00:00:00.000", "12:00:00.000", "23:59:59.999"]) {
    const id = datedId(Date.parse(`2026-02-10T${time}Z`), UUID);
    assert.equal(id, `2026-02-10-${UUID}`);
  }
});

test("an id names its directory, dated or not, and the directory names the id (S1-R3)", () => {
  for (const id of [`2026-02-10-${UUID}`, UUID, "a", "a b", "é", "x".repeat(200), "full.jsonl"]) {
    assert.deepEqual(logPath(id), [".entire", "metadata", id, "full.jsonl"]);
    assert.equal(idAt(logPath(id)), id);
  }
});

test("an id is one path segment of at most 200 bytes", () => {
  for (const id of [
    "a/b",
    "/a",
    "a/",
    "",
    ".",
    "..",
    "a..b",
    "a\\b",
    "a\nb",
    "\0",
    "x".repeat(201),
  ]) {
    thrownRefusal(() => logPath(id), "BAD_ID");
  }
});

test("a path that is not a session's log has no id", () => {
  const paths = [
    ".entire/metadata/full.jsonl",
    ".entire/metadata/a/b/full.jsonl",
    ".entire/metadata/a/tasks/t/agent-1.jsonl",
    ".entire/metadata/a/prompt.txt",
    ".entire/metadata/../full.jsonl",
    ".entire/logs/a/full.jsonl",
    "metadata/a/full.jsonl",
  ];
  for (const path of paths) assert.equal(idAt(path.split("/")), null, path);
});
