/**
 * Ledger: everything that a checkpoint says of the lines before it, kept as they come: the hash of
 * all bytes, the tree over all lines, the segment since the last checkpoint.
 *
 * G1  The cost of a checkpoint does not grow with the log: nothing is read twice, and a fork
 *     shares what it can. Signer and verifier keep the same ledger.
 */

import { LF, toHex } from "./bytes.ts";
import type { ProofCrypto, RunningHash } from "./crypto.ts";
import { LeafHasher } from "./leaf.ts";
import { MerkleTree } from "./merkle.ts";

export interface LedgerOptions {
  readonly crypto: ProofCrypto;
  /** The log's salt, 32 bytes. */
  readonly salt: Uint8Array;
  readonly parts: number;
  /** Checkpoints lie beside the log: its hash begins with the salt, since it stands in the open. */
  readonly isSidecar: boolean;
}

export class Ledger {
  readonly #crypto: ProofCrypto;
  readonly #leaves: LeafHasher;
  readonly #hash: RunningHash;
  readonly #tree: MerkleTree;
  #segment: RunningHash;
  #bytes: number;

  private constructor(
    crypto: ProofCrypto,
    leaves: LeafHasher,
    state: { hash: RunningHash; tree: MerkleTree; segment: RunningHash; bytes: number },
  ) {
    this.#crypto = crypto;
    this.#leaves = leaves;
    this.#hash = state.hash;
    this.#tree = state.tree;
    this.#segment = state.segment;
    this.#bytes = state.bytes;
  }

  static begin({ crypto, salt, parts, isSidecar }: LedgerOptions): Ledger {
    const hash = crypto.runningSha256();
    if (isSidecar) hash.update(salt);
    const leaves = new LeafHasher(crypto, salt, parts);
    const tree = new MerkleTree(crypto);
    return new Ledger(crypto, leaves, { hash, tree, segment: crypto.runningSha256(), bytes: 0 });
  }

  /** The same, going its own way from here. */
  fork(): Ledger {
    return new Ledger(this.#crypto, this.#leaves, {
      hash: this.#hash.copy(),
      tree: this.#tree.copy(),
      segment: this.#segment.copy(),
      bytes: this.#bytes,
    });
  }

  /** How many bytes of the log are in it. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many lines. */
  get lines(): number {
    return this.#tree.size;
  }

  /** Takes whole lines, LFs included. */
  addLines(lines: Uint8Array): void {
    this.#hash.update(lines);
    this.#bytes += lines.length;
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(LF, start);
      this.#segment.update(this.#addLeaf(lines.subarray(start, end)));
      start = end + 1;
    }
  }

  /** Takes a checkpoint's line, which begins a new segment and is in none: `prev` covers it. */
  addCheckpointLine(line: Uint8Array): void {
    this.#hash.update(line);
    this.#bytes += line.length;
    this.#addLeaf(line.subarray(0, -1));
    this.beginSegment();
  }

  /** After a checkpoint that stands beside the log. */
  beginSegment(): void {
    this.#segment = this.#crypto.runningSha256();
  }

  /** The hash of all bytes, in hex. */
  hash(): string {
    return toHex(this.#hash.copy().digest());
  }

  /** The hash of the leaves since the last checkpoint, in hex. */
  seg(): string {
    return toHex(this.#segment.copy().digest());
  }

  tree(): { readonly size: number; readonly root: string } {
    return { size: this.#tree.size, root: toHex(this.#tree.root()) };
  }

  #addLeaf(line: Uint8Array): Uint8Array {
    const leaf = this.#leaves.leaf(line, this.#tree.size);
    this.#tree.push(leaf);
    return leaf;
  }
}
