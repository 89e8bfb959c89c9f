/**
 * Node table: roots of the perfect subtrees of a log's tree, so that a proof needs few leaves.
 *
 * Level n has a hash for every `group` × 2^n leaves, in order. Smaller subtrees are made again from
 * their leaves.
 */

import type { ProofCrypto } from "../../trust/proof/crypto.ts";
import { MerkleTree, powerOfTwoBelow } from "../../trust/proof/merkle.ts";

const HASH_BYTES = 32;

/** The hashes of leaves `from` to `to`. */
export type ReadLeaves = (from: number, to: number) => Promise<readonly Uint8Array[]>;

export class NodeTable {
  readonly #crypto: ProofCrypto;
  readonly #group: number;
  readonly #levels: GrowingBytes[];
  /** Leaves of the last, unfinished group. */
  #rest: Uint8Array[] = [];

  /** `group` is a power of two. `levels`: as `bytes` returned them. */
  constructor(crypto: ProofCrypto, group: number, levels: readonly Uint8Array[] = []) {
    this.#crypto = crypto;
    this.#group = group;
    this.#levels = levels.map((each) => new GrowingBytes(each));
  }

  push(leaf: Uint8Array): void {
    this.#rest.push(leaf);
    if (this.#rest.length < this.#group) return;
    this.#add(0, this.#rootOf(this.#rest));
    this.#rest = [];
  }

  levels(): readonly Uint8Array[] {
    return this.#levels.map(({ bytes }) => bytes);
  }

  /** The root of leaves `from` to `to`, which are a subtree of some tree over all. */
  async root(from: number, to: number, leavesOf: ReadLeaves): Promise<Uint8Array> {
    const count = to - from;
    const known = this.#node(from, count);
    if (known) return known;
    if (count <= this.#group) return this.#rootOf(await leavesOf(from, to));
    const middle = from + powerOfTwoBelow(count);
    const left = await this.root(from, middle, leavesOf);
    return this.#parent(left, await this.root(middle, to, leavesOf));
  }

  #node(from: number, count: number): Uint8Array | null {
    let [level, leaves] = [0, this.#group];
    while (leaves < count) {
      leaves *= 2;
      level++;
    }
    if (leaves !== count || from % leaves !== 0) return null;
    const at = (from / leaves) * HASH_BYTES;
    const bytes = this.#levels[level]?.bytes;
    return bytes && at < bytes.length ? bytes.slice(at, at + HASH_BYTES) : null;
  }

  #add(level: number, hash: Uint8Array): void {
    let nodes = this.#levels[level];
    if (!nodes) {
      nodes = new GrowingBytes();
      this.#levels.push(nodes);
    }
    nodes.push(hash);
    const { bytes } = nodes;
    if (bytes.length % (2 * HASH_BYTES) !== 0) return;
    this.#add(level + 1, this.#parent(bytes.subarray(-2 * HASH_BYTES, -HASH_BYTES), hash));
  }

  #rootOf(leaves: readonly Uint8Array[]): Uint8Array {
    const tree = new MerkleTree(this.#crypto);
    for (const leaf of leaves) tree.push(leaf);
    return tree.root();
  }

  #parent(left: Uint8Array, right: Uint8Array): Uint8Array {
    return this.#rootOf([left, right]);
  }
}

/** Bytes that double their room. */
export class GrowingBytes {
  #room: Uint8Array;
  #length: number;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#room = bytes;
    this.#length = bytes.length;
  }

  get bytes(): Uint8Array {
    return this.#room.subarray(0, this.#length);
  }

  push(more: Uint8Array): void {
    const length = this.#length + more.length;
    if (length > this.#room.length) {
      const room = new Uint8Array(2 * length);
      room.set(this.bytes);
      this.#room = room;
    }
    this.#room.set(more, this.#length);
    this.#length = length;
  }
}
