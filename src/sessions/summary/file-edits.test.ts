import assert from "node:assert/strict";
import { test } from "vitest";
import { ChangedLinesFold, fileEditsOf, LINE_PAIRS_MAX } from "./file-edits.ts";

/** Without the texts. */
function counts(tool: string, input: unknown) {
  return fileEditsOf(tool, input).map(({ changes: _, ...edit }) => edit);
}

test("an edit of each common shape names its file and counts its lines", () => {
  const pair = {
    file_path: "a.ts",
    old_string: "one\ntwo\nthree",
    new_string: "one\n2\n2b\nthree",
  };
  assert.deepEqual(counts("Edit", pair), [{ file: "a.ts", added: 2, removed: 1 }]);
  const many = {
    file_path: "a.ts",
    edits: [
      { old_string: "x", new_string: "y" },
      { old_string: "", new_string: "a\nb\n" },
    ],
  };
  assert.deepEqual(counts("MultiEdit", many), [{ file: "a.ts", added: 3, removed: 1 }]);
  const whole = { path: "b.md", content: "one\ntwo\n" };
  assert.deepEqual(counts("write_file", whole), [{ file: "b.md", added: 2, removed: 0 }]);
});

test("lines that stay between two changes are not counted, up to a limit", () => {
  const edit = (file_path: string, length: number) => {
    const kept = Array.from({ length: length - 2 }, (_, at) => `kept ${at}`).join("\n");
    const [old_string, new_string] = ["a\n", "b\n"].map((end) => `${end}${kept}\n${end}`);
    return counts("Edit", { file_path, old_string, new_string });
  };
  const most = Math.floor(Math.sqrt(LINE_PAIRS_MAX));
  assert.deepEqual(edit("a.ts", most), [{ file: "a.ts", added: 2, removed: 2 }]);
  const all = { added: most + 1, removed: most + 1 };
  assert.deepEqual(edit("a.ts", most + 1), [{ file: "a.ts", ...all }]);
});

test("a patch has one edit for each of its files", () => {
  const patch = [
    "*** Begin Patch",
    "*** Update File: src/a.ts",
    "@@",
    "-old",
    "+new",
    "+newer",
    "*** Add File: src/b.ts",
    "+one",
    "*** End Patch",
  ].join("\n");
  const edits = [
    { file: "src/a.ts", added: 2, removed: 1 },
    { file: "src/b.ts", added: 1, removed: 0 },
  ];
  assert.deepEqual(counts("apply_patch", patch), edits);
  assert.deepEqual(counts("shell", { command: ["apply_patch", patch] }), edits);
  const git = "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n";
  assert.deepEqual(counts("p", { diff: git }), [{ file: "x.c", added: 1, removed: 1 }]);
});

test("reading, searching and other values are no edits", () => {
  for (const input of [null, 1, "text", [], {}, { path: "a" }, { command: "ls" }, { edits: [1] }]) {
    assert.deepEqual(counts("read", input), []);
  }
  assert.deepEqual(counts("send", { path: "a", content: "hello" }), []);
});

test("an edit has the texts that replace each other, a patch one pair for each of its runs", () => {
  const pair = { file_path: "a.ts", old_string: "x", new_string: "y" };
  assert.deepEqual(fileEditsOf("Edit", pair)[0]?.changes, [{ old: "x", now: "y" }]);
  const patch = [
    "*** Begin Patch",
    "*** Update File: a.ts",
    "@@ f",
    " kept",
    "-old",
    "+new",
    "",
    "@@",
    "-gone",
    "*** Add File: b.ts",
    "+one",
    "+two",
    "*** End Patch",
    "",
  ].join("\n");
  assert.deepEqual(
    fileEditsOf("apply_patch", patch).map(({ changes }) => changes),
    [
      [
        { old: "kept\nold\n", now: "kept\nnew\n", isLines: true },
        { old: "gone", now: "", isLines: true },
      ],
      [{ old: "", now: "one\ntwo", isLines: true, isWhole: true }],
    ],
  );
});

const call = (callId: string, input: unknown) => {
  return { type: "tool_call", callId, tool: "write", input } as const;
};

test("a failed edit does not count, and a repeated call counts once", () => {
  const fold = new ChangedLinesFold();
  assert.equal(fold.sum, null);
  const edit = { path: "a", content: "x\ny" };
  fold.add([call("1", edit), call("1", edit), call("2", edit)]);
  fold.add([{ type: "tool_result", callId: "2", output: "", error: "no", durationMs: null }]);
  assert.deepEqual(fold.sum, { added: 2, removed: 0 });
});
