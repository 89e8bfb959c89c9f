/** Checks the examples of docs/formats/heads.md with our code. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { readPin, tombstoneMessage } from "../proof/pin.ts";
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
  for (const why of ["signed", "verified", "accepted", "forgotten", "deleted"]) {
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

test("the tombstone on the page is one, and each of its fields is signed", () => {
  const [, line = ""] = /^```jsonl tombstone\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const { pin } = readPin(JSON.parse(line));
  assert.ok(pin?.tombstone);
  assert.equal(pinLine(pin), line);
  const messageOf = (value: object) => {
    const { pin: changed } = readPin(value);
    assert.ok(changed?.tombstone, JSON.stringify(value));
    return Buffer.from(tombstoneMessage(changed, changed.tombstone)).toString();
  };
  const honest = messageOf(JSON.parse(line));
  const { sig: _, ...stated } = pin.tombstone;
  const { tombstone, ...head } = JSON.parse(line);
  const changes: Record<string, unknown> = { seq: 2, byte_offset: 7, kind: "turn", place: "rye:/" };
  for (const field of Object.keys(head).filter((name) => name !== "v" && name !== "why")) {
    const value =
      changes[field] ?? String(head[field]).replace(/\w$/, (last) => (last === "0" ? "1" : "0"));
    const changed = field === "ts" ? "2026-11-19T10:41:04.596Z" : value;
    assert.notEqual(messageOf({ ...head, [field]: changed, tombstone }), honest, field);
  }
  for (const field of Object.keys(stated)) {
    const changed = field === "at" ? "2027-01-01T00:00:00Z" : "e".repeat(64);
    assert.notEqual(messageOf({ ...head, tombstone: { ...tombstone, [field]: changed } }), honest);
  }
});
