import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { COST_MAX, type DiffLine, diffLines, EDITS_MAX, readDiff } from "./diff-lines.ts";

function textOf(lines: readonly DiffLine[], kinds: readonly DiffLine["kind"][]): string[] {
  return lines.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text);
}

test("a diff has all of the old text and all of the new one, in order (DL1)", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(`${before.join("\n")}\n`, `${after.join("\n")}\n`);
      assert.deepEqual(textOf(lines, ["gone", "same"]), before.length === 0 ? [""] : before);
      assert.deepEqual(textOf(lines, ["new", "same"]), after.length === 0 ? [""] : after);
    }),
  );
});

test("unchanged lines are found", () => {
  assert.deepEqual(diffLines("a\nb\nc\nd", "a\nc\nx\nd\n"), [
    { kind: "same", text: "a" },
    { kind: "gone", text: "b" },
    { kind: "same", text: "c" },
    { kind: "new", text: "x" },
    { kind: "same", text: "d" },
  ]);
  assert.deepEqual(diffLines("", "new"), [{ kind: "new", text: "new" }]);
});

/** Two texts that share lines, differ in `edits` others, and begin with the same line. */
function pair(shared: readonly string[], edits: number): [string, string] {
  const changed = Array.from({ length: edits / 2 - 1 }, (_, at) => `changed ${at}`);
  const side = (name: string) =>
    `${["first", ...changed.map((line) => line + name), ...shared, name].join("\n")}\n`;
  return [side("old"), side("new")];
}

function keptIn([before, after]: readonly [string, string]): number {
  return diffLines(before, after).filter(({ kind }) => kind === "same").length;
}

test("texts that differ in too many lines are shown as replaced (DL2)", () => {
  const shared = Array.from({ length: 10 }, (_, at) => `kept ${at}`);
  assert.equal(keptIn(pair(shared, EDITS_MAX)), 11);
  assert.equal(keptIn(pair(shared, EDITS_MAX + 2)), 1); // "first", which is the same in both.
});

test("the longer the texts, the fewer edits are searched for (DL2)", () => {
  const chars = COST_MAX / 100 / 2;
  for (const [lines, length] of [
    [100, chars / 100],
    [chars / 20, 4],
  ] as const) {
    const shared = Array.from({ length: lines }, (_, at) => `${at}`.padStart(length, "0"));
    assert.equal(keptIn(pair(shared, 90)), lines + 1);
    assert.equal(keptIn(pair(shared, 102)), 1);
  }
});

test("texts that are diffs are parsed as diffs, and no others", () => {
  const unified = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
  assert.deepEqual(
    readDiff(unified)?.map(({ kind }) => kind),
    ["place", "place", "place", "place", "same", "gone", "new"],
  );
  assert.equal(readDiff("*** Begin Patch\n+x\n*** End Patch")?.[1]?.kind, "new");
  for (const text of ["", "- a\n+ b", "--- a\n+++ b\n", "x @@ -1 +1 @@"]) {
    assert.equal(readDiff(text), null, text);
  }
});
