/**
 * Proofs that others made, good and malformed, are judged as they judge them: those of
 * test/vectors, which Python computed, and published ones, where those are next to the project.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { sharedFiles } from "../../../test/support/shared-files.ts";
import { ownVectors } from "../../../test/support/vectors.ts";
import {
  isConsistent,
  isIncluded,
  MerkleTree,
  proveConsistency,
  proveInclusion,
} from "./merkle.ts";

const crypto = { sha256: (bytes: Uint8Array) => createHash("sha256").update(bytes).digest() };

const published = sharedFiles("vectors/merkle/testdata");

interface Vector {
  readonly name: string;
  readonly wantErr: boolean;
  readonly proof: readonly Uint8Array[];
  number(key: string): number;
  bytes(key: string): Uint8Array;
}

function vectors(kind: string): Vector[] {
  const folder = join(published.path, kind);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".json"))
    .map((name) => {
      return vectorOf(`${kind}/${name}`, JSON.parse(readFileSync(join(folder, name), "utf8")));
    });
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of known shape.
function vectorOf(name: string, value: any): Vector {
  return {
    name,
    wantErr: value.wantErr,
    proof: (value.proof ?? []).map((hash: string) => Buffer.from(hash, "base64")),
    number: (key) => value[key],
    bytes: (key) => Buffer.from(value[key], "base64"),
  };
}

function madeByPython(kind: string): Vector[] {
  return ownVectors(kind).map((value: { readonly name: string }) => vectorOf(value.name, value));
}

const isTrueInclusion = (vector: Vector) =>
  isIncluded(crypto, {
    leaf: vector.bytes("leafHash"),
    index: vector.number("leafIdx"),
    size: vector.number("treeSize"),
    root: vector.bytes("root"),
    proof: vector.proof,
  });

const isTrueConsistency = (vector: Vector) =>
  isConsistent(crypto, {
    size1: vector.number("size1"),
    root1: vector.bytes("root1"),
    size2: vector.number("size2"),
    root2: vector.bytes("root2"),
    proof: vector.proof,
  });

/** Judges every vector as its publisher does; returns how many were good and how many not. */
function judge(all: readonly Vector[], isTrue: (vector: Vector) => boolean): [number, number] {
  for (const vector of all) assert.equal(isTrue(vector), !vector.wantErr, vector.name);
  return [
    all.filter(({ wantErr }) => !wantErr).length,
    all.filter(({ wantErr }) => wantErr).length,
  ];
}

test("the proofs of inclusion that Python made are judged as Python judges them", () => {
  assert.deepEqual(judge(madeByPython("inclusion"), isTrueInclusion), [65, 188]);
});

test("the proofs of consistency that Python made are judged as Python judges them", () => {
  assert.deepEqual(judge(madeByPython("consistency"), isTrueConsistency), [54, 190]);
});

const leafOf = (n: number) => crypto.sha256(Buffer.from(`\0leaf ${n}`));
const base64 = (hashes: readonly Uint8Array[]) =>
  hashes.map((hash) => Buffer.from(hash).toString("base64"));

test("trees have the roots that Python computes", () => {
  const roots: Record<string, string> = ownVectors("roots");
  const tree = new MerkleTree(crypto);
  let compared = 0;
  for (let size = 0; size <= 257; size++) {
    if (size > 0) tree.push(leafOf(size - 1));
    if (roots[size] === undefined) continue;
    assert.equal(Buffer.from(tree.root()).toString("hex"), roots[size], `${size} leaves`);
    compared++;
  }
  assert.equal(compared, Object.keys(roots).length);
});

test("proofs that are made here are those that Python makes", () => {
  for (const vector of madeByPython("inclusion").filter(({ wantErr }) => !wantErr)) {
    const leaves = Array.from({ length: vector.number("treeSize") }, (_, n) => leafOf(n));
    const proof = proveInclusion(crypto, leaves, vector.number("leafIdx"));
    assert.deepEqual(base64(proof), base64(vector.proof), vector.name);
  }
  for (const vector of madeByPython("consistency").filter(({ wantErr }) => !wantErr)) {
    const leaves = Array.from({ length: vector.number("size2") }, (_, n) => leafOf(n));
    const proof = proveConsistency(crypto, leaves, vector.number("size1"));
    assert.deepEqual(base64(proof), base64(vector.proof), vector.name);
  }
});
if (published.isThere) {
  test("the published proofs of inclusion are judged as published", () => {
    assert.deepEqual(judge(vectors("inclusion"), isTrueInclusion), [6, 92]);
  });

  test("the published proofs of consistency are judged as published", () => {
    assert.deepEqual(judge(vectors("consistency"), isTrueConsistency), [6, 92]);
  });

  // The other two sets are of a later draft, about subtrees. Those that begin at the first leaf are
  // proofs of RFC 6962, and a leaf's index in any subtree is its index in a tree of its own.

  test("published proofs of inclusion in a subtree hold in a tree like it", () => {
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
  });

  test("published proofs for a first subtree are proofs of consistency here", () => {
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
  });
}

/**
 * The draft's definition of a subtree: its start is a multiple of the power of two that holds it.
 */
function isSubtree(vector: Vector): boolean {
  const [start, end] = [vector.number("start"), vector.number("end")];
  const size = end - start;
  return size > 0 && start % 2 ** Math.ceil(Math.log2(size)) === 0;
}
