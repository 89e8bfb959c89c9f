/**
 * Canonical JSON, compared with what others computed.
 *
 * Our canonical form differs from RFC 8785 (JCS): it prints numbers and non-ASCII characters as
 * Python does, and sorts keys by code point. test/vectors has inputs with both forms, and the text
 * of a file, by Python. The published vectors of JCS are used where they are next to the project:
 * inputs as inputs, outputs where the two forms agree.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { canonicalJson, formatPythonJson } from "../../src/trust/proof/canonical-json.ts";
import { parseJson } from "../../src/trust/proof/json-tree.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { ownVectors } from "../support/vectors.ts";
import { hasPython, runPython } from "./python.ts";

const published = sharedFiles("vectors/jcs/testdata");
const NAMES = ["arrays", "french", "structures", "unicode", "values", "weird"];

function vector(sort: "input" | "output", name: string): Buffer {
  return readFileSync(join(published.path, sort, `${name}.json`));
}

function canonical(input: Uint8Array | string): string {
  const { canonical, refusal } = canonicalJson(input);
  assert.equal(refusal, null);
  return canonical;
}

interface JsonCase {
  readonly kind: string;
  readonly input: string;
  readonly canonical: string;
  readonly file: string;
  readonly jcs: string;
}

const CASES: readonly JsonCase[] = ownVectors("json");

test("each text has the canonical form that Python computed, which is stable", () => {
  assert.equal(CASES.length, 57);
  for (const { input, canonical: expected } of CASES) {
    assert.equal(canonical(input), expected, input);
    assert.equal(canonical(Buffer.from(input)), expected, input);
    assert.equal(canonical(expected), expected, input);
  }
});

test("each value is written to a file as Python writes it", () => {
  for (const { file, canonical: expected } of CASES) {
    const { tree, refusal } = parseJson(file);
    assert.equal(refusal, null);
    assert.equal(formatPythonJson(tree), file);
    assert.equal(canonical(file), expected);
  }
});

test("the two canonical forms of a text have the same value", () => {
  for (const { canonical: ours, jcs } of CASES) {
    // Printed once more, since JCS has no -0.
    assert.deepEqual(JSON.parse(JSON.stringify(JSON.parse(ours))), JSON.parse(jcs), ours);
  }
});

test("JCS of the vectors is what JavaScript prints: Python is right about numbers there", () => {
  for (const { kind, input, jcs } of CASES) {
    if (kind !== "keys" && kind !== "structures") {
      assert.equal(JSON.stringify(JSON.parse(input)), jcs, input);
    }
  }
});

test("for small integers and ASCII the two forms of the vectors are identical", () => {
  const plain = CASES.filter(({ input }) => /^[^.eE\\\u007f-\uffff]{1,40}$/.test(input));
  assert.ok(plain.length >= 9);
  const other = plain.filter(({ canonical: ours, jcs }) => ours !== jcs);
  // Integers that a double cannot hold: JCS rounds them.
  assert.deepEqual(
    other.map(({ input }) => input),
    ["9007199254740993", "18446744073709551616"],
  );
});

test("a surrogate pair sorts after U+FB33 in a vector, and before it in its JCS", () => {
  const found = CASES.find(({ input }) => input.includes("\u{1f602}")) ?? assert.fail();
  const keys = (text: string) => Object.keys(JSON.parse(text));
  assert.deepEqual(keys(canonical(found.input)).slice(-2), ["\ufb33", "\u{1f602}"]);
  assert.deepEqual(keys(found.jcs).slice(-2), ["\u{1f602}", "\ufb33"]);
});

if (published.isThere) {
  test.skipIf(!hasPython)("each JCS input has Python's canonical form", () => {
    const names = readdirSync(join(published.path, "input"), { encoding: "utf8" }).sort();
    assert.deepEqual(
      names,
      NAMES.map((name) => `${name}.json`),
    );
    const texts = NAMES.map((name) => [vector("input", name).toString("utf8")]);
    const answers = runPython("canonical.py", ["answer"], texts) as [string][];
    for (const [n, name] of NAMES.entries()) {
      assert.equal(canonical(vector("input", name)), answers[n]?.[0], name);
    }
  });

  test("each JCS input has the same value in both forms, and our form is stable", () => {
    for (const name of NAMES) {
      const ours = canonical(vector("input", name));
      assert.deepEqual(JSON.parse(ours), JSON.parse(vector("output", name).toString("utf8")), name);
      assert.equal(canonical(ours), ours, name);
    }
  });

  test("for integers and ASCII the two forms are identical", () => {
    assert.equal(canonical(vector("input", "arrays")), vector("output", "arrays").toString("utf8"));
    // Except one number: JCS writes the 56.0 of its input as 56, as JavaScript does.
    assert.equal(
      canonical(vector("input", "structures")).replace("56.0", "56"),
      vector("output", "structures").toString("utf8"),
    );
  });

  test("a surrogate pair sorts after U+FB33, and before it in JCS", () => {
    const keys = (text: string) => Object.keys(JSON.parse(text));
    const ours = keys(canonical(vector("input", "weird")));
    assert.deepEqual(ours.slice(-2), ["\ufb33", "\u{1f602}"]);
    const theirs = keys(vector("output", "weird").toString("utf8"));
    assert.deepEqual(theirs.slice(-2), ["\u{1f602}", "\ufb33"]);
  });
}
