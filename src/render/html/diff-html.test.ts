import assert from "node:assert/strict";
import { test } from "vitest";
import { ParsedHtml } from "../../../test/e2e/parsed-html.ts";
import { shownDiffOf } from "./diff-html.ts";

function parsed(value: unknown): ParsedHtml {
  return ParsedHtml.fragment(shownDiffOf(value)?.html.toString() ?? assert.fail("no diff"));
}

test("an edit is shown as a diff with its other fields (DH1, DH2)", () => {
  for (const [before, after] of [
    ["old_string", "new_string"],
    ["old_str", "new_str"],
    ["oldText", "newText"],
  ] as const) {
    const shown = parsed({ file_path: "a.ts", [before]: "x\n<b>\n", [after]: "x\n<i>\n" });
    assert.deepEqual(shown.withClass("gone"), ["-<b>\n"]);
    assert.deepEqual(shown.withClass("new"), ["+<i>\n"]);
    assert.deepEqual(shown.withClass("fields"), ["file_patha.ts"]);
    assert.deepEqual(shown.withClass("diff"), [" x\n-<b>\n+<i>\n"]);
  }
});

test("several edits are several diffs, unless one of them has more than a change", () => {
  const edit = { old_string: "a", new_string: "b" };
  assert.equal(parsed({ edits: [edit, edit] }).withClass("diff").length, 2);
  for (const other of [null, {}, { ...edit, replace_all: true }]) {
    assert.equal(shownDiffOf({ edits: [edit, other] }), null);
  }
});

test("a diff in a text is shown as a diff, in any field", () => {
  const text = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y";
  for (const value of [text, { patch: text }, { diff: text }, { input: text }]) {
    assert.deepEqual(parsed(value).withClass("new"), ["+y\n"]);
  }
});

test("a value that is not a change is not shown as a diff", () => {
  for (const value of [null, 1, "x", [], {}, { edits: [] }, { old_string: "x" }, { diff: 1 }]) {
    assert.equal(shownDiffOf(value), null);
  }
});
