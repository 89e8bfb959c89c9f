import assert from "node:assert/strict";
import { test } from "vitest";
import type { Exchange, OutlineMark } from "../../../src/client/session-shapes.ts";
import { outlineRows, rowsWithin, rowTops } from "./outline-rows.ts";

const exchange = (start: number, text: string | null): Exchange => ({
  ...{ start, text, at: null, until: null, tokens: null, spend: null },
  ...{ calls: 0, failures: 0, edits: 0, files: 0, answer: null, answerStart: null, tools: [] },
});
const mark = (kind: OutlineMark["kind"], start: number, file: string | null): OutlineMark => ({
  ...{ kind, start, file, at: null, tool: "t", call: null, text: null },
  ...{ added: 2, removed: 1, isFailed: false, part: 0, verb: "Edit", lines: null },
});

const EXCHANGES = [exchange(0, "one"), exchange(100, "two")];
const MARKS = [
  mark("edit", 10, "a"),
  mark("edit", 20, "b"),
  mark("failure", 30, null),
  mark("edit", 40, "a"),
  mark("edit", 110, "a"),
];

test("each prompt is followed by its failures, and by each edited file once", () => {
  const rows = outlineRows(EXCHANGES, MARKS, { failures: true, edits: true });
  const short = rows.map((row) => [row.kind, row.start, row.kind === "edit" ? row.added : 0]);
  assert.deepEqual(short, [
    ["prompt", 0, 0],
    ["edit", 10, 4],
    ["edit", 20, 2],
    ["failure", 30, 0],
    ["prompt", 100, 0],
    ["edit", 110, 2],
  ]);
  assert.equal(outlineRows(EXCHANGES, MARKS, { failures: false, edits: false }).length, 2);
});

test("only the rows on the screen are chosen, however many there are", () => {
  const many = Array.from({ length: 10_000 }, (_, n) => exchange(n, "x"));
  const tops = rowTops(outlineRows(many, [], { failures: true, edits: true }), {
    promptPx: 50,
    markPx: 20,
  });
  assert.equal(tops.at(-1), 500_000);
  const [first, last] = rowsWithin(tops, 100_000, 100_500);
  assert.ok(first <= 2_000 && first > 1_990, `${first}`);
  assert.ok(last >= 2_010 && last < 2_020, `${last}`);
  assert.deepEqual(rowsWithin(rowTops([], { promptPx: 1, markPx: 1 }), 0, 10), [0, 0]);
});
