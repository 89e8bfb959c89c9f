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
