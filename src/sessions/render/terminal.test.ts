import assert from "node:assert/strict";
import { test } from "vitest";
import { colourMarkdown } from "./terminal.ts";

const RESET = "\u001b[0m";
const dim = (text: string) => `\u001b[2m${text}${RESET}`;

test("headings, captions, notes and fences are coloured, and the text stays the same", () => {
  const markdown = [
    "## User",
    "**Tool: x** and more",
    "_a note_",
    "---",
    "plain **bold** #text",
    "````json",
    "# no heading",
    "```",
    "````",
    "# a heading",
    "",
  ];
  const coloured = colourMarkdown(markdown.join("\n")).split("\n");

  assert.deepEqual(coloured, [
    `\u001b[1m\u001b[36m## User${RESET}`,
    `\u001b[1m\u001b[33m**Tool: x**${RESET} and more`,
    dim("_a note_"),
    dim("---"),
    "plain **bold** #text",
    dim("````json"),
    dim("# no heading"),
    dim("```"),
    dim("````"),
    `\u001b[1m\u001b[36m# a heading${RESET}`,
    "",
  ]);
});
