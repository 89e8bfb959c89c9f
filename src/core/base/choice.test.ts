import assert from "node:assert/strict";
import { test } from "vitest";
import { checkOptions, momentOf, nearest } from "./choice.ts";

test("a date parses only if that day exists", () => {
  for (const year of ["2023", "2024", "2100", "2000"]) {
    for (let day = 0; day < 13 * 32; day++) {
      const month = Math.floor(day / 32);
      const text = [year, month, day % 32].map((n) => String(n).padStart(2, "0")).join("-");
      const ms = Date.UTC(Number(year), month - 1, day % 32);
      const isDay = new Date(ms).toISOString().startsWith(text);
      assert.equal(momentOf(text), isDay ? ms : Number.NaN, text);
      assert.equal(momentOf(`${text}T23:59:59.5Z`), isDay ? ms + 86_399_500 : Number.NaN, text);
    }
  }
});

test("a time of day parses in any zone and spelling of RFC 3339", () => {
  const ten = Date.UTC(2026, 10, 15, 10);
  for (const text of [
    "2026-11-15T12:00:00+02:00",
    "2026-11-15t10:00:00z",
    "2026-11-15 10:00:00Z",
  ]) {
    assert.equal(momentOf(text), ten, text);
  }
  for (const time of ["24:00:00", "23:60:00", "23:59:60", "25:00:00"]) {
    assert.equal(momentOf(`2026-11-15T${time}Z`), Number.NaN, time);
  }
  for (const text of ["", "x", "2026-11-1", "tomorrow"]) assert.equal(momentOf(text), Number.NaN);
});

test("a mistyped word has a nearest choice, and another word has none", () => {
  const choices = ["daily", "weekly", "sign", "since", "toolDetails"];
  for (const [word, meant] of [
    ["dayly", "daily"],
    ["daly", "daily"],
    ["sing", "sign"],
    ["sinse", "since"],
    ["tool_details", "toolDetails"],
    ["toolDetial", null],
    ["tooldetials", "toolDetails"],
    ["yearly", null],
    ["", null],
    ["x".repeat(100_000), null],
  ] as const) {
    assert.equal(nearest(word, choices), meant, word.slice(0, 20));
  }
  const sign = () => checkOptions("openStore", { sing: true }, { sign: "boolean" } as object);
  assert.throws(sign, /the option sing is not an option of openStore: did you mean sign\?/);
});
