/**
 * Merkle: the tree of RFC 6962 over leaf hashes, and the proofs about it (RFC 9162, 2.1).
 *
 * Leaves are hashes, 32 bytes each; `leaf.ts` makes them. Arithmetic avoids bit operations, which
 * in JavaScript end at 32 bits.
 *
 * - Between pushes the tree is one hash per set bit of its size, so that memory and copies stay
 *   small however long the log.
 * - Judging a proof never throws: anything malformed is false.
 */

import { assert } from "../../core/base/errors.ts";
import type { ProofCrypto } from "./crypto.ts";

const HASH_BYTES = 32;
const NODE_TAG = 0x01;
const NODE_BYTES = 1 + 2 * HASH_BYTES;
/** Sizes are safe integers, which have at most this many bits. */
const LEVELS_MAX = 53;
/** A proof has at most one hash per level, and for consistency the one it begins with. */
const PROOF_HASHES_MAX = LEVELS_MAX + 1;

type Sha256 = Pick<ProofCrypto, "sha256">;

/** A tree that grows by one leaf at a time. */
export class MerkleTree {
  readonly #crypto: Sha256;
  readonly #node = nodeScratch();
  /** The roots of the perfect subtrees, by level; one counts while its bit of the size is set. */
  readonly #peaks = new Uint8Array(LEVELS_MAX * HASH_BYTES);
  #size = 0;

  constructor(crypto: Sha256) {
    this.#crypto = crypto;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds the next leaf's hash, 32 bytes, whose buffer the caller may reuse. */
  push(leaf: Uint8Array): void {
    assert(leaf.length === HASH_BYTES, "a leaf's hash has 32 bytes");
    let hash = leaf;
    let level = 0;
    for (let left = this.#size; left % 2 === 1; left = (left - 1) / 2) {
      hash = this.#parent(level, hash);
      level++;
    }
    this.#peaks.set(hash, level * HASH_BYTES);
    this.#size++;
  }

  /** The root over all leaves so far; without leaves, the hash of no bytes. */
  root(): Uint8Array {
    let hash: Uint8Array | null = null;
    let level = 0;
    for (let left = this.#size; left > 0; left = half(left)) {
      if (left % 2 === 1) hash = hash ? this.#parent(level, hash) : this.#peak(level).slice();
      level++;
    }
    return hash ?? this.#crypto.sha256(new Uint8Array(0));
  }

  /** An independent copy. */
  copy(): MerkleTree {
    const tree = new MerkleTree(this.#crypto);
    tree.#peaks.set(this.#peaks);
    tree.#size = this.#size;
    return tree;
  }

  #peak(level: number): Uint8Array {
    return this.#peaks.subarray(level * HASH_BYTES, (level + 1) * HASH_BYTES);
  }

  /** The parent of a peak and the node to its right. */
  #parent(level: number, right: Uint8Array): Uint8Array {
    return hashNode(this.#crypto, this.#node, this.#peak(level), right);
  }
}

/** Proof that a leaf is in a tree: the sibling hashes on its path to the root, from the leaf up. */
export interface Inclusion {
  readonly leaf: Uint8Array;
  /** Counted from 0. */
  readonly index: number;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** Proof that a tree is the beginning of a larger one. */
export interface Consistency {
  readonly size1: number;
  readonly root1: Uint8Array;
  readonly size2: number;
  readonly root2: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** Leaves `from` to `to`, whose root is a hash of a proof. */
export type Range = readonly [from: number, to: number];

/** The subtrees whose roots prove that leaf `index` is in a tree of `size`, in the proof's order. */
export function inclusionRanges(index: number, size: number): Range[] {
  assert(Number.isSafeInteger(index) && index >= 0 && index < size, "no such leaf");
  const ranges: Range[] = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + powerOfTwoBelow(to - from);
    const isLeft = index < middle;
    ranges.push(isLeft ? [middle, to] : [from, middle]);
    if (isLeft) to = middle;
    else from = middle;
  }
  return ranges.reverse();
}

export function proveInclusion(
  crypto: Sha256,
  leaves: readonly Uint8Array[],
  index: number,
): Uint8Array[] {
  return inclusionRanges(index, leaves.length).map((range) => rootOf(crypto, leaves, ...range));
}

/** Proof that the tree of the first `size1` leaves is the beginning of the tree of all of them. */
export function proveConsistency(
  crypto: Sha256,
  leaves: readonly Uint8Array[],
  size1: number,
): Uint8Array[] {
  return consistencyRanges(size1, leaves.length).map(([from, to]) => {
    return rootOf(crypto, leaves, from, to);
  });
}

/**
 * The leaves, from and to, whose roots are the proof of consistency of two sizes, in the proof's
 * order (RFC 6962, 2.1.2). For a tree whose leaves are read one at a time.
 */
export function consistencyRanges(size1: number, size2: number): [number, number][] {
  assert(isCount(size1) && isCount(size2) && size1 > 0 && size1 <= size2, "no such trees");
  const ranges: [number, number][] = [];
  let [from, to, rest] = [0, size2, size1];
  while (rest !== to - from) {
    const middle = from + powerOfTwoBelow(to - from);
    const isLeft = rest <= middle - from;
    ranges.push(isLeft ? [middle, to] : [from, middle]);
    if (isLeft) to = middle;
    else [rest, from] = [rest - (middle - from), middle];
  }
  if (from > 0) ranges.push([from, to]); // A verifier knows the root of the first leaves.
  return ranges.reverse();
}

/** Whether the leaf is at its index in the tree with this root. Never throws. */
export function isIncluded(crypto: Sha256, claim: Inclusion): boolean {
  const { leaf, index, size, root, proof } = claim;
  if (!isCount(index) || !isCount(size) || index >= size) return false;
  if (!isHash(leaf) || !isHash(root) || !isProof(proof)) return false;
  const node = nodeScratch();
  const way = new Way(index, size - 1);
  let hash = leaf;
  for (const sibling of proof) {
    if (way.isAtRoot) return false;
    const isRight = way.isRight();
    hash = isRight ? hashNode(crypto, node, sibling, hash) : hashNode(crypto, node, hash, sibling);
    way.ascend(isRight);
  }
  return way.isAtRoot && isSame(hash, root);
}

/** Whether the tree of `size1` leaves is the beginning of the tree of `size2`. Never throws. */
export function isConsistent(crypto: Sha256, claim: Consistency): boolean {
  const { size1, root1, size2, root2, proof } = claim;
  // Every tree begins with the empty one, so a proof of that proves nothing.
  if (!isCount(size1) || !isCount(size2) || size1 === 0 || size1 > size2) return false;
  if (size1 === size2) return proof.length === 0 && isSame(root1, root2);
  if (!isHash(root1) || !isHash(root2) || !isProof(proof)) return false;
  const node = nodeScratch();
  const way = new Way(size1 - 1, size2 - 1);
  way.ascendToLeft();
  // A perfect tree is a node of the larger one, and known: the proof leaves it out.
  const [start, ...rest] = way.index === 0 ? [root1, ...proof] : proof;
  if (!start) return false;
  let [first, second] = [start, start];
  for (const sibling of rest) {
    if (way.isAtRoot) return false;
    const isRight = way.isRight();
    if (isRight) first = hashNode(crypto, node, sibling, first);
    second = isRight
      ? hashNode(crypto, node, sibling, second)
      : hashNode(crypto, node, second, sibling);
    way.ascend(isRight);
  }
  return way.isAtRoot && isSame(first, root1) && isSame(second, root2);
}

/** The path from a node up to the root, next to the last node of each level. */
class Way {
  index: number;
  #last: number;

  constructor(index: number, last: number) {
    this.index = index;
    this.#last = last;
  }

  get isAtRoot(): boolean {
    return this.#last === 0;
  }

  /** Whether the next hash of the proof is to the left of this node. */
  isRight(): boolean {
    return this.index % 2 === 1 || this.index === this.#last;
  }

  /** Moves to the parent; a last node without a sibling moves up until it has one. */
  ascend(wasRight: boolean): void {
    if (wasRight) while (this.index % 2 === 0 && this.index !== 0) this.#up();
    this.#up();
  }

  /** Moves up while the node is a right child. */
  ascendToLeft(): void {
    while (this.index % 2 === 1) this.#up();
  }

  #up(): void {
    this.index = half(this.index);
    this.#last = half(this.#last);
  }
}

function rootOf(
  crypto: Sha256,
  leaves: readonly Uint8Array[],
  from: number,
  to: number,
): Uint8Array {
  const tree = new MerkleTree(crypto);
  for (let at = from; at < to; at++) tree.push(leaves[at] as Uint8Array);
  return tree.root();
}

/** The largest power of two that is smaller than `count`, which is at least 2. */
export function powerOfTwoBelow(count: number): number {
  let power = 1;
  while (2 * power < count) power *= 2;
  return power;
}

function half(count: number): number {
  return Math.floor(count / 2);
}

function nodeScratch(): Uint8Array {
  const node = new Uint8Array(NODE_BYTES);
  node[0] = NODE_TAG;
  return node;
}

function hashNode(
  crypto: Sha256,
  node: Uint8Array,
  left: Uint8Array,
  right: Uint8Array,
): Uint8Array {
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return crypto.sha256(node);
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function isHash(value: Uint8Array): boolean {
  return value instanceof Uint8Array && value.length === HASH_BYTES;
}

function isProof(proof: readonly Uint8Array[]): boolean {
  return proof.length <= PROOF_HASHES_MAX && proof.every(isHash);
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
