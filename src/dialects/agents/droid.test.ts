/** The examples of docs/formats/droid.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import type { Native } from "../../core/model/entry.ts";
import { droid } from "./droid.ts";

const page = docsPage("formats/droid");

function readAs(info: string) {
  const rows = page.lines(info).map((line) => JSON.parse(line) as Native);
  const entries = rows.map((row) => {
    const { entry } = droid.reading.decode(row);
    assert.ok(entry);
    return entry;
  });
  const said = entries.map(({ kind, role, saidBy, native }) =>
    [kind, role, saidBy, droid.reading.asideOf?.(native, null)].filter(Boolean).join(" "),
  );
  return { rows, entries, said };
}

test("the example rows of a session are decoded as the page says", () => {
  const { rows, entries, said } = readAs("jsonl droid-row");
  assert.deepEqual(said, [
    "start",
    "message user program",
    "message user",
    "message assistant",
    "message tool",
    "message user program",
    "message user summary",
    "other",
  ]);
  assert.equal(entries[3]?.model, "claude-opus-4-5");
  assert.equal(entries[3]?.at, "2025-12-26T23:50:02.000Z");
  assert.deepEqual(droid.reading.about?.(rows[0] ?? {}, "-home-me-app/6f1c"), {
    cwd: "/home/me/app",
    title: "Lines of the readme",
    parent: "-home-me-app/7a2d",
  });
  assert.deepEqual(
    rows.map((row) => droid.reading.isOwn?.(row)),
    [true, ...Array.from({ length: rows.length - 1 }, () => false)],
  );
});

test("the example rows of the stream are decoded as the page says", () => {
  const { rows, entries, said } = readAs("jsonl droid-stream");
  assert.deepEqual(said, [
    "start",
    "message user",
    "message assistant",
    "message tool",
    "message assistant",
    "end",
    "end",
  ]);
  assert.equal(entries[0]?.at, "2026-01-07T19:04:00.310Z");
  assert.deepEqual(entries[3]?.parts, [
    {
      type: "tool_result",
      callId: "c1",
      output: "no such file",
      error: "no such file",
      durationMs: null,
    },
  ]);
  assert.equal(entries[5]?.usage?.inputTokens, 10);
  assert.deepEqual(entries[6]?.error, { code: "cli", detail: "Authentication failed." });
  assert.equal(droid.reading.isOwn?.(rows[1]), true);
  assert.equal(droid.reading.isOwn?.(rows[0]), false); // Claude Code writes such a row, too.
});

test("a time or a result that is out of range is no error", () => {
  for (const timestamp of [Number.MAX_VALUE, -1, {}, null]) {
    const { entry } = droid.reading.decode({ type: "tool_result", isError: true, timestamp });
    assert.equal(entry?.at, null);
  }
  const value: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  assert.equal(
    droid.reading.decode({ type: "tool_result", isError: true, value }).entry?.role,
    "tool",
  );
});

test("both places of a session have ids, and the directory follows the variable", () => {
  assert.equal(droid.naming.idAt(["sessions", "-home-me-app", "6f1c.jsonl"]), "-home-me-app/6f1c");
  assert.equal(droid.naming.idAt(["sessions", "6f1c.jsonl"]), "6f1c");
  assert.equal(droid.naming.idAt(["sessions", "-home-me-app", "6f1c.settings.json"]), null);
  const roots = (environment: Record<string, string>) =>
    droid.program?.roots({ environment, home: "/home/me", platform: "linux" });
  assert.deepEqual(roots({}), ["/home/me/.factory"]);
  assert.deepEqual(roots({ FACTORY_HOME_OVERRIDE: "/srv" }), ["/srv/.factory"]);
});
