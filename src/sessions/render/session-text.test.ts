/** Sessions on a terminal and in a pipe: what is shown of calls, and what reaches the terminal. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { type Entry, emptyEntry, type Part } from "../../core/model/entry.ts";
import { toolViews } from "../../dialects/tool-table.ts";
import { SessionText, type SessionTextOptions } from "./session-text.ts";

const PIPE: SessionTextOptions = {
  thinking: false,
  tools: true,
  hasColour: false,
  isFolded: false,
  project: () => "/home/me",
};
const TERMINAL = { ...PIPE, hasColour: true, isFolded: true };

/** The lines of an assistant's message, and of the results of its calls in the next one. */
function linesOf(
  parts: readonly Part[],
  outputs: readonly unknown[],
  options: SessionTextOptions = PIPE,
  error: string | null = null,
): string[] {
  const text = new SessionText(options, () => []);
  const results = outputs.map((output, at): Part => {
    return { type: "tool_result", callId: `c${at}`, output, error, durationMs: null };
  });
  const said: Entry[] = [
    { ...emptyEntry({}), kind: "message", role: "assistant", parts },
    { ...emptyEntry({}), kind: "message", role: "tool", parts: results },
  ];
  const pieces = said.map((entry, start) => {
    return text.add({ ...entry, start, line: start, tools: toolViews({}, entry.parts) });
  });
  return `${pieces.join("")}${text.end()}`.split("\n").slice(2, -1);
}

function call(tool: string, input: unknown, at = 0): Part {
  return { type: "tool_call", callId: `c${at}`, tool, input };
}

test("an edit is a diff, a plan a list, and a file that is read a line", () => {
  const edit = { file_path: "/home/me/a.ts", old_string: "x\n", new_string: "y\nz\n" };
  assert.deepEqual(linesOf([call("Edit", edit)], ["done"]), [
    "▸ Edit a.ts +2 −1",
    "    -x",
    "    +y",
    "    +z",
    "    done",
  ]);
  const todos = [
    { content: "one", status: "completed" },
    { content: "two", status: "pending" },
  ];
  assert.deepEqual(linesOf([call("TodoWrite", { todos })], [""]), [
    "▸ Plan (1 of 2 done)",
    "    [x] one",
    "    [ ] two",
  ]);
  const shown = linesOf([call("Read", { file_path: "/home/me/a.ts" })], ["1\tx\n2\ty"], {
    ...TERMINAL,
    hasColour: false,
  });
  assert.deepEqual(shown, ["▸ Read a.ts:1–2"]);
});

test("a long output is folded on a terminal, with its last lines for a command, and whole in a pipe", () => {
  const output = Array.from({ length: 100 }, (_, at) => `line ${at + 1}`).join("\n");
  const shown = linesOf([call("Bash", { command: "make" })], [output], {
    ...TERMINAL,
    hasColour: false,
  });
  assert.deepEqual(
    [shown[1], shown[2], shown.at(-1)],
    ["    … 80 earlier lines", "    line 81", "    line 100"],
  );
  assert.equal(linesOf([call("Bash", { command: "make" })], [output]).length, 101);
});

test("a failed call is shown with its first eight and last twelve lines on a terminal", () => {
  const error = Array.from({ length: 100 }, (_, at) => `line ${at + 1}`).join("\n");
  const options = { ...TERMINAL, hasColour: false };
  const shown = linesOf([call("Bash", { command: "make" })], [null], options, error);
  assert.deepEqual(
    [shown[1], shown[8], shown[9], shown[10], shown.at(-1)],
    ["    line 1", "    line 8", "    … 80 more lines", "    line 89", "    line 100"],
  );
});

test("what is shown after a fold has the colours that the folded lines have set", () => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`);
  const error = [`\u001b[31m${lines[0]}`, ...lines.slice(1)].join("\n");
  const shown = linesOf([call("Bash", { command: "make" })], [null], TERMINAL, error);
  assert.ok(shown.at(-1)?.includes("\u001b[31mline 40"), shown.at(-1));
});

test("a program's colours are kept on a terminal and removed in a pipe (PT2)", () => {
  const output = "\u001b[32mok\nfine\u001b[0m \u001b]0;title\u0007\u001b[2Jend";
  const [, ...plain] = linesOf([call("Bash", { command: "make" })], [output]);
  assert.deepEqual(plain, ["    ok", "    fine end"]);
  const [, ...coloured] = linesOf([call("Bash", { command: "make" })], [output], TERMINAL);
  assert.deepEqual(coloured, ["    \u001b[32mok\u001b[0m", "    \u001b[32mfine\u001b[0m end"]);
});

test("no program can print text in the colour of its background (PT3)", () => {
  const [, shown] = linesOf([call("Bash", {})], ["\u001b[31;41mhidden"], TERMINAL);
  assert.equal(shown, "    hidden");
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const ACTING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const LOOK = /\u001b\[[0-9;]+m/g;

test("whatever is in a call and its result, only colours and weights are printed (PT1)", () => {
  const hostile = fc.string({
    unit: fc.oneof(
      fc.constantFrom("\u001b[", "\u001b]", "\u009b", "31m", "2J", ";", "\u0007", "\r", "\b", "\n"),
      fc.constantFrom("\u202e", "\u2028", "\u001b[38;5;1m", "\u001b[?1049h", "\u001b\\"),
      fc.string({ maxLength: 2 }),
    ),
  });
  fc.assert(
    fc.property(hostile, hostile, hostile, (tool, input, output) => {
      const parts = [
        call(tool, { command: input, [input]: output }),
        { type: "text", text: output } as const,
      ];
      for (const options of [TERMINAL, PIPE]) {
        const text = linesOf(parts, [output], options).join("\n");
        const rest = options.hasColour ? text.replace(LOOK, "") : text;
        assert.equal(ACTING.exec(rest), null, JSON.stringify(rest));
      }
    }),
  );
});
