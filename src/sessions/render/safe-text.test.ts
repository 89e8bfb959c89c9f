import assert from "node:assert/strict";
import { test } from "vitest";
import { safeLine, safeText } from "./text.ts";

/** Characters that must never reach a terminal, defined a second time in another way. */
function isActing(code: number): boolean {
  if (code === 0x09 || code === 0x0a) return false;
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
  return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

test("exactly the characters that act on a terminal are escaped (SX1)", () => {
  for (let code = 0; code <= 0xffff; code++) {
    const character = String.fromCharCode(code);
    const shown = isActing(code) ? `\\u${code.toString(16).padStart(4, "0")}` : character;
    assert.equal(safeText(`a${character}b`), `a${shown}b`);
    assert.equal(safeLine(character).includes("\n"), false);
  }
  assert.equal(safeText("😀 é 日本"), "😀 é 日本");
  assert.equal(safeLine("a\tb\nc"), "a\\u0009b\\u000ac");
});

test("escaped JSON parses to the same value (SX2)", () => {
  const value = { "\u009b\u202e": ["\u001b[2J", "\u2028", "\u007f", "\\u001b", "\n\t"] };
  const json = safeText(JSON.stringify(value));
  assert.deepEqual(JSON.parse(json), value);
  assert.equal(safeText(json), json);
});
