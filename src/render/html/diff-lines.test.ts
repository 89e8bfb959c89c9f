import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { COMPARED_MAX, type DiffLine, diffLines, readDiff } from "./diff-lines.ts";

function textOf(lines: readonly DiffLine[], kinds: readonly DiffLine["kind"][]): string[] {
  return lines.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text);
}

test("a difference holds all of the old text and all of the new one, in order (DL1)", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(`${before.join("\n")}\n`, `${after.join("\n")}\n`);
      assert.deepEqual(textOf(lines, ["gone", "same"]), before.length === 0 ? [""] : before);
      assert.deepEqual(textOf(lines, ["new", "same"]), after.length === 0 ? [""] : after);
    }),
  );
});

test("what stayed is found", () => {
  assert.deepEqual(diffLines("a\nb\nc\nd", "a\nc\nx\nd\n"), [
    { kind: "same", text: "a" },
    { kind: "gone", text: "b" },
    { kind: "same", text: "c" },
    { kind: "new", text: "x" },
    { kind: "same", text: "d" },
  ]);
  assert.deepEqual(diffLines("", "new"), [{ kind: "new", text: "new" }]);
});

test("what is too long to be compared went and came as a whole (DL2)", () => {
  const side = Math.sqrt(COMPARED_MAX);
  const texts = (count: number, name: string) => {
    const lines = Array.from({ length: count }, (_, at) => `${name}${at}`);
    return `${["x", ...lines, "y"].join("\n")}\n${name}`;
  };
  const same = (count: number) => {
    const lines = diffLines(texts(count, "a"), texts(count, "b"));
    return lines.filter(({ kind }) => kind === "same").length;
  };
  assert.equal(same(side - 2), 2);
  assert.equal(same(side - 1), 1); // "x", which both begin with, is put aside before.
});

test("texts that are diffs already are read as such, and no others", () => {
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
