/** The examples of docs/formats/opencode.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../../test/support/docs-page.ts";
import type { Native } from "../../../core/model/entry.ts";
import { SESSION_BYTES_MAX } from "../../files/row-lines.ts";
import { about, compaction, decode, lineKey } from "./dialect.ts";
import { idAt, logPath } from "./files.ts";

const page = docsPage("formats/opencode");
const natives = page.lines("jsonl opencode").map((line) => JSON.parse(line) as Native);

test("the example lines are decoded as the page says", () => {
  const entries = natives.map((native) => decode(native).entry);
  assert.deepEqual(
    entries.map((entry) => [
      entry?.kind,
      entry?.role,
      entry?.saidBy,
      entry?.parts.map(({ type }) => type).join(),
    ]),
    [
      ["start", null, undefined, ""],
      ["message", "user", undefined, "text"],
      ["message", "assistant", undefined, "tool_call,tool_result,text"],
      ["message", "user", "program", "other"],
      ["message", "assistant", "summary", "text"],
      ["other", null, undefined, ""],
      ["message", "user", undefined, "text"],
    ],
  );
  assert.deepEqual(natives.map(compaction.isBoundary).indexOf(true), 3);
  assert.deepEqual(natives.map(compaction.isSummary).indexOf(true), 4);
  assert.equal(new Set(natives.map(lineKey)).size, natives.length);
  assert.deepEqual(about(natives[0] ?? {}, "ses_1"), {
    title: "Count lines",
    cwd: "/home/me/app",
    parent: "ses_0",
  });
});

test("ids name one place each, and places one id", () => {
  for (const id of ["ses_1", "opencode-dev.db/ses_1", "9c0e/ses_1"]) {
    assert.equal(idAt(logPath(id)), id);
  }
  for (const id of ["opencode.db/ses_1", "a/b/c", "../x", "a/../b", ""]) {
    assert.throws(() => logPath(id), { code: "BAD_ID" });
  }
  for (const path of ["opencode.db", "x/ses_1", "storage/session/p/s.txt", "opencode.db/a/b"]) {
    assert.equal(idAt(path.split("/")), null);
  }
});

test("the page names the limit in the code", () => {
  assert.ok(page.text.includes(`${SESSION_BYTES_MAX / 2 ** 20} MiB`));
});
