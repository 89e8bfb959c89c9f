/**
 * Ledger: everything that a checkpoint states about the lines before it, updated line by line: the
 * hash of all bytes, the tree over all lines, the segment since the last checkpoint.
 *
 * A log of raw bytes has no lines: the bytes since the last checkpoint are one leaf, however long.
 *
 * The cost of a checkpoint does not grow with the log: nothing is read twice, and a fork shares
 * what it can. Signer and verifier keep the same ledger.
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
  /**
   * Checkpoints are in a sidecar file. The hash begins with the salt, since the sidecar is
   * readable.
   */
  readonly isSidecar: boolean;
  /** The log is raw bytes, not lines. */
  readonly isRaw?: boolean;
}

interface LedgerState {
  readonly hash: RunningHash;
  readonly tree: MerkleTree;
  readonly segment: RunningHash;
  /** Of a raw log: the leaf that the next checkpoint ends; null while it is empty. */
  readonly stretch: RunningHash | null;
  readonly bytes: number;
  readonly uncounted: number;
}

export class LogLedger {
  readonly #crypto: ProofCrypto;
  readonly #leaves: LeafHasher;
  readonly #hash: RunningHash;
  readonly #tree: MerkleTree;
  readonly #isRaw: boolean;
  #segment: RunningHash;
  #stretch: RunningHash | null;
  #bytes: number;
  /** Lines that a verifier considers missing or surplus (`countFrom`). */
  #uncounted: number;

  private constructor(crypto: ProofCrypto, leaves: LeafHasher, isRaw: boolean, state: LedgerState) {
    this.#crypto = crypto;
    this.#leaves = leaves;
    this.#isRaw = isRaw;
    this.#hash = state.hash;
    this.#tree = state.tree;
    this.#segment = state.segment;
    this.#stretch = state.stretch;
    this.#bytes = state.bytes;
    this.#uncounted = state.uncounted;
  }

  static begin({ crypto, salt, parts, isSidecar, isRaw = false }: LedgerOptions): LogLedger {
    const hash = crypto.runningSha256();
    if (isSidecar) hash.update(salt);
    const leaves = new LeafHasher(crypto, salt, parts);
    const tree = new MerkleTree(crypto);
    const segment = crypto.runningSha256();
    const nothing = { stretch: null, bytes: 0, uncounted: 0 };
    return new LogLedger(crypto, leaves, isRaw, { hash, tree, segment, ...nothing });
  }

  /** An independent copy from here on. */
  fork(): LogLedger {
    return new LogLedger(this.#crypto, this.#leaves, this.#isRaw, {
      hash: this.#hash.copy(),
      tree: this.#tree.copy(),
      segment: this.#segment.copy(),
      stretch: this.#stretch?.copy() ?? null,
      bytes: this.#bytes,
      uncounted: this.#uncounted,
    });
  }

  /** Bytes added so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Lines; of a raw log, finished leaves. */
  get lines(): number {
    return this.#tree.size;
  }

  /**
   * Numbers the next lines as if there were so many before. For a verifier that found other lines
   * than were signed, and checks which of the later ones still hold.
   */
  countFrom(lines: number): void {
    this.#uncounted = lines - this.tree().size;
  }

  /** Adds whole lines, LFs included; of a raw log any bytes. */
  addLines(lines: Uint8Array): void {
    this.#hash.update(lines);
    this.#bytes += lines.length;
    if (this.#isRaw) {
      if (lines.length > 0)
        this.#stretch ??= this.#leaves.rawLeaf(this.#tree.size + this.#uncounted);
      this.#stretch?.update(lines);
      return;
    }
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(LF, start);
      this.#segment.update(this.#addLeaf(lines.subarray(start, end)));
      start = end + 1;
    }
  }

  /** Adds a checkpoint's line, which begins a new segment and is in none: `prev` covers it. */
  addCheckpointLine(line: Uint8Array): void {
    this.#hash.update(line);
    this.#bytes += line.length;
    this.#addLeaf(line.subarray(0, -1));
    this.beginSegment();
  }

  /** After a sidecar checkpoint. */
  beginSegment(): void {
    if (this.#stretch) this.#tree.push(this.#stretch.digest());
    this.#stretch = null;
    this.#segment = this.#crypto.runningSha256();
  }

  /** The hash of all bytes, in hex. */
  hash(): string {
    return this.#hash.hex();
  }

  /** The hash of the leaves since the last checkpoint, in hex. */
  seg(): string {
    if (!this.#stretch) return this.#segment.hex();
    const segment = this.#segment.copy();
    segment.update(this.#stretch.copy().digest());
    return segment.hex();
  }

  tree(): { readonly size: number; readonly root: string } {
    let tree = this.#tree;
    if (this.#stretch) {
      tree = tree.copy();
      tree.push(this.#stretch.copy().digest());
    }
    return { size: tree.size, root: toHex(tree.root()) };
  }

  #addLeaf(line: Uint8Array): Uint8Array {
    const leaf = this.#leaves.leaf(line, this.#tree.size + this.#uncounted);
    this.#tree.push(leaf);
    return leaf;
  }
}
