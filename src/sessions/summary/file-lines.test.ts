import assert from "node:assert/strict";
import { test } from "vitest";
import { CHARS_MAX, FileLines, piecesIn } from "./file-lines.ts";

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at};`).join("\n");

test("an edit of lines that were read has their number, and moves those below it", () => {
  const files = new FileLines();
  files.read("a.ts", 11, lines(11, 20));
  files.read("a.ts", 31, lines(31, 40));
  assert.deepEqual(files.change("a.ts", [{ old: "line 12;", now: "a\nb\nc" }]), [12]);
  assert.deepEqual(files.change("a.ts", [{ old: "line 13;", now: "x" }]), [15]);
  assert.deepEqual(files.change("/home/me/a.ts", [{ old: "line 35;", now: "y" }]), [37]);
  const two = [
    { old: "line 16;\nline 17;", now: "", isLines: true },
    { old: "line 18;", now: "z", isLines: true },
  ] as const;
  assert.deepEqual(files.change("./a.ts", two), [18, 18]);
  assert.deepEqual(files.change("a.ts", [{ old: "line 40;", now: "y" }]), [40]);
});

test("a text that is not known, or known twice, has no number, and its file is forgotten (KF1)", () => {
  for (const old of ["absent", "line", ""]) {
    const files = new FileLines();
    files.read("a.ts", 1, lines(1, 9));
    assert.deepEqual(files.change("a.ts", [{ old, now: "x" }]), [null], old);
    assert.deepEqual(files.change("a.ts", [{ old: "line 2;", now: "x" }]), [null], old);
  }
  assert.deepEqual(new FileLines().change("a.ts", [{ old: "x", now: "y" }]), [null]);
  const files = new FileLines();
  files.read("a.ts", 1, "one\nan one\n");
  assert.deepEqual(files.change("a.ts", [{ old: "one", now: "1", isLines: true }]), [1]);
});

test("a written file is known from its first line", () => {
  const files = new FileLines();
  const whole = { old: "", now: lines(1, 9), isWhole: true } as const;
  assert.deepEqual(files.change("/home/me/app/b.ts", [whole]), [1]);
  assert.deepEqual(files.change("app/b.ts", [{ old: "line 9;", now: "x" }]), [9]);
  assert.deepEqual(files.change("b.ts", [{ old: "line 8;", now: "x" }]), [8]);
});

test("files of the same name in two directories are not mixed up (KF1)", () => {
  const files = new FileLines();
  files.read("/home/me/a/index.ts", 1, "one");
  files.read("/home/me/b/index.ts", 1, "two");
  assert.deepEqual(files.change("index.ts", [{ old: "one", now: "1" }]), [null]);
});

test("more than the limit is forgotten, the oldest first (KF2)", () => {
  const files = new FileLines();
  const half = "x".repeat(CHARS_MAX / 2 - 1);
  for (const name of ["a", "b", "c"]) files.read(name, 1, `${half}${name}`);
  const found = ["a", "b", "c"].map((name) => files.change(name, [{ old: `x${name}`, now: "" }]));
  assert.deepEqual(found, [[null], [1], [1]]);
});

test("printed numbers are the file's; other text counts only if the tool prints it as it is", () => {
  assert.deepEqual(piecesIn("<file>\n 9→a\n10→\n12→c\nend", 1, false), [
    { first: 9, text: "a\n" },
    { first: 12, text: "c" },
  ]);
  assert.deepEqual(piecesIn("00003| a\n00004| b", 1, false), [{ first: 3, text: "a\nb" }]);
  assert.deepEqual(piecesIn("a\nb\n", 5, true), [{ first: 5, text: "a\nb" }]);
  assert.deepEqual(piecesIn("a\nb\n", 5, false), []);
  assert.deepEqual(piecesIn("a\n[… omitted 9 of 12 lines …]\nb\n", 5, true), []);
});
