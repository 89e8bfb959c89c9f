import assert from "node:assert/strict";
import { test } from "vitest";
import type { Exchange } from "../../../src/client/outline-shapes.ts";
import { compareRows, withoutMarks } from "./compare-rows.ts";

const exchange = (start: number, text: string | null): Exchange => ({
  ...{ start, text, at: null, until: null, tokens: null, spend: null },
  ...{ calls: 0, failures: 0, edits: 0, files: 0, answer: null, answerStart: null, tools: [] },
});
const of = (...texts: (string | null)[]) => ({
  exchanges: texts.map((text, n) => exchange(n * 100, text)),
  marks: [],
  project: null,
});

test("prompts of two sessions are aligned by their number", () => {
  const rows = compareRows(of(null, "a", "b"), of("a", "x", "c"));
  assert.deepEqual(
    rows.map(({ number, left, right, isSame }) => {
      return [number, left?.exchange.text, right?.exchange.text, isSame];
    }),
    [
      [0, null, undefined, false],
      [1, "a", "a", true],
      [2, "b", "x", false],
      [3, undefined, "c", false],
    ],
  );
});

test("each prompt has the files that were edited for it", () => {
  const edit = {
    ...{
      kind: "edit" as const,
      start: 150,
      at: null,
      tool: "Edit",
      call: null,
      text: null,
      file: "/p/a.ts",
    },
    ...{ added: 2, removed: 1, isFailed: false, part: 0, verb: "Edit", lines: null },
  };
  const [first, second] = compareRows({ ...of("a", "b"), marks: [edit], project: "/p" }, of());
  assert.deepEqual(first?.left?.files, []);
  assert.deepEqual(
    second?.left?.files.map(({ shown, added }) => [shown, added]),
    [["a.ts", 2]],
  );
});

test("an answer on one line has no marks of Markdown, and no table", () => {
  assert.equal(
    withoutMarks("Done. ## Changes ### Made: 1. **Added `f()`** in ```ts x``` > said"),
    "Done. Changes Made: 1. Added f() in ts x said",
  );
  assert.equal(withoutMarks("So: | a | b | |---|---| | 1 | 2 | And 3 # 4"), "So: … And 3 4");
  assert.equal(withoutMarks("So: | a | b | |---|-"), "So: …");
  assert.equal(withoutMarks("a || b and c | d"), "a || b and c | d");
});
