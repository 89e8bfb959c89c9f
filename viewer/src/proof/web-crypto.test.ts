/** The browser's crypto, compared with Node's own and with vectors of others. */

import assert from "node:assert/strict";
import { generateKeyPairSync, sign, webcrypto } from "node:crypto";
import fc from "fast-check";
import { test } from "vitest";
import { proofCrypto } from "../../../test/support/proof-crypto.ts";
import { sharedFiles } from "../../../test/support/shared-files.ts";
import {
  SIGNATURE_CASES,
  type SignatureCase,
  signatureCases,
  wycheproofCases,
} from "../../../test/support/vectors.ts";
import { type Subtle, WebProofCrypto } from "./web-crypto.ts";

const wycheproof = sharedFiles("vectors/wycheproof-ed25519.json");
const subtle = webcrypto.subtle as unknown as Subtle;
const bytes = (from: Uint8Array) => Buffer.from(from).toString("hex");

test("SHA-256 equals Node's, in any pieces, and a copy is independent", () => {
  const crypto = new WebProofCrypto(subtle);
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 }), (pieces) => {
      const hash = crypto.runningSha256();
      let before = Buffer.alloc(0);
      for (const piece of pieces) {
        assert.equal(bytes(hash.copy().digest()), bytes(proofCrypto.sha256(before)));
        hash.update(piece);
        before = Buffer.concat([before, piece]);
      }
      assert.equal(bytes(hash.digest()), bytes(proofCrypto.sha256(before)));
    }),
  );
  // Every length around the edges of blocks.
  for (let length = 0; length < 260; length++) {
    const input = new Uint8Array(length).fill(length);
    assert.equal(bytes(crypto.sha256(input)), bytes(proofCrypto.sha256(input)), `${length}`);
  }
});

test("AES-256 equals Node's, call after call", () => {
  const crypto = new WebProofCrypto(subtle);
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const blocks = fc.uint8Array({ minLength: 48, maxLength: 48 });
  fc.assert(
    fc.property(key, blocks, (key, blocks) => {
      const [web, node] = [crypto.aes256(key), proofCrypto.aes256(key)];
      assert.equal(bytes(web(blocks)), bytes(node(blocks)));
      assert.equal(bytes(web(blocks.subarray(7, 23))), bytes(node(blocks.subarray(7, 23))));
    }),
  );
  assert.throws(() => crypto.aes256(new Uint8Array(32))(new Uint8Array(17)), TypeError);
});

test("a search finds the same as Node's", () => {
  const crypto = new WebProofCrypto(subtle);
  const letters = fc.uint8Array({ max: 2, maxLength: 30 });
  const needle = fc.uint8Array({ max: 2, minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(letters, needle, fc.nat(32), (hay, needle, from) => {
      assert.equal(crypto.indexOf(hay, needle, from), proofCrypto.indexOf(hay, needle, from));
    }),
    { numRuns: 500 },
  );
});

async function holds(key: Uint8Array, message: Uint8Array, signature: Uint8Array, by = subtle) {
  const crypto = new WebProofCrypto(by);
  await crypto.ahead(key, message, signature);
  return crypto.verifyEd25519(key, message, signature);
}

async function checkVerdicts(cases: readonly SignatureCase[]): Promise<void> {
  for (const { comment, key, message, signature, isValid } of cases) {
    assert.equal(await holds(key, message, signature), isValid, comment);
  }
}

test("every signature that Python judged gets Python's verdict", async () => {
  const cases = signatureCases();
  await checkVerdicts(cases);
  assert.equal(cases.length, SIGNATURE_CASES.all);
});

if (wycheproof.isThere) {
  test("every Wycheproof case for Ed25519 gets Wycheproof's verdict", async () => {
    const cases = wycheproofCases(wycheproof.path);
    await checkVerdicts(cases);
    assert.equal(cases.length, 151);
  });
}

test("a signature is valid only when it was checked in advance, under this key and message", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const message = Buffer.from("a head");
  const signature = sign(null, message, privateKey);
  const crypto = new WebProofCrypto(subtle);
  assert.ok(!crypto.verifyEd25519(key, message, signature), "not checked in advance");
  await crypto.ahead(key, message, signature);
  assert.ok(crypto.verifyEd25519(key, message, signature));
  for (const part of [key, message, signature]) {
    for (let bit = 0; bit < part.length * 8; bit += 3) {
      part[bit >> 3] = (part[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      await crypto.ahead(key, message, signature);
      assert.ok(!crypto.verifyEd25519(key, message, signature), `bit ${bit}`);
      part[bit >> 3] = (part[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    }
  }
});

test("nothing is valid under a key of small order, nor without Ed25519 in the browser", async () => {
  const neutral = Buffer.alloc(32);
  neutral[0] = 1;
  assert.ok(!(await holds(neutral, Buffer.from("x"), Buffer.concat([neutral, Buffer.alloc(32)]))));
  const none: Subtle = {
    importKey: () => Promise.reject(new DOMException("unknown", "NotSupportedError")),
    verify: () => Promise.reject(new DOMException("unknown", "NotSupportedError")),
  };
  assert.equal(await new WebProofCrypto(none).canVerify(), false);
  assert.equal(await new WebProofCrypto(subtle).canVerify(), true);
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const message = Buffer.from("a head");
  assert.ok(!(await holds(key, message, sign(null, message, privateKey), none)));
});
