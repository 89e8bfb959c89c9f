import assert from "node:assert/strict";
import { test } from "vitest";
import { PhaseBefore, type TurnMark, Turns } from "./turns.ts";

const MARKS: Readonly<Record<string, TurnMark>> = {
  U: "opens",
  S: "step",
  W: "works",
  F: "finishes",
  E: "ends",
  "-": null,
};

/** One letter per mark, with `|` before each entry that opens a turn after a finished one. */
function told(letters: string): string {
  const turns = new Turns();
  const text = [...letters].map((each) => `${turns.note(marked(each)) ? "|" : ""}${each}`);
  return `${text.join("")} ${turns.count}`;
}

function marked(letter: string): TurnMark {
  const mark = MARKS[letter];
  assert.ok(mark !== undefined, letter);
  return mark;
}

test("a turn ends before the next model call, or before a user message after work", () => {
  for (const expected of [
    "UW|UW|UW 3",
    "USWF|USWF|SWF 3", // A call right after the user's message opens no second turn.
    "SUWF|SUWF 2", // Nor does a message right after the call.
    "-U-SWW-F-|U-SW 2",
    "UU 0",
    "UW|UU 1",
    "S 1", // A call that failed is a turn.
    "S|S|SW 3",
    "UWWWW 1",
    "UWE|UW 2",
    "SE|UW 2",
    "SWE|SW 2",
    "UWEW-|UW 2", // Entries after an end open no turn.
    "UE 0",
    "W|U 1",
    "US 1",
  ]) {
    assert.equal(told(expected.replaceAll("|", "").split(" ")[0] as string), expected);
  }
});

test("searching backward from any entry finds the same phase as counting forward to it", () => {
  // Method: every sequence of up to five marks.
  const letters = Object.keys(MARKS).filter((each) => each !== "E");
  let sequences = [""];
  for (let length = 0; length < 5; length++) {
    sequences = sequences.flatMap((each) => letters.map((letter) => each + letter));
    for (const sequence of sequences) {
      const turns = new Turns();
      for (const letter of sequence) turns.note(marked(letter));
      const back = new PhaseBefore();
      let phase: ReturnType<PhaseBefore["take"]> = null;
      for (const letter of [...sequence].reverse()) phase ??= back.take(marked(letter));
      assert.equal(phase ?? "idle", turns.state.phase, sequence);
    }
  }
});

test("a count can be saved and continued", () => {
  const turns = new Turns();
  for (const letter of "UWUSW") turns.note(marked(letter));
  const later = new Turns(JSON.parse(JSON.stringify(turns.state)));
  assert.equal(later.note("opens"), true);
  assert.equal(later.count, 2);
});
