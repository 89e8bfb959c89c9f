/** The examples of docs/formats/goose.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import type { Native } from "../../core/model/entry.ts";
import { about, decode, idAt, lineKey, logPath } from "./goose.ts";

const natives = docsPage("formats/goose")
  .lines("jsonl goose")
  .map((line) => JSON.parse(line) as Native);

test("the example lines are decoded as the page says", () => {
  const entries = natives.map((native) => decode(native).entry);
  assert.deepEqual(
    entries.map((entry) => [
      entry?.kind,
      entry?.role,
      entry?.saidBy,
      entry?.at?.slice(11, 19),
      entry?.parts.map(({ type }) => type).join(),
    ]),
    [
      ["start", null, undefined, "12:00:00", ""],
      ["message", "user", undefined, "12:00:01", "text"],
      ["message", "assistant", undefined, "12:00:02", "reasoning,tool_call"],
      ["message", "tool", undefined, "12:00:03", "tool_result"],
      ["message", "user", "program", "12:00:04", "text"],
      ["other", null, undefined, undefined, ""],
    ],
  );
  assert.equal(entries[0]?.model, "claude-x");
  assert.equal(entries[0]?.usage?.totalTokens, 15);
  assert.equal(new Set(natives.map(lineKey)).size, natives.length);
  assert.deepEqual(about(natives[0] ?? {}), { title: "Count lines", cwd: "/home/me/app" });
});

test("ids name one place each, and places one id", () => {
  for (const id of ["20260101_3", "20250101_120000.jsonl"]) assert.equal(idAt(logPath(id)), id);
  for (const id of ["a/b", "..", ""]) assert.throws(() => logPath(id), { code: "BAD_ID" });
  for (const path of ["sessions/sessions.db", "sessions/a/b", "x/a.jsonl"]) {
    assert.equal(idAt(path.split("/")), null);
  }
});
