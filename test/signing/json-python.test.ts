/**
 * Canonical JSON, compared with Python: forty thousand texts, half of them written by Python
 * in every spelling it reads, half by our own writer.
 */

import assert from "node:assert/strict";
import { test } from "vitest";
import {
  canonicalJson,
  canonicalValue,
  formatPythonJson,
} from "../../src/trust/proof/canonical-json.ts";
import { Random } from "../torture/scheduler.ts";
import { hasPython, runPython } from "./python.ts";

const COUNT = 20_000;
const SEED = 20260218;
/** Some seconds each, on two busy cores. */

test.skipIf(!hasPython)("any text that Python wrote has the canonical form Python gives it", () => {
  const lines = runPython("canonical.py", ["generate", String(SEED), String(COUNT)]);
  assert.equal(lines.length, COUNT);
  for (const [text, expected] of lines as [string, string][]) {
    const { canonical, refusal } = canonicalJson(text);
    // Not only `assert.equal`: it would build a message for each.
    if (canonical !== expected)
      assert.fail(`${JSON.stringify([text, expected, canonical, refusal])}`);
  }
});

test.skipIf(!hasPython)(
  "any value is written as Python writes it, with the same canonical form",
  () => {
    const random = new Random(SEED);
    const values = Array.from({ length: COUNT }, () => randomValue(random, 3));
    const texts = values.map((value) => formatPythonJson(value));
    const answers = runPython(
      "canonical.py",
      ["answer"],
      texts.map((text, n) => (n % 10 === 0 ? [text, "indented"] : [text])),
    ) as [string, string | undefined][];
    assert.equal(answers.length, COUNT);
    for (const [n, [canonical, indented]] of answers.entries()) {
      const text = texts[n] ?? "";
      assert.equal(indented !== undefined, n % 10 === 0);
      if (text !== (indented ?? text)) assert.fail(`written ${text}, by Python ${indented}`);
      if (canonicalValue(values[n]) !== canonical) assert.fail(`${text}, by Python ${canonical}`);
      if (canonicalJson(text).canonical !== canonical) assert.fail(`${text}, read back`);
    }
  },
);

test.skipIf(!hasPython)(
  "the values that we refuse and Python accepts are exactly those listed",
  () => {
    // Each of these is a text that readers interpret differently, or that exceeds a limit of ours.
    const ours = [
      ["duplicate key", '{"a":1,"\\u0061":2}'],
      ["not finite", "NaN"],
      ["not finite", "[-Infinity]"],
      ["not finite", "1e999"],
      ["lone surrogate", '"\\ud800"'],
      ["lone surrogate", '{"\\udc00\\ud800":0}'],
      ["too deep", `${"[".repeat(65)}${"]".repeat(65)}`],
      ["number too long", `1.${"0".repeat(5000)}`],
    ] as const;
    // Python refuses these too.
    const both = ["", "01", "1.", ".5", "+1", "'a'", "[1,]", '{"a":1,}', '"\t"', '"\\x41"', "nul"];
    both.push(
      "\ufeff1",
      "\u00a01",
      "1 2",
      "-",
      "--1",
      "1e",
      "0x1",
      '{"a" 1}',
      "{1:2}",
      '"\\u12G4"',
    );
    const asked = [...ours.map(([, text]) => text), ...both];
    const answers = runPython(
      "canonical.py",
      ["answer"],
      asked.map((text) => [text]),
    ) as [string | null][];
    for (const [n, text] of asked.entries()) {
      const { refusal } = canonicalJson(text);
      const expected = ours[n]?.[0];
      assert.equal(answers[n]?.[0] !== null, expected !== undefined, JSON.stringify(text));
      assert.ok(refusal, JSON.stringify(text));
      if (expected) assert.equal(refusal.reason, expected);
    }
  },
);

test.skipIf(!hasPython)("an integer of 4300 digits is kept, as Python keeps it", () => {
  const text = `[-${"9".repeat(4300)}]`;
  assert.deepEqual(runPython("canonical.py", ["answer"], [[text]]), [[text]]);
  assert.equal(canonicalJson(text).canonical, text);
});

const NAMES = ["__proto__", "constructor", "7", "10", "-1", "", "a", "A", "_signature"];
const RANGES = [
  [0x00, 0x7f],
  [0x61, 0x7a],
  [0x80, 0x7ff],
  [0x2028, 0x2029],
  [0xd7ff, 0xd7ff],
  [0xe000, 0xffff],
  [0x10000, 0x10ffff],
] as const;

function randomText(random: Random): string {
  let text = "";
  for (let left = random.below(5); left > 0; left--) {
    const [first, last] = random.pick(RANGES);
    text += String.fromCodePoint(first + random.below(last - first + 1));
  }
  return text;
}

const bits = new DataView(new ArrayBuffer(8));

function randomNumber(random: Random): number {
  if (random.chance(0.2)) return random.below(1000) - 500;
  if (random.chance(0.2)) return (random.below(2 ** 32) - 2 ** 31) * 2 ** (random.below(60) - 30);
  if (random.chance(0.2)) return Number(`${random.below(1e6)}e${random.below(40) - 20}`);
  bits.setUint32(0, random.below(2 ** 32));
  bits.setUint32(4, random.below(2 ** 32));
  const value = bits.getFloat64(0);
  return Number.isFinite(value) ? value : -0;
}

function randomValue(random: Random, depth: number): unknown {
  const kind = random.unit();
  if (depth > 0 && kind < 0.35) {
    // Without a prototype, so that any name is only a name.
    const object: Record<string, unknown> = Object.create(null);
    for (let left = random.below(5); left > 0; left--) {
      const name = random.chance(0.3) ? random.pick(NAMES) : randomText(random);
      object[name] = randomValue(random, depth - 1);
    }
    return object;
  }
  if (depth > 0 && kind < 0.5) {
    return Array.from({ length: random.below(5) }, () => randomValue(random, depth - 1));
  }
  if (kind < 0.75) return randomNumber(random);
  if (kind < 0.95) return randomText(random);
  return random.chance(0.5) ? null : random.chance(0.5);
}
