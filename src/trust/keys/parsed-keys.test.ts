import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "vitest";
import { ParsedKeys } from "./node-crypto.ts";
import { rawPublicKey } from "./pem.ts";

function newKeys(count: number): Uint8Array[] {
  return Array.from({ length: count }, () =>
    rawPublicKey(generateKeyPairSync("ed25519").publicKey),
  );
}

test("a key is parsed once, whichever buffer holds its bytes", () => {
  const parsed = new ParsedKeys();
  const [raw = new Uint8Array(0)] = newKeys(1);
  const key = parsed.get(raw);
  assert.ok(key);
  assert.deepEqual(rawPublicKey(key), raw);
  assert.equal(parsed.get(raw), key);
  assert.equal(parsed.get(Uint8Array.of(...raw)), key);
  assert.equal(parsed.get(Uint8Array.of(0, ...raw, 0).subarray(1, 33)), key);
  assert.equal(parsed.size, 1);
});

test("bytes that are not a key are refused, also the second time", () => {
  const parsed = new ParsedKeys();
  for (const bytes of [new Uint8Array(32), new Uint8Array(0), new Uint8Array(33).fill(9)]) {
    assert.equal(parsed.get(bytes), null);
    assert.equal(parsed.get(bytes), null);
  }
});

test("at most the limit of keys is kept, and the least recently used is dropped first", () => {
  const parsed = new ParsedKeys(3);
  const [a, b, c, d] = newKeys(4);
  assert.ok(a && b && c && d);
  const [first, second] = [parsed.get(a), parsed.get(b)];
  parsed.get(c);
  assert.equal(parsed.size, 3, "at the limit all are kept");
  parsed.get(a); // Now b is the least recently used.
  parsed.get(d);
  assert.equal(parsed.size, 3);
  assert.equal(parsed.get(a), first);
  assert.notEqual(parsed.get(b), second, "it was parsed again");
});
