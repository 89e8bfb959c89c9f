import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { type Aside, type Entry, emptyEntry, type Usage } from "../../core/model/entry.ts";
import type { Summary } from "../../core/model/summary.ts";
import { NOTHING_KNOWN, SUMMARY_TEXT_MAX, SummaryFold } from "./summary.ts";
import { MESSAGES_REMEMBERED } from "./usage-fold.ts";

function summaryOf(entries: readonly Partial<Entry>[], agent: string | null = null): Summary {
  const fold = new SummaryFold();
  for (const entry of entries) fold.add({ ...emptyEntry({}), ...entry });
  return fold.summary({ agent });
}

function said(text: string, role: Entry["role"] = "user"): Partial<Entry> {
  return { kind: "message", role, parts: [{ type: "text", text }] };
}

function usage(used: Partial<Usage>): Usage {
  return { inputTokens: null, outputTokens: null, totalTokens: null, spend: null, ...used };
}

function titleOf(text: string): string | null {
  return summaryOf([said(text)]).title;
}

test("a session without entries has an empty summary", () => {
  assert.deepEqual(summaryOf([]), NOTHING_KNOWN);
});

test("the title is the user's first message", () => {
  const { title } = summaryOf([
    said("Be brief.", "system"),
    said("Hello!", "assistant"),
    { kind: "message", role: "user", parts: [{ type: "reasoning", text: "hm" }] },
    said("  \n "),
    said("Fix the build"),
    said("Thanks"),
  ]);
  assert.equal(title, "Fix the build");
});

test("a title is one line, whatever white space the text has", () => {
  assert.equal(titleOf("\n\n  Fix \t the\r\nbuild\u2028now \u00a0 "), "Fix the build now");
});

test("terminal escapes and control characters do not reach a title", () => {
  // Method: one of each kind that terminals know, whole and truncated.
  const sequences = [
    "\x1b[31m",
    "\x1b[1;38;5;9m",
    "\x1b[2J",
    "\x1b[?25l",
    "\x9b31m",
    "\x1b]0;owned\x07",
    "\x1b]8;;http://example.org\x1b\\",
    "\x9d0;owned\x9c",
    "\x1bPq#0\x1b\\",
    "\x1b_apc\x1b\\",
    "\x1b(B",
    "\x1bc",
    "\x1b7",
  ];
  for (const sequence of sequences) {
    assert.equal(titleOf(`a${sequence}b`), "ab", JSON.stringify(sequence));
  }
  assert.equal(titleOf("a\x00\x07\x7f\x85b"), "a b");
  assert.equal(titleOf("a\u202etxt.exe\u2066b"), "a txt.exe b");
  assert.equal(titleOf("\x1b]0;never ended"), null);
  assert.equal(titleOf("\x1b["), null);
});

test("no text leaves anything in a title that a terminal would act on", () => {
  const unit = fc.oneof(
    fc.constantFrom("\x1b", "[", "]", "\x9b", "\x07", "m", "0", ";", "\\", "P", " ", "a"),
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 400 }), (text) => {
      const title = titleOf(text);
      if (title === null) return;
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
      assert.doesNotMatch(title, /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
      assert.ok(title.isWellFormed() && title === title.trim() && title !== "");
      assert.ok(Array.from(title).length <= SUMMARY_TEXT_MAX);
    }),
    { numRuns: 2000 },
  );
});

test("a title of 200 characters is whole, and one of 201 is cut and marked", () => {
  assert.equal(SUMMARY_TEXT_MAX, 200);
  for (const character of ["a", "é", "😀"]) {
    assert.equal(titleOf(character.repeat(200)), character.repeat(200));
    assert.equal(titleOf(character.repeat(201)), `${character.repeat(199)}…`);
  }
  assert.equal(titleOf("x".repeat(16 * 1024 * 1024))?.length, 200);
});

test("the agent is the one passed in, the model the last one named", () => {
  const { agent, model } = summaryOf(
    [{ model: "m-1" }, { model: "m-2\x1b[31m" }, { model: null }],
    "co\0ok",
  );
  assert.deepEqual({ agent, model }, { agent: "co ok", model: "m-2" });
});

test("a session begins with its first time and was updated at its last", () => {
  const { createdAt, updatedAt } = summaryOf([
    { at: null },
    { at: "2026-01-01T00:00:00.000Z" },
    { at: "2026-01-02T00:00:00.000Z" },
    { at: null },
  ]);
  assert.deepEqual(
    [createdAt, updatedAt],
    ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"],
  );
});

test("turns are counted by the dialect's marks, as in checkpoints", () => {
  const fold = new SummaryFold();
  const marks = ["opens", "works", "works", null, "opens", "step", "finishes", "ends"] as const;
  for (const mark of marks) fold.add(emptyEntry({}), null, mark);
  assert.equal(fold.summary({ agent: null }).turns, 2);
});

test("entries outside the conversation give no title and no model, but their usage counts", () => {
  const fold = new SummaryFold();
  const add = (made: Partial<Entry>, aside: Aside | null) =>
    fold.add({ ...emptyEntry({}), ...made }, aside);
  const answer = (model: string) => {
    return { ...said("a", "assistant"), model, usage: usage({ outputTokens: 5 }) };
  };
  add(said("Warmup"), "other_agent");
  add(answer("small"), "other_agent");
  add(said("Caveat: …"), "program");
  add(said("Fix the build"), null);
  add(answer("large"), null);
  add({ kind: "turn_end" }, "other_agent");
  add(answer("<synthetic>"), "program");
  const { title, model, outputTokens, lines } = fold.summary({ agent: null });
  assert.deepEqual([title, model, outputTokens], ["Fix the build", "large", 15]);
  assert.equal(lines, 7);
});

test("every line counts, and bad ones are also counted separately", () => {
  const fold = new SummaryFold();
  fold.add(emptyEntry({}));
  fold.addBadLine();
  fold.addBadLine();
  const { lines, badLines } = fold.summary({ agent: null });
  assert.deepEqual({ lines, badLines }, { lines: 3, badLines: 2 });
});

test("the status is the end entry's, or the one passed in if there is no end entry", () => {
  const fold = new SummaryFold();
  const status = () => fold.summary({ agent: null, status: "running" }).status;
  assert.equal(status(), "running");
  fold.add({ ...emptyEntry({}), kind: "end", outcome: "error" });
  assert.equal(status(), "error");
  fold.add(emptyEntry({}));
  assert.equal(status(), "error", "a line that is not understood changes nothing");
  fold.add({ ...emptyEntry({}), kind: "message", role: "user" });
  assert.equal(status(), "running", "a session that continued is not at its end");
  fold.add({ ...emptyEntry({}), kind: "end", outcome: "completed" });
  assert.equal(status(), "completed");
  assert.equal(summaryOf([said("q")]).status, null);
});

test("usage is summed over turns, and missing numbers stay unknown", () => {
  const summary = summaryOf([
    { kind: "turn_end", usage: usage({ inputTokens: 5, spend: 0.1 }) },
    { kind: "turn_end", usage: usage({ inputTokens: 7, spend: 0.2 }) },
    { kind: "turn_end", usage: null },
  ]);
  const { inputTokens, outputTokens, totalTokens, spend } = summary;
  assert.deepEqual([inputTokens, outputTokens, totalTokens, spend], [12, null, null, 0.3]);
});

test("usage recorded on messages and again where their turn ends is counted once", () => {
  const both: Partial<Entry>[] = [
    { kind: "message", role: "assistant", usage: usage({ inputTokens: 5, outputTokens: 1 }) },
    { kind: "turn_end", usage: usage({ inputTokens: 5 }) },
  ];
  assert.equal(summaryOf(both).inputTokens, 5);
  assert.equal(summaryOf(both).outputTokens, 1);
  assert.equal(summaryOf(both.slice(0, 1)).inputTokens, 5);
});

test("the totals in an end entry win over the sum of the turns", () => {
  const turn: Partial<Entry> = {
    kind: "turn_end",
    usage: usage({ inputTokens: 5, outputTokens: 1 }),
  };
  const end: Partial<Entry> = { kind: "end", usage: usage({ inputTokens: 100, spend: 2 }) };

  const ended = summaryOf([turn, turn, end]);
  assert.deepEqual([ended.inputTokens, ended.outputTokens, ended.spend], [100, 2, 2]);

  const goneOn = summaryOf([turn, turn, end, turn]);
  assert.deepEqual([goneOn.inputTokens, goneOn.outputTokens, goneOn.spend], [105, 3, 2]);

  const endedAgain = summaryOf([turn, end, turn, { ...end, usage: usage({ inputTokens: 110 }) }]);
  assert.deepEqual([endedAgain.inputTokens, endedAgain.spend], [110, null]);
});

test("a recorded total is kept, and a missing one is the sum of its counts", () => {
  const recorded = usage({ inputTokens: 5, outputTokens: 2, totalTokens: 9 });
  const unrecorded = usage({ inputTokens: 5, outputTokens: 2 });
  assert.equal(summaryOf([{ kind: "turn_end", usage: recorded }]).totalTokens, 9);
  assert.equal(summaryOf([{ kind: "message", usage: unrecorded }]).totalTokens, 7);
  assert.equal(summaryOf([{ kind: "end", usage: unrecorded }]).totalTokens, 7);
});

test("a total has the output of responses whose input was not recorded", () => {
  const unknown: Partial<Entry> = { kind: "message", usage: usage({ outputTokens: 7 }) };
  const known = usage({ inputTokens: 200, outputTokens: 5, cacheReadTokens: 800 });
  assert.equal(summaryOf([unknown]).totalTokens, 7);
  assert.equal(summaryOf([unknown, { kind: "message", usage: known }]).totalTokens, 1012);
  assert.equal(summaryOf([{ kind: "end", usage: known }, unknown]).totalTokens, 1012);
});

test("an impossible number is not counted", () => {
  for (const odd of [Number.POSITIVE_INFINITY, Number.NaN, 1e15 + 1, -1e300]) {
    const counted = usage({ inputTokens: odd, outputTokens: 1e15, spend: odd });
    const { inputTokens, outputTokens, spend } = summaryOf([{ kind: "turn_end", usage: counted }]);
    assert.deepEqual([inputTokens, outputTokens, spend], [null, 1e15, null]);
  }
});

/** One of the lines in which some programs write a message, with the usage so far. */
function fragment(messageId: string, outputTokens: number | null): Partial<Entry> {
  const counted = outputTokens === null ? null : usage({ inputTokens: 10, outputTokens });
  return { kind: "message", role: "assistant", messageId, usage: counted };
}

test("a message in several lines counts once, with the highest usage it reported", () => {
  const lines = [
    fragment("a", 1),
    { kind: "message", role: "user" } as const,
    fragment("a", null),
    fragment("b", 7),
    fragment("a", 30),
    fragment("a", 5),
    fragment("b", 7),
  ];
  const { inputTokens, outputTokens, totalTokens } = summaryOf(lines);
  assert.deepEqual([inputTokens, outputTokens, totalTokens], [20, 37, 57]);
});

test("messages are remembered up to a limit, and one repeated after that counts again", () => {
  const others = Array.from({ length: MESSAGES_REMEMBERED }, (_, n) => fragment(`m${n}`, 0));
  const again = (between: readonly Partial<Entry>[]) =>
    summaryOf([fragment("a", 5), ...between, fragment("a", 5)]).outputTokens;
  assert.equal(again(others.slice(1)), 5);
  assert.equal(again(others), 10);
});

test("the title is the first text typed by a person, not a text that a program wrote in the user role", () => {
  const { title } = summaryOf([
    said("Caveat: The messages below were generated by the user while running local commands."),
    { ...said("<local-command-stdout>done</local-command-stdout>") },
    { ...said("go on"), saidBy: "program" },
    said("<command-name>/review</command-name><command-args>foo</command-args>"),
    said("Thanks"),
  ]);
  assert.equal(title, "/review foo");
});

test("a log with only another agent's rows has that agent's task as its title, and its model", () => {
  const fold = new SummaryFold();
  const rows: Partial<Entry>[] = [
    { ...said("Count the files"), saidBy: "agent" },
    { ...said("12", "assistant"), model: "m-1" },
  ];
  for (const row of rows) fold.add({ ...emptyEntry({}), ...row }, "other_agent");
  const { title, model } = fold.summary({ agent: null });
  assert.deepEqual([title, model], ["Count the files", "m-1"]);
  fold.add({ ...emptyEntry({}), ...said("Who are you?") });
  assert.equal(fold.summary({ agent: null }).title, "Who are you?");
});

test("times from a program's other files count only where no line has one", () => {
  const known = { createdAt: "2026-07-31T10:13:27.000Z", updatedAt: "2026-07-31T10:13:28.000Z" };
  const fold = new SummaryFold();
  fold.learn(known);
  const { createdAt, updatedAt, durationMs } = fold.summary({ agent: null });
  assert.deepEqual({ createdAt, updatedAt, durationMs }, { ...known, durationMs: 1000 });
  fold.add({ ...emptyEntry({}), at: "2026-08-01T00:00:00.000Z" });
  assert.equal(fold.summary({ agent: null }).createdAt, "2026-08-01T00:00:00.000Z");
});

test("the last erasure is in the summary, on one printable line, and continues with the fold", () => {
  const report = (reason: string, at: string): Partial<Entry> => {
    const native = { type: "erase_report", reason, erased: { text: 1 } };
    return { kind: "message", role: "system", at, parts: [{ type: "other", native }] };
  };
  const fold = new SummaryFold();
  fold.add({ ...emptyEntry({}), ...report("first", "2026-11-01T00:00:00.000Z") });
  const resumed = new SummaryFold(JSON.parse(JSON.stringify(fold.state())));
  const at = "2026-11-02T00:00:00.000Z";
  assert.deepEqual(resumed.summary({ agent: null }).erased?.reason, "first");
  resumed.add({ ...emptyEntry({}), ...report("a \x1b[31mname\n", at) });
  assert.deepEqual(resumed.summary({ agent: null }).erased, { at, reason: "a name" });
  const { role: _, ...others } = report("no", at);
  assert.equal(summaryOf([{ ...others, role: "user" }]).erased, null);
});
