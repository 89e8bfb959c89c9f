import assert from "node:assert/strict";
import { test } from "vitest";
import type { OutlineMark } from "../../../src/client/session-shapes.ts";
import { editedFiles, editorLink, wholePath } from "./edited-files.ts";

const edit = (start: number, file: string | null, isFailed = false): OutlineMark => ({
  ...{ kind: "edit", start, file, isFailed, at: null, tool: "Edit", call: null, text: null },
  ...{ added: 3, removed: 1 },
});

test("each file is listed once with its edits in order; failed edits change nothing", () => {
  const marks = [
    edit(1, "/home/me/app/a.ts"),
    edit(2, "b.ts"),
    edit(3, "a.ts"),
    edit(4, "a.ts", true),
    edit(5, null),
  ];
  const files = editedFiles(marks, "/home/me/app/");
  assert.deepEqual(
    files.map(({ shown, edits, added, removed }) => [
      shown,
      edits.map((each) => each.start),
      added,
      removed,
    ]),
    [
      ["a.ts", [1, 3, 4], 6, 2],
      ["b.ts", [2], 3, 1],
    ],
  );
});

test("a link to an editor has the whole path, and never a scheme that runs or loads anything", () => {
  assert.equal(wholePath("a b.ts", "/home/me"), "/home/me/a b.ts");
  assert.equal(wholePath("a.ts", null), null);
  assert.equal(editorLink("vscode://file{path}", "/w/a b#.ts"), "vscode://file/w/a%20b%23.ts");
  for (const bad of [
    ...["", "javascript://{path}", "JavaScript://%0aalert(1)//{path}", "data://{path}"],
    ...["https://evil.example/{path}", "vscode://file", "vscode:{path}", " javascript://{path}"],
  ]) {
    assert.equal(editorLink(bad, "/a"), null, bad);
  }
});
