/**
 * Published proofs, good and malformed, are judged as their publisher judges them.
 *
 * They are not part of the package. Where they are missing, these tests are skipped.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { sharedFiles } from "../../test/support/shared-files.ts";
import { isConsistent, isIncluded } from "./merkle.ts";

const crypto = { sha256: (bytes: Uint8Array) => createHash("sha256").update(bytes).digest() };

const { path: VECTORS, isThere: hasVectors } = sharedFiles(
  "vectors/merkle/testdata",
  "vectors of Merkle proofs",
  "the tests that read them are",
);

interface Vector {
  readonly name: string;
  readonly wantErr: boolean;
  readonly proof: readonly Uint8Array[];
  number(key: string): number;
  bytes(key: string): Uint8Array;
}

function vectors(kind: string): Vector[] {
  const names = readdirSync(join(VECTORS, kind), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".json"))
    .map((name) => {
      const value = JSON.parse(readFileSync(join(VECTORS, kind, name), "utf8"));
      return {
        name: `${kind}/${name}`,
        wantErr: value.wantErr,
        proof: (value.proof ?? []).map((hash: string) => Buffer.from(hash, "base64")),
        number: (key) => value[key],
        bytes: (key) => Buffer.from(value[key], "base64"),
      };
    });
}

/** Judges every vector as its publisher does; returns how many were good and how many not. */
function judge(all: readonly Vector[], isTrue: (vector: Vector) => boolean): [number, number] {
  for (const vector of all) assert.equal(isTrue(vector), !vector.wantErr, vector.name);
  return [
    all.filter(({ wantErr }) => !wantErr).length,
    all.filter(({ wantErr }) => wantErr).length,
  ];
}

test.skipIf(!hasVectors)("the published proofs of inclusion are judged as published", () => {
  const judged = judge(vectors("inclusion"), (vector) =>
    isIncluded(crypto, {
      leaf: vector.bytes("leafHash"),
      index: vector.number("leafIdx"),
      size: vector.number("treeSize"),
      root: vector.bytes("root"),
      proof: vector.proof,
    }),
  );
  assert.deepEqual(judged, [6, 92]);
});

test.skipIf(!hasVectors)("the published proofs of consistency are judged as published", () => {
  const judged = judge(vectors("consistency"), (vector) =>
    isConsistent(crypto, {
      size1: vector.number("size1"),
      root1: vector.bytes("root1"),
      size2: vector.number("size2"),
      root2: vector.bytes("root2"),
      proof: vector.proof,
    }),
  );
  assert.deepEqual(judged, [6, 92]);
});

// The other two sets are of a later draft, about subtrees. Those that begin at the first leaf are
// proofs of RFC 6962, and a leaf's index in any subtree is its index in a tree of its own.

test.skipIf(!hasVectors)(
  "published proofs of inclusion in a subtree hold in a tree like it",
  () => {
    const judged = judge(vectors("subtreeinclusion").filter(isSubtree), (vector) =>
      isIncluded(crypto, {
        leaf: vector.bytes("leafHash"),
        index: vector.number("leafIdx") - vector.number("start"),
        size: vector.number("end") - vector.number("start"),
        root: vector.bytes("root"),
        proof: vector.proof,
      }),
    );
    assert.deepEqual(judged, [12, 173]);
  },
);

test.skipIf(!hasVectors)(
  "published proofs for a first subtree are proofs of consistency here",
  () => {
    const all = vectors("subtreeconsistency").filter(
      (vector) => vector.number("start") === 0 && vector.number("end") > 0,
    );
    const judged = judge(all, (vector) =>
      isConsistent(crypto, {
        size1: vector.number("end"),
        root1: vector.bytes("root1"),
        size2: vector.number("size"),
        root2: vector.bytes("root2"),
        proof: vector.proof,
      }),
    );
    assert.deepEqual(judged, [6, 85]);
  },
);

/**
 * The draft's definition of a subtree: its start is a multiple of the power of two that holds it.
 */
function isSubtree(vector: Vector): boolean {
  const [start, end] = [vector.number("start"), vector.number("end")];
  const size = end - start;
  return size > 0 && start % 2 ** Math.ceil(Math.log2(size)) === 0;
}
