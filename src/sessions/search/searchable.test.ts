import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { withoutEscapes } from "./searchable.ts";

const ESC = "\u001b";

test("escapes of every shape are removed, inside and around words", () => {
  for (const each of [
    `${ESC}[32m`,
    `${ESC}[0m`,
    `${ESC}[K`,
    `${ESC}[?25l`,
    `${ESC}[38;5;196m`,
    "\u009b1m",
    `${ESC}]0;a title\u0007`,
    `${ESC}]8;;http://x${ESC}\\`,
    "\u009dtitle\u009c",
    `${ESC}P1;2q${ESC}\\`,
    `${ESC}(B`,
    `${ESC}=`,
    `${ESC}7`,
    `${ESC}c`,
  ]) {
    assert.equal(withoutEscapes(`${each}gr${each}een${each}`), "green", JSON.stringify(each));
  }
  assert.equal(withoutEscapes("plain [32m text\u0085"), "plain [32m text\u0085");
});

test("text that the cursor was moved between is not one word", () => {
  for (const move of ["[3;20H", "[2C", "[1A", "[1G", "D", "E"]) {
    assert.equal(withoutEscapes(`name${ESC}${move}size`), "name size", move);
  }
});

test("a broken escape takes no word with it", () => {
  assert.equal(withoutEscapes(`a ${ESC}]0;title and more`), "a 0;title and more");
  assert.equal(withoutEscapes(`a ${ESC}]0;title\nmore\u0007`), "a 0;title\nmore\u0007");
  assert.equal(withoutEscapes(`a ${ESC}]0;one${ESC}[1mtwo`), "a 0;onetwo");
  assert.equal(withoutEscapes(`a${ESC}[31\nb`), "a\nb");
  assert.equal(withoutEscapes(`a${ESC}[`), "a");
  assert.equal(withoutEscapes(`a${ESC}`), "a");
  assert.equal(withoutEscapes(`a${ESC}\nb`), "a\nb");
  assert.equal(withoutEscapes(`${ESC}${ESC}[1ma`), "a");
});

test("no ESC is left, and text without one is unchanged", () => {
  const unit = fc.constantFrom(ESC, "[", "]", "3", ";", "m", "\u0007", "\\", "\n", "é", "\u009d");
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 40 }), (units) => {
      const plain = withoutEscapes(units.join(""));
      assert.ok(!plain.includes(ESC) && !plain.includes("\u009d"));
      assert.equal(withoutEscapes(plain), plain);
    }),
  );
});

test("a megabyte of beginnings takes linear time", () => {
  for (const start of [
    ESC,
    `${ESC}]`,
    `${ESC}[1`,
    "\u009d",
    `${ESC}]x `,
    `${ESC}]${"x".repeat(99)}`,
  ]) {
    const text = start.repeat(Math.ceil(2 ** 20 / start.length));
    const began = process.cpuUsage();
    withoutEscapes(text);
    const { user } = process.cpuUsage(began);
    assert.ok(user < 2e6, `${JSON.stringify(start.slice(0, 4))}: ${user} µs`);
  }
  const began = process.cpuUsage();
  withoutEscapes(`${ESC}]${"x".repeat(2 ** 20)}`);
  assert.ok(process.cpuUsage(began).user < 2e6);
});
