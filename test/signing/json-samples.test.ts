/**
 * The hashes of thread.json files, written and signed as the original does: our own, whose key is
 * known, and public ones. Their public key was never published, so only the hashes can be checked.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { parsePublicPem } from "../../src/trust/keys/pem.ts";
import { formatPythonJson, jsonTree } from "../../src/trust/proof/canonical-json.ts";
import type { KeyAnswer } from "../../src/trust/proof/ed25519-keys.ts";
import {
  hashWithout,
  judgeJson,
  parseSignature,
  SIGNATURE_FIELD,
} from "../../src/trust/proof/json-signature.ts";
import { isJsonMap, type JsonMap, parseJson } from "../../src/trust/proof/json-tree.ts";
import { OWN_KEY_PEM, RYE_THREADS } from "../support/rye-threads.ts";
import { testKey } from "./json-key.ts";

const FACTS = {
  own: { files: 5, signed: 4, fp: fingerprintOf(readFileSync(OWN_KEY_PEM)) },
  public: { files: 36, signed: 35, fp: "440443d0858f0199" },
};

/** As the original computes it: of the PEM, not of the key. */
function fingerprintOf(pem: Uint8Array): string {
  return createHash("sha256").update(pem).digest("hex").slice(0, 16);
}

function threadFiles(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".json"));
  return files.map((name) => readFileSync(join(directory, name), "utf8"));
}

function read(text: string): JsonMap {
  const { tree } = parseJson(text);
  assert.ok(isJsonMap(tree));
  return tree;
}

describe.each(RYE_THREADS)("%s threads", (name, directory) => {
  const facts = FACTS[name];
  const texts = threadFiles(directory);
  assert.equal(texts.length, facts.files);

  test("every hash in a thread.json reproduces", () => {
    let signed = 0;
    for (const text of texts) {
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
      assert.deepEqual([verdict.reason, verdict.fp], ["unknown key", facts.fp]);
      signed++;
    }
    assert.equal(signed, facts.signed);
  });

  test("a thread.json is written back byte for byte", () => {
    let floats = 0;
    for (const text of texts) {
      assert.equal(formatPythonJson(read(text)), text);
      // Through JavaScript's numbers too, if the old object is available.
      assert.equal(formatPythonJson(jsonTree(JSON.parse(text), read(text))), text);
      if (formatPythonJson(JSON.parse(text)) !== text) floats++;
    }
    assert.ok(floats > 0, "some hold a 1.0, which JSON.parse does not keep");
  });
});

test("our own thread.json files verify with their key, and none after a change", () => {
  const pem = readFileSync(OWN_KEY_PEM, "utf8");
  const { value: publicKey } = parsePublicPem(pem);
  assert.ok(publicKey);
  const { fp } = FACTS.own;
  const known: KeyAnswer = { publicKey, kid: "", fp, owner: "python", refusal: null };
  const judge = { crypto: nodeCrypto, keys: { byFp: () => known, byKid: () => known } };
  const [[, directory] = assert.fail()] = RYE_THREADS;
  const signed = threadFiles(directory).filter((text) => text.includes(SIGNATURE_FIELD));
  assert.equal(signed.length, FACTS.own.signed);
  for (const text of signed) {
    assert.equal(judgeJson(text, judge).ok, true);
    const changed = text.replace("garden-1-small", "garden-1-large");
    assert.notEqual(changed, text);
    assert.equal(judgeJson(changed, judge).ok, false);
  }
});
