import assert from "node:assert/strict";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { findKey, inGroups, KEY_PREFIX_MIN } from "./key-files.ts";

const KEYS = [
  { kid: `${"a".repeat(20)}${"1".repeat(44)}`, fp: "0011223344556677" },
  { kid: `${"a".repeat(20)}${"2".repeat(44)}`, fp: "8899aabbccddeeff" },
  { kid: "b".repeat(64), fp: "0123456789abcdef" },
];
const [first, second, third] = KEYS;

test("a key can be named by its id, a long enough prefix, in groups, or by its fp", () => {
  assert.ok(first && second && third);
  assert.equal(findKey(first.kid, KEYS), first);
  assert.equal(findKey(inGroups(second.kid), KEYS), second);
  assert.equal(findKey(second.kid.slice(0, 21), KEYS), second);
  assert.equal(findKey(third.kid.slice(0, KEY_PREFIX_MIN), KEYS), third);
  assert.equal(findKey("BBBBBBBB", KEYS), third);
  assert.equal(findKey(second.fp, KEYS), second);
});

test("a name that matches no key or several is refused, and the candidates are listed", () => {
  assert.ok(first && second && third);
  for (const name of [
    "",
    "b".repeat(KEY_PREFIX_MIN - 1),
    "cccccccc",
    "../../keys",
    `${third.kid}b`,
  ]) {
    assert.equal(thrownRefusal(() => findKey(name, KEYS), "KEY_NOT_FOUND").details.key, name);
  }
  const { message } = thrownRefusal(() => findKey("aaaaaaaa", KEYS), "KEY_NOT_FOUND");
  assert.ok(message.includes(first.kid) && message.includes(second.kid));
});

test("an id is shown in sixteen groups of four", () => {
  assert.equal(inGroups("0123456789abcdef".repeat(4)).split(" ").length, 16);
  assert.ok(inGroups("0123456789abcdef".repeat(4)).startsWith("0123 4567 89ab cdef 0123"));
});
