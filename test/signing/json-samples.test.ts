/**
 * The hashes of real thread.json files, written and signed by the original.
 *
 * The files are not part of the package. Where they are missing, this is skipped. Their public key was
 * never published, so only the hashes can be checked.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { formatPythonJson, jsonTree } from "../../src/proof/canonical-json.ts";
import {
  hashWithout,
  judgeJson,
  parseSignature,
  SIGNATURE_FIELD,
} from "../../src/proof/json-signature.ts";
import { isJsonMap, type JsonMap, parseJson } from "../../src/proof/json-tree.ts";
import { nodeCrypto } from "../../src/signing/keys/node-crypto.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { testKey } from "./json-key.ts";

const { path: SAMPLES, isThere: hasSamples } = sharedFiles(
  "samples/rye",
  "real rye threads",
  "checking the hashes of their JSON is",
);
const FILES = 36;
const SIGNED = 35;

function threadFiles(): string[] {
  const names = readdirSync(SAMPLES, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".json"));
  assert.equal(files.length, FILES);
  return files.map((name) => readFileSync(join(SAMPLES, name), "utf8"));
}

function read(text: string): JsonMap {
  const { tree } = parseJson(text);
  assert.ok(isJsonMap(tree));
  return tree;
}

test.skipIf(!hasSamples)("every hash in a real thread.json reproduces", () => {
  let signed = 0;
  for (const text of threadFiles()) {
    const map = read(text);
    const signature = map.get(SIGNATURE_FIELD);
    const verdict = judgeJson(text, testKey(1).judge());
    assert.ok(!verdict.ok);
    if (signature === undefined) {
      assert.equal(verdict.reason, "unsigned");
      continue;
    }
    const parsed = parseSignature(String(signature));
    assert.equal(hashWithout(map, [SIGNATURE_FIELD], nodeCrypto), parsed?.hash);
    // The hash is correct, and only the key is missing.
    assert.deepEqual([verdict.reason, verdict.fp], ["unknown key", "440443d0858f0199"]);
    signed++;
  }
  assert.equal(signed, SIGNED);
});

test.skipIf(!hasSamples)("a real thread.json is written back byte for byte", () => {
  let floats = 0;
  for (const text of threadFiles()) {
    assert.equal(formatPythonJson(read(text)), text);
    // Through JavaScript's numbers too, if the old object is available.
    assert.equal(formatPythonJson(jsonTree(JSON.parse(text), read(text))), text);
    if (formatPythonJson(JSON.parse(text)) !== text) floats++;
  }
  assert.ok(floats > 0, "some hold a 1.0, which JSON.parse does not keep");
});
