import assert from "node:assert/strict";
import { test } from "vitest";
import { ParsedHtml } from "../../../../test/e2e/parsed-html.ts";
import { changesIn } from "../changes.ts";
import { shownChanges, shownDiffOf } from "./call-html.ts";

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

/** Each line with its number. */
function numbersOf(value: unknown, places: (number | null)[], answer: string | null = null) {
  const changes = changesIn(value, true) ?? assert.fail("no change");
  const shown = shownChanges(changes, null, { places, answer }).html.toString();
  return [...shown.matchAll(/<span class="(?:gone|new|same)"(?: data-n="(\d+)")?[^>]*>([-+ ])/g)]
    .map(([, number = "?", sign]) => `${sign}${number}`)
    .join(" ");
}

const EDIT = { old_string: "a\nb\nc", new_string: "a\nB\nB\nc" };

test("lines have the numbers of their file, or none (CH1)", () => {
  assert.equal(numbersOf(EDIT, []), " ? -? +? +?  ?");
  assert.equal(numbersOf(EDIT, [20]), " 20 -21 +21 +22  23");
  assert.equal(numbersOf({ content: "one\ntwo\n" }, []), "+1 +2");
  const edits = [EDIT, { old_string: "x", new_string: "y" }];
  assert.equal(numbersOf({ edits }, [null, 4]), " ? -? +? +?  ? -4 +4");
});

test("the runs of a patch have numbers of their own, old ones as before the patch (CH1)", () => {
  const patch = [
    "*** Begin Patch",
    "*** Update File: a",
    "@@ f",
    " x",
    "+y",
    "@@",
    "-gone",
    "+new",
    "*** Update File: b",
    "-b",
    "*** End Patch",
  ].join("\n");
  assert.equal(numbersOf({ patch }, [10, 31, 5]), " 10 +11 -30 +31 -5");
  assert.equal(numbersOf({ patch }, [null, 31, null]), " ? +? -31 +31 -?".replace("-31", "-30"));
  assert.equal(numbersOf({ patch }, []), " ? +? -? +? -?");
});

test("numbers in the tool's answer count if the new lines are there once (CH1)", () => {
  const printed = "Here it is:\n   8→a\n   9→B\n  10→B\n  11→c\n  12→d";
  assert.equal(numbersOf(EDIT, [], printed), " 8 -9 +9 +10  11");
  assert.equal(numbersOf(EDIT, [], `${printed}\n${printed}`), " ? -? +? +?  ?");
  assert.equal(numbersOf({ old_string: "z", new_string: "B" }, [], printed), "-? +?");
});
