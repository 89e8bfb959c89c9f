import assert from "node:assert/strict";
import { test } from "vitest";
import { fileEditsOf, LINE_PAIRS_MAX } from "./file-edits.ts";

test("an edit of each common shape names its file and counts its lines", () => {
  const pair = {
    file_path: "a.ts",
    old_string: "one\ntwo\nthree",
    new_string: "one\n2\n2b\nthree",
  };
  assert.deepEqual(fileEditsOf("Edit", pair), [{ file: "a.ts", added: 2, removed: 1 }]);
  const many = {
    file_path: "a.ts",
    edits: [
      { old_string: "x", new_string: "y" },
      { old_string: "", new_string: "a\nb\n" },
    ],
  };
  assert.deepEqual(fileEditsOf("MultiEdit", many), [{ file: "a.ts", added: 3, removed: 1 }]);
  const whole = { path: "b.md", content: "one\ntwo\n" };
  assert.deepEqual(fileEditsOf("write_file", whole), [{ file: "b.md", added: 2, removed: 0 }]);
});

test("lines that stay between two changes are not counted, up to a limit", () => {
  const edit = (file_path: string, length: number) => {
    const kept = Array.from({ length: length - 2 }, (_, at) => `kept ${at}`).join("\n");
    const [old_string, new_string] = ["a\n", "b\n"].map((end) => `${end}${kept}\n${end}`);
    return fileEditsOf("Edit", { file_path, old_string, new_string });
  };
  const most = Math.floor(Math.sqrt(LINE_PAIRS_MAX));
  assert.deepEqual(edit("a.ts", most), [{ file: "a.ts", added: 2, removed: 2 }]);
  const all = { added: most + 1, removed: most + 1 };
  assert.deepEqual(edit("a.ts", most + 1), [{ file: "a.ts", ...all }]);
});

test("a patch has one edit for each of its files", () => {
  const patch = [
    ...["*** Begin Patch", "*** Update File: src/a.ts", "@@", "-old", "+new", "+newer"],
    ...["*** Add File: src/b.ts", "+one", "*** End Patch"],
  ].join("\n");
  const edits = [
    { file: "src/a.ts", added: 2, removed: 1 },
    { file: "src/b.ts", added: 1, removed: 0 },
  ];
  assert.deepEqual(fileEditsOf("apply_patch", patch), edits);
  assert.deepEqual(fileEditsOf("shell", { command: ["apply_patch", patch] }), edits);
  const git = "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n";
  assert.deepEqual(fileEditsOf("p", { diff: git }), [{ file: "x.c", added: 1, removed: 1 }]);
});

test("reading, searching and other values are no edits", () => {
  for (const input of [null, 1, "text", [], {}, { path: "a" }, { command: "ls" }, { edits: [1] }]) {
    assert.deepEqual(fileEditsOf("read", input), []);
  }
  assert.deepEqual(fileEditsOf("send", { path: "a", content: "hello" }), []);
});
