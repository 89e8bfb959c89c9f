/**
 * The tree and its proofs, compared with the definition of RFC 6962, 2.1, written out literally.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { test } from "vitest";
import { isConsistent, isIncluded, MerkleTree, proveInclusion } from "./merkle.ts";

const crypto = { sha256: (bytes: Uint8Array) => createHash("sha256").update(bytes).digest() };

/** 2.1: MTH, over leaf hashes. */
function root(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return crypto.sha256(Buffer.alloc(0));
  if (leaves.length === 1) return leaves[0] as Uint8Array;
  const k = largestPowerOfTwoBelow(leaves.length);
  return node(root(leaves.slice(0, k)), root(leaves.slice(k)));
}

/** 2.1.1: PATH(m, D[n]). */
function path(m: number, leaves: readonly Uint8Array[]): Uint8Array[] {
  if (leaves.length === 1) return [];
  const k = largestPowerOfTwoBelow(leaves.length);
  return m < k
    ? [...path(m, leaves.slice(0, k)), root(leaves.slice(k))]
    : [...path(m - k, leaves.slice(k)), root(leaves.slice(0, k))];
}

/** 2.1.2: SUBPROOF(m, D[n], b). */
function subproof(m: number, leaves: readonly Uint8Array[], isWhole: boolean): Uint8Array[] {
  if (m === leaves.length) return isWhole ? [] : [root(leaves)];
  const k = largestPowerOfTwoBelow(leaves.length);
  return m <= k
    ? [...subproof(m, leaves.slice(0, k), isWhole), root(leaves.slice(k))]
    : [...subproof(m - k, leaves.slice(k), false), root(leaves.slice(0, k))];
}

function node(left: Uint8Array, right: Uint8Array): Uint8Array {
  return crypto.sha256(Buffer.concat([Buffer.of(1), left, right]));
}

function largestPowerOfTwoBelow(n: number): number {
  return 2 ** Math.floor(Math.log2(n - 1));
}

function leaf(n: number): Uint8Array {
  return crypto.sha256(Buffer.from(`leaf ${n}`));
}

function hex(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}

function leavesUpTo(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, n) => leaf(n));
}

function treeOf(leaves: readonly Uint8Array[]): MerkleTree {
  const tree = new MerkleTree(crypto);
  for (const each of leaves) tree.push(each);
  return tree;
}

const SIZE_MAX = 40;

test("the root is RFC 6962's, at every size", () => {
  const tree = new MerkleTree(crypto);
  for (let size = 0; size <= 300; size++) {
    assert.equal(tree.size, size);
    assert.equal(hex(tree.root()), hex(root(leavesUpTo(size))), `${size}`);
    tree.push(leaf(size));
  }
});

test("reading the root changes nothing, and a copy is independent", () => {
  for (let size = 0; size < SIZE_MAX; size++) {
    const tree = treeOf(leavesUpTo(size));
    const before = tree.root();
    before.fill(0); // The returned buffer belongs to the caller.
    const copy = tree.copy();
    copy.push(leaf(1000));
    copy.push(leaf(1001));

    assert.equal(hex(tree.root()), hex(root(leavesUpTo(size))));
    const grown = [...leavesUpTo(size), leaf(1000), leaf(1001)];
    assert.equal(hex(copy.root()), hex(root(grown)));
  }
});

test("reusing a leaf's buffer does not change the tree", () => {
  const buffer = Buffer.from(leaf(0));
  const tree = new MerkleTree(crypto);
  for (let n = 0; n < 5; n++) {
    buffer.set(leaf(n));
    tree.push(buffer);
  }
  assert.equal(hex(tree.root()), hex(root(leavesUpTo(5))));
});

test("a leaf that is not 32 bytes is a TypeError", () => {
  for (const bytes of [0, 31, 33]) {
    assert.throws(() => new MerkleTree(crypto).push(Buffer.alloc(bytes)), TypeError);
  }
});

test("a proof of inclusion is RFC 6962's and holds, for every leaf of every tree", () => {
  for (let size = 1; size <= SIZE_MAX; size++) {
    const leaves = leavesUpTo(size);
    for (let index = 0; index < size; index++) {
      const proof = proveInclusion(crypto, leaves, index);
      assert.deepEqual(proof.map(hex), path(index, leaves).map(hex));
      const claim = { leaf: leaf(index), index, size, root: root(leaves), proof };
      assert.ok(isIncluded(crypto, claim), `${index} of ${size}`);
      for (let other = 0; other <= size + 1; other++) {
        if (other !== index) assert.ok(!isIncluded(crypto, { ...claim, index: other }));
      }
    }
  }
});

test("a proof of consistency holds, for every two trees, and for no others", () => {
  for (let size2 = 1; size2 <= SIZE_MAX; size2++) {
    const leaves = leavesUpTo(size2);
    const root2 = root(leaves);
    for (let size1 = 1; size1 <= size2; size1++) {
      const proof = subproof(size1, leaves, true);
      const root1 = root(leaves.slice(0, size1));
      const claim = { size1, root1, size2, root2, proof };
      assert.ok(isConsistent(crypto, claim), `${size1} of ${size2}`);
      assert.ok(!isConsistent(crypto, { ...claim, root1: leaf(0).map((byte) => byte ^ 1) }));
      assert.ok(!isConsistent(crypto, { ...claim, root2: leaf(0).map((byte) => byte ^ 1) }));
      assert.ok(!isConsistent(crypto, { ...claim, size1: 0 }));
      assert.ok(!isConsistent(crypto, { ...claim, size1: size2 + 1 }));
    }
  }
});

test("every flipped bit, missing and doubled hash makes a proof false", () => {
  for (const [index, size] of [
    [0, 8],
    [6, 7],
    [4, 5],
    [2, 3],
  ] as const) {
    const leaves = leavesUpTo(size);
    const proof = proveInclusion(crypto, leaves, index);
    const claim = { leaf: leaf(index), index, size, root: root(leaves), proof };
    const consistency = {
      size1: index + 1,
      root1: root(leaves.slice(0, index + 1)),
      size2: size,
      root2: root(leaves),
      proof: subproof(index + 1, leaves, true),
    };
    for (const broken of brokenProofs(proof)) {
      assert.ok(!isIncluded(crypto, { ...claim, proof: broken }));
    }
    if (index + 1 === size) continue;
    for (const broken of brokenProofs(consistency.proof)) {
      assert.ok(!isConsistent(crypto, { ...consistency, proof: broken }));
    }
  }
});

function* brokenProofs(proof: readonly Uint8Array[]): Generator<Uint8Array[]> {
  for (let at = 0; at <= proof.length; at++) {
    yield [...proof.slice(0, at), leaf(99), ...proof.slice(at)];
    const hash = proof[at];
    if (!hash) continue;
    yield proof.toSpliced(at, 1);
    yield proof.toSpliced(at, 0, hash);
    for (let bit = 0; bit < 256; bit++) {
      const flipped = Uint8Array.from(hash);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      yield proof.with(at, flipped);
    }
  }
}

test("judging anything as a proof never throws", () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  const count = fc.oneof(fc.nat(), fc.double(), fc.maxSafeInteger(), fc.constant(2 ** 64));
  const proof = fc.array(fc.oneof(bytes, fc.uint8Array({ minLength: 32, maxLength: 32 })));
  fc.assert(
    fc.property(bytes, bytes, count, count, proof, (one, other, a, b, hashes) => {
      const inclusion = { leaf: one, root: other, index: a, size: b, proof: hashes };
      assert.equal(isIncluded(crypto, inclusion), false);
      const consistency = { root1: one, root2: other, size1: a, size2: b, proof: hashes };
      const isTrivial = a === b && hashes.length === 0 && Buffer.compare(one, other) === 0;
      assert.ok(!isConsistent(crypto, consistency) || isTrivial);
    }),
    { examples: [[leaf(0), leaf(1), 0, 2 ** 53 - 1, Array(1_000_000).fill(leaf(2))]] },
  );
});
