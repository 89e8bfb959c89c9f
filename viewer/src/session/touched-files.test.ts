import assert from "node:assert/strict";
import { test } from "vitest";
import type { OutlineMark } from "../../../src/client/outline-shapes.ts";
import { editorLink, touchedFiles, touchWords, wholePath } from "./touched-files.ts";

const touch = (start: number, file: string | null, more: Partial<OutlineMark> = {}) => ({
  kind: "edit",
  start,
  part: 0,
  file,
  isFailed: false,
  at: null,
  tool: "Edit",
  verb: "Edit",
  call: null,
  text: null,
  lines: null,
  added: 3,
  removed: 1,
  ...more,
});
const read = { kind: "read", verb: "Read", added: null, removed: null } as const;

test("each file is listed once with its calls in order; failed edits change nothing", () => {
  const marks = [
    touch(0, "a.ts", { ...read, lines: [1, 9] }),
    touch(1, "/home/me/app/a.ts"),
    touch(2, "b.ts"),
    touch(3, "./a.ts"),
    touch(4, "a.ts", { isFailed: true }),
    touch(5, null),
    touch(6, "c.ts", read),
    touch(7, "c.ts", { kind: "failure" }),
  ] as OutlineMark[];
  const files = touchedFiles(marks, "/home/me/app/");
  assert.deepEqual(
    files.map(({ shown, touches, reads, edits, added, removed }) => [
      shown,
      touches.map(({ start }) => start).join(" "),
      reads,
      edits,
      added,
      removed,
    ]),
    [
      ["a.ts", "0 1 3 4", 1, 3, 6, 2],
      ["b.ts", "2", 0, 1, 3, 1],
      ["c.ts", "6", 1, 0, 0, 0],
    ],
  );
  assert.deepEqual(marks.slice(0, 2).map(touchWords), ["Read 1–9", "Edit"]);
});

test("a link to an editor has the whole path, and never a scheme that runs or loads anything", () => {
  assert.equal(wholePath("a b.ts", "/home/me"), "/home/me/a b.ts");
  assert.equal(wholePath("a.ts", null), null);
  assert.equal(editorLink("vscode://file{path}", "/w/a b#.ts"), "vscode://file/w/a%20b%23.ts");
  for (const bad of [
    "",
    "javascript://{path}",
    "JavaScript://%0aalert(1)//{path}",
    "data://{path}",
    "https://evil.example/{path}",
    "vscode://file",
    "vscode:{path}",
    " javascript://{path}",
  ]) {
    assert.equal(editorLink(bad, "/a"), null, bad);
  }
});
