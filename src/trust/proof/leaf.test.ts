/** Leaves as the format page defines them, computed a second time in another way. */

import assert from "node:assert/strict";
import { createCipheriv, createHash } from "node:crypto";
import fc from "fast-check";
import { test } from "vitest";
import { proofCrypto as crypto } from "../../../test/support/proof-crypto.ts";
import { findParts, LeafHasher } from "./leaf.ts";

const SALT = Buffer.alloc(32, 7);

/** The leaf of a line from the text of the page: one hash, and OpenSSL's CTR mode. */
function leafByThePage(line: Buffer, index: number, parts: readonly (readonly [number, number])[]) {
  const counter = Buffer.alloc(16);
  counter.writeBigUInt64BE(BigInt(index));
  const stream = createCipheriv("aes-256-ctr", SALT, counter).update(
    Buffer.alloc(16 * (parts.length + 1)),
  );
  const saltOf = (part: number) => stream.subarray(16 * part, 16 * part + 16);
  const hash = createHash("sha256")
    .update(Uint8Array.of(0))
    .update(saltOf(0))
    .update(u32(parts.length));
  const rest: Buffer[] = [];
  let from = 0;
  for (const [n, [at, length]] of parts.entries()) {
    const contents = line.subarray(at, at + length);
    const withheld = Buffer.concat([Uint8Array.of(2), saltOf(n + 1), contents]);
    hash.update(u32(at)).update(u32(length)).update(createHash("sha256").update(withheld).digest());
    rest.push(line.subarray(from, at));
    from = at + length;
  }
  for (const piece of [...rest, line.subarray(from)]) hash.update(piece);
  return hash.digest("hex");
}

function u32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}

function leafOf(line: Uint8Array, index: number, parts = 8): string {
  return Buffer.from(new LeafHasher(crypto, SALT, parts).leaf(line, index)).toString("hex");
}

test("a leaf is as the format page defines it, with parts and without, at any line", () => {
  const line = Buffer.from('{"a":"12345678","b":"short","c":"a longer one"}');
  const parts = [
    [6, 8],
    [line.indexOf("a longer"), 12],
  ] as const;
  for (const index of [0, 1, 255, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1]) {
    assert.equal(leafOf(line, index), leafByThePage(line, index, parts), `line ${index}`);
    assert.equal(leafOf(line, index, 0), leafByThePage(line, index, []), `line ${index}, whole`);
  }
  assert.equal(leafOf(Buffer.alloc(0), 0), leafByThePage(Buffer.alloc(0), 0, []));
});

test("a part is the contents of a string at the least length, and not one byte below it", () => {
  const strings = (line: string, bytesMin: number) =>
    findParts(Buffer.from(line), bytesMin).map(({ at, length }) =>
      Buffer.from(line)
        .subarray(at, at + length)
        .toString(),
    );
  assert.deepEqual(strings('{"key":"1234567"}', 8), []);
  assert.deepEqual(strings('{"key":"12345678"}', 8), ["12345678"]);
  assert.deepEqual(strings('{"a long key":"éééé"}', 8), ["a long key", "éééé"]);
  assert.deepEqual(strings('["12345678","12345678"]', 8), ["12345678", "12345678"]);
  assert.deepEqual(strings('{"key":"12345678"}', 0), [], "0 finds no parts");
});

test("a quote ends a string only after an even run of backslashes, and an unclosed one ends the scan", () => {
  const strings = (line: string) =>
    findParts(Buffer.from(line), 1).map(({ at, length }) => line.slice(at, at + length));
  assert.deepEqual(strings(String.raw`"a\"b"`), [String.raw`a\"b`]);
  assert.deepEqual(strings(String.raw`"a\\"b"c"`), [String.raw`a\\`, "c"]);
  assert.deepEqual(strings(String.raw`"a\\\"b"`), [String.raw`a\\\"b`]);
  assert.deepEqual(
    strings(String.raw`\"a"`),
    ["a"],
    "a backslash outside of strings escapes nothing",
  );
  assert.deepEqual(strings('"a" "never closed'), ["a"]);
  assert.deepEqual(strings(String.raw`"a" "b\"`), ["a"]);
  assert.deepEqual(strings('""'), []);
});

test("parts are in order, disjoint and between quotes, whatever the bytes", () => {
  const line = fc
    .array(fc.constantFrom(...'"\\a{}:,é'), { maxLength: 60 })
    .map((all) => all.join(""));
  fc.assert(
    fc.property(line, fc.integer({ min: 1, max: 5 }), (text, bytesMin) => {
      const bytes = Buffer.from(text);
      let end = 0;
      for (const { at, length } of findParts(bytes, bytesMin)) {
        assert.ok(at > end && length >= bytesMin && at + length < bytes.length);
        assert.equal(bytes[at - 1], 0x22);
        assert.equal(bytes[at + length], 0x22);
        end = at + length;
      }
    }),
  );
});

test("a line with any byte changed, deleted or added, or at another index, has another leaf", () => {
  const line = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => {
    // Random bytes rarely have quotes, and so no parts.
    return Buffer.concat([Buffer.from('{"a":"0123456789","b":"'), bytes, Buffer.from('"}')]);
  });
  fc.assert(
    fc.property(line, fc.nat(), fc.integer({ min: 1, max: 255 }), (bytes, where, change) => {
      const at = where % bytes.length;
      const leaf = leafOf(bytes, 3);
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ change;
      const less = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
      const more = Buffer.concat([bytes.subarray(0, at), Buffer.of(change), bytes.subarray(at)]);
      for (const other of [changed, less, more]) assert.notEqual(leafOf(other, 3), leaf);
      assert.notEqual(leafOf(bytes, 4), leaf);
      assert.equal(leafOf(bytes, 3), leaf);
    }),
    { numRuns: 300 },
  );
});

test("a line's leaf does not depend on the lines hashed before, longer ones among them", () => {
  const hasher = new LeafHasher(crypto, SALT, 8);
  const lines = [10, 5000, 20_000, 3].map((length) => Buffer.from(`{"a":"${"x".repeat(length)}"}`));
  for (const [index, line] of [...lines, ...lines].entries()) {
    assert.equal(Buffer.from(hasher.leaf(line, index)).toString("hex"), leafOf(line, index));
  }
});

test("a line's leaf does not depend on the indexes hashed before, however many parts it has", () => {
  const place = fc.oneof(fc.nat({ max: 40 }), fc.maxSafeNat());
  const asked = fc.record({ index: place, strings: fc.nat({ max: 6 }) });
  fc.assert(
    fc.property(fc.array(asked, { minLength: 1, maxLength: 20 }), (all) => {
      const hasher = new LeafHasher(crypto, SALT, 8);
      for (const { index, strings } of all) {
        const line = Buffer.from(JSON.stringify(Array(strings).fill("long enough")));
        assert.equal(Buffer.from(hasher.leaf(line, index)).toString("hex"), leafOf(line, index));
      }
    }),
  );
});
