/**
 * The test vectors of RFC 8785 (JCS), from which our canonical form differs: it prints numbers and
 * non-ASCII characters as Python does, and sorts keys by code point. So the inputs are used as inputs,
 * with Python for the expected results, and the outputs are compared where the two forms agree.
 *
 * The vectors are not part of the package. Where they are missing, this is skipped.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { canonicalJson } from "../../src/proof/canonical-json.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { hasPython, runPython } from "./python.ts";

const { path: VECTORS, isThere: hasVectors } = sharedFiles(
  "vectors/jcs/testdata",
  "JCS vectors",
  "the tests that use them are",
);
const NAMES = ["arrays", "french", "structures", "unicode", "values", "weird"];

function vector(sort: "input" | "output", name: string): Buffer {
  return readFileSync(join(VECTORS, sort, `${name}.json`));
}

function canonical(input: Uint8Array | string): string {
  const { canonical, refusal } = canonicalJson(input);
  assert.equal(refusal, null);
  return canonical;
}

test.skipIf(!hasVectors || !hasPython)("each JCS input has Python's canonical form", () => {
  const names = readdirSync(join(VECTORS, "input"), { encoding: "utf8" }).sort();
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

test.skipIf(!hasVectors)(
  "each JCS input has the same value in both forms, and our form is stable",
  () => {
    for (const name of NAMES) {
      const ours = canonical(vector("input", name));
      assert.deepEqual(JSON.parse(ours), JSON.parse(vector("output", name).toString("utf8")), name);
      assert.equal(canonical(ours), ours, name);
    }
  },
);

test.skipIf(!hasVectors)("for integers and ASCII the two forms are identical", () => {
  assert.equal(canonical(vector("input", "arrays")), vector("output", "arrays").toString("utf8"));
  // Except one number: JCS writes the 56.0 of its input as 56, as JavaScript does.
  assert.equal(
    canonical(vector("input", "structures")).replace("56.0", "56"),
    vector("output", "structures").toString("utf8"),
  );
});

test.skipIf(!hasVectors)("a surrogate pair sorts after U+FB33, and before it in JCS", () => {
  const keys = (text: string) => Object.keys(JSON.parse(text));
  const ours = keys(canonical(vector("input", "weird")));
  assert.deepEqual(ours.slice(-2), ["\ufb33", "\u{1f602}"]);
  const theirs = keys(vector("output", "weird").toString("utf8"));
  assert.deepEqual(theirs.slice(-2), ["\u{1f602}", "\ufb33"]);
});
