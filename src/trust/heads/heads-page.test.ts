/** Checks the examples of docs/formats/heads.md with our code. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { PIN_FILE_BYTES_MAX, parsePins } from "./head-export.ts";
import { COMPACT_FACTOR, COMPACT_LOOK_BYTES, PIN_LINE_BYTES_MAX, pinLine } from "./head-file.ts";

const page = readFileSync(new URL("../../../docs/formats/heads.md", import.meta.url), "utf8");
const [, examples = ""] = /^```jsonl pin\n([\s\S]*?)^```$/m.exec(page) ?? [];

test("the page's lines are pins, and are written back byte for byte", () => {
  const pins = parsePins(Buffer.from(examples), "heads.md");
  assert.equal(pins.length, 2);
  assert.equal(pins.map(pinLine).join(""), examples);
});

test("the page has a row for every field of a line, and every reason", () => {
  const [line = ""] = examples.split("\n");
  for (const field of Object.keys(JSON.parse(line))) {
    assert.match(page, new RegExp(`^\\|[^|]*\`${field}\``, "m"), field);
  }
  for (const why of ["signed", "verified", "accepted", "forgotten"]) {
    assert.match(page, new RegExp(`^\\| \`why\` \\|.*\`${why}\``, "m"), why);
  }
});

test("the page names the limits in the code", () => {
  for (const phrase of [
    `grown by ${COMPACT_LOOK_BYTES / 1024} KiB, or an eighth`,
    `${COMPACT_FACTOR} times as large or more`,
    `over ${PIN_LINE_BYTES_MAX / 1024} KiB`,
    `most ${PIN_FILE_BYTES_MAX / 1024 / 1024} MiB`,
  ]) {
    assert.ok(page.includes(phrase), phrase);
  }
});
