import assert from "node:assert/strict";
import { test } from "vitest";
import { formatTable } from "./table.ts";

const COLUMNS = [
  { heading: "ID", widthMin: 4 },
  { heading: "N", align: "right" },
  { heading: "X" },
] as const;

test("columns are aligned, and nothing is cut unless a page width is set", () => {
  assert.deepEqual(
    formatTable(COLUMNS, [
      ["a-long-id", "1", "é"],
      ["b", "222", ""],
    ]),
    ["ID           N  X", "a-long-id    1  é", "b          222"],
  );
});

test("text that does not fit is cut in columns that allow it, down to their minimum width", () => {
  const rows = [["a-long-id", "1", "x"]];
  assert.deepEqual(formatTable(COLUMNS, rows, 12), ["ID      N  X", "a-lon…  1  x"]);
  assert.deepEqual(formatTable(COLUMNS, rows, 3), ["ID    N  X", "a-l…  1  x"]);
});

test("a cell is one line, whatever it contains", () => {
  const [, row] = formatTable([{ heading: "A" }], [["x\ny\u001b[2J"]]);
  assert.equal(row, "x\\u000ay\\u001b[2J");
});

test("columns that do not fit at their minimum are left out, the lowest first", () => {
  const columns = [
    { heading: "A", widthMin: 4 },
    { heading: "B", widthMin: 4, droppedAs: 2 },
    { heading: "C", widthMin: 4, droppedAs: 1 },
  ];
  const rows = [["aaaaaaaa", "bbbbbbbb", "cccccccc"]];
  assert.deepEqual(formatTable(columns, rows, 16), ["A     B     C", "aaa…  bbb…  ccc…"]);
  assert.deepEqual(formatTable(columns, rows, 15), ["A       B", "aaaaa…  bbbbbb…"]);
  assert.deepEqual(formatTable(columns, rows, 9), ["A", "aaaaaaaa"]);
});

test("a wide character takes two columns and a combining one none", () => {
  const rows = [
    ["日本語の題名", "x"],
    ["e\u0301", "y"],
  ];
  const [, wide, combined] = formatTable(
    [{ heading: "A", widthMin: 4 }, { heading: "B" }],
    rows,
    10,
  );
  assert.equal(wide, "日本語…  x");
  assert.equal(combined, "e\u0301        y");
});
