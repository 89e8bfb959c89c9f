import assert from "node:assert/strict";
import { test } from "vitest";
import type { Exchange, OutlineMark } from "../../../src/client/outline-shapes.ts";
import { packedExchanges, packedMarks } from "./outline.ts";
import { type OutlineRowChoice, OutlineRows, rowsWithin } from "./outline-rows.ts";

const exchange = (start: number, text: string | null): Exchange => ({
  start,
  text,
  at: null,
  until: null,
  tokens: null,
  spend: null,
  calls: 0,
  failures: 0,
  edits: 0,
  files: 0,
  answer: null,
  answerStart: null,
  tools: [],
});
const mark = (kind: OutlineMark["kind"], start: number, file: string | null): OutlineMark => ({
  kind,
  start,
  file,
  at: null,
  tool: "t",
  call: null,
  text: null,
  added: 2,
  removed: 1,
  isFailed: false,
  part: 0,
  verb: "Edit",
  lines: null,
});

function rowsOf(
  exchanges: Exchange[],
  marks: OutlineMark[],
  choice: OutlineRowChoice,
): OutlineRows {
  return new OutlineRows(packedExchanges().with(exchanges), packedMarks().with(marks), choice);
}

const ALL = { failures: true, edits: true };
const HEIGHTS = { promptPx: 50, markPx: 20 };
const EXCHANGES = [exchange(0, "one"), exchange(100, "two")];
const MARKS = [
  mark("edit", 10, "a"),
  mark("edit", 20, "b"),
  mark("failure", 30, null),
  mark("edit", 40, "a"),
  mark("edit", 110, "a"),
];

test("each prompt is followed by its failures, and by each edited file once", () => {
  const rows = rowsOf(EXCHANGES, MARKS, ALL);
  const short = rows
    .slice(0, rows.length)
    .map((row) => [row.kind, row.start, row.kind === "edit" ? row.added : 0]);
  assert.deepEqual(short, [
    ["prompt", 0, 0],
    ["edit", 10, 4],
    ["edit", 20, 2],
    ["failure", 30, 0],
    ["prompt", 100, 0],
    ["edit", 110, 2],
  ]);
  assert.equal(rowsOf(EXCHANGES, MARKS, { failures: false, edits: false }).length, 2);
  assert.deepEqual(
    [0, 25, 99, 200].map((offset) => rows.lastUntil(offset)),
    [0, 2, 3, 5],
  );
  assert.deepEqual([...rows.tops(HEIGHTS)], [0, 50, 70, 90, 110, 160, 180]);
});

test("only the rows on the screen are chosen, however many there are", () => {
  const many = Array.from({ length: 10_000 }, (_, n) => exchange(n, "x"));
  const tops = rowsOf(many, [], ALL).tops(HEIGHTS);
  assert.equal(tops.at(-1), 500_000);
  const [first, last] = rowsWithin(tops, 100_000, 100_500);
  assert.ok(first <= 2_000 && first > 1_990, `${first}`);
  assert.ok(last >= 2_010 && last < 2_020, `${last}`);
  assert.deepEqual(rowsWithin(rowsOf([], [], ALL).tops(HEIGHTS), 0, 10), [0, 0]);
});
