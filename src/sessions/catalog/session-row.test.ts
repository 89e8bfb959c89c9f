import assert from "node:assert/strict";
import { test } from "vitest";
import {
  rowLineOf,
  SESSION_SORTS,
  type SessionRow,
  type SessionSort,
  sortLines,
} from "../../dialects/session-row.ts";
import { NOTHING_KNOWN } from "../summary/summary.ts";

function row(id: string, known: Partial<SessionRow>): SessionRow {
  return { id, logPath: id, size: 0, mtimeMs: 0, ...NOTHING_KNOWN, ...known };
}

function sorted(rows: readonly SessionRow[], sort: SessionSort): string {
  return sortLines(rows.map((row) => rowLineOf(row, sort)))
    .map(({ id }) => id)
    .join(" ");
}

test("the newest or largest comes first, the unknown last, and equal ones by id", () => {
  const early = "2026-01-01T00:00:00.000Z";
  const late = "2026-01-02T00:00:00.000Z";
  const rows = [
    row("d", { createdAt: late, updatedAt: late, turns: 1, totalTokens: 5, spend: 0, size: 3 }),
    row("c", { createdAt: early, updatedAt: late, turns: 9, size: 1 }),
    row("b", { turns: 1, totalTokens: 7, spend: 0.5, size: 2 }),
    row("a", { createdAt: late, updatedAt: early, turns: 1, size: 2 }),
  ];
  assert.equal(sorted(rows, "updated"), "c d a b");
  assert.equal(sorted(rows, "created"), "a d c b");
  assert.equal(sorted(rows, "id"), "a b c d");
  assert.equal(sorted(rows, "turns"), "c a b d");
  assert.equal(sorted(rows, "tokens"), "b d a c");
  assert.equal(sorted(rows, "spend"), "b d a c");
  assert.equal(sorted(rows, "size"), "d a b c");
  assert.deepEqual(SESSION_SORTS.length, 8);
});

test("a session without times of its own is sorted by its file's", () => {
  const rows = [
    row("old", { updatedAt: "2026-01-01T00:00:00.000Z" }),
    row("untimed", { mtimeMs: Date.parse("2026-01-02T00:00:00.000Z") }),
    row("new", { updatedAt: "2026-01-03T00:00:00.000Z" }),
  ];
  assert.equal(sorted(rows, "updated"), "new untimed old");
});

test("sorting does not change its input", () => {
  const lines = [rowLineOf(row("b", {}), "id"), rowLineOf(row("a", {}), "id")];
  sortLines(lines);
  assert.equal(lines[0]?.id, "b");
});
