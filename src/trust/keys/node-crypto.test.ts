/** Node crypto, checked against vectors of others and against definitions written out here. */

import assert from "node:assert/strict";
import { createCipheriv, createHash, generateKeyPairSync, sign } from "node:crypto";
import fc from "fast-check";
import { test } from "vitest";
import { sharedFiles } from "../../../test/support/shared-files.ts";
import { SIGNATURE_CASES, signatureCases, wycheproofCases } from "../../../test/support/vectors.ts";
import { nodeCrypto, PARSED_KEYS_MAX } from "./node-crypto.ts";

const wycheproof = sharedFiles("vectors/wycheproof-ed25519.json");

test("every signature that Python judged gets Python's verdict", () => {
  const cases = signatureCases();
  for (const { comment, key, message, signature, isValid } of cases) {
    assert.equal(nodeCrypto.verifyEd25519(key, message, signature), isValid, comment);
  }
  const valid = cases.filter(({ isValid }) => isValid).length;
  assert.deepEqual({ all: cases.length, valid }, SIGNATURE_CASES);
});

if (wycheproof.isThere) {
  test("every Wycheproof case for Ed25519 gets Wycheproof's verdict", () => {
    const cases = wycheproofCases(wycheproof.path);
    for (const { comment, key, message, signature, isValid } of cases) {
      assert.equal(nodeCrypto.verifyEd25519(key, message, signature), isValid, comment);
    }
    assert.equal(cases.length, 151);
  });
}

function newKey() {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  return { raw, sign: (message: Uint8Array) => sign(null, message, privateKey) };
}

test("a flipped bit of a message, a key or a signature invalidates the signature", () => {
  const key = newKey();
  const message = Buffer.from("a head");
  const signature = key.sign(message);
  assert.ok(nodeCrypto.verifyEd25519(key.raw, message, signature));
  for (const part of [key.raw, message, signature]) {
    for (let bit = 0; bit < part.length * 8; bit++) {
      part[bit >> 3] = (part[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.ok(!nodeCrypto.verifyEd25519(key.raw, message, signature), `bit ${bit}`);
      part[bit >> 3] = (part[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    }
  }
  assert.ok(nodeCrypto.verifyEd25519(key.raw, message, signature), "all bits are restored");
});

test("verifying never throws, whatever the bytes and however many", () => {
  const bytes = fc.uint8Array({ maxLength: 80 });
  fc.assert(
    fc.property(bytes, bytes, bytes, (key, message, signature) => {
      assert.equal(nodeCrypto.verifyEd25519(key, message, signature), false);
    }),
    { numRuns: 500 },
  );
});

test("the signature that fits all messages under a key of small order is refused", () => {
  const neutral = Buffer.alloc(32);
  neutral[0] = 1;
  const fitsAll = Buffer.concat([neutral, Buffer.alloc(32)]);
  assert.ok(!nodeCrypto.verifyEd25519(neutral, Buffer.from("anything"), fitsAll));
});

test("keys are verified correctly even when there are more than the cache holds", () => {
  const keys = Array.from({ length: PARSED_KEYS_MAX + 2 }, newKey);
  const message = Buffer.from("a head");
  for (let round = 0; round < 2; round++) {
    for (const [n, key] of keys.entries()) {
      const signature = key.sign(message);
      assert.ok(nodeCrypto.verifyEd25519(key.raw, message, signature));
      const other = keys[(n + 1) % keys.length]?.raw ?? neverEmpty();
      assert.ok(!nodeCrypto.verifyEd25519(other, message, signature));
    }
  }
});

test("a running hash continues independently after it was copied", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 }), (pieces) => {
      const hash = nodeCrypto.runningSha256();
      const before: Uint8Array[] = [];
      for (const piece of pieces) {
        assert.deepEqual(
          hash.copy().digest(),
          Buffer.from(nodeCrypto.sha256(Buffer.concat(before))),
        );
        hash.update(piece);
        before.push(piece);
      }
      const whole = createHash("sha256").update(Buffer.concat(pieces)).digest();
      assert.deepEqual(hash.digest(), whole);
    }),
  );
});

test("AES on counters, in any number of calls, is the key stream of CTR mode", () => {
  const length = { minLength: 32, maxLength: 32 };
  const calls = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 5 });
  fc.assert(
    fc.property(
      fc.uint8Array(length),
      fc.bigInt(0n, 2n ** 64n - 10n),
      calls,
      (key, first, counts) => {
        const encrypt = nodeCrypto.aes256(key);
        for (const count of counts) {
          const counters = Buffer.concat(
            Array.from({ length: count }, (_, n) => counter(first, BigInt(n))),
          );
          const ctr = createCipheriv("aes-256-ctr", key, counter(first, 0n));
          assert.deepEqual(Buffer.from(encrypt(counters)), ctr.update(Buffer.alloc(count * 16)));
        }
      },
    ),
  );
  assert.throws(() => nodeCrypto.aes256(new Uint8Array(32))(new Uint8Array(17)), TypeError);
});

test("a search finds matches within its part of a larger buffer only", () => {
  const large = Buffer.from("needle, hay, needle, hay");
  const part = new Uint8Array(large.buffer, large.byteOffset + 2, large.length - 2);
  const needle = new TextEncoder().encode("needle");
  assert.equal(nodeCrypto.indexOf(part, needle, 0), 11);
  assert.equal(nodeCrypto.indexOf(part, needle, 12), -1);
  assert.equal(nodeCrypto.indexOf(part.subarray(0, 16), needle, 0), -1);
});

function counter(high: bigint, low: bigint): Buffer {
  const block = Buffer.alloc(16);
  block.writeBigUInt64BE(high, 0);
  block.writeBigUInt64BE(low, 8);
  return block;
}

function neverEmpty(): never {
  throw new Error("the list is not empty");
}
