/** Leaves: the tree, the segment and the byte count of a disclosed copy, leaf by leaf. */

import { fromHex, toHex } from "../bytes.ts";
import type { ProofCrypto, RunningHash } from "../crypto.ts";
import { BLOCK, findParts, LeafLayout } from "../leaf.ts";
import { MerkleTree } from "../merkle.ts";
import type { Gap } from "./records.ts";

export class Leaves {
  readonly #crypto: ProofCrypto;
  readonly #layout: LeafLayout;
  readonly #tree: MerkleTree;
  #segment: RunningHash;
  /** False while it is not known where the segment began. */
  hasSegment = true;
  #raw: RunningHash | null = null;
  /** Where the last checkpoint's line, or what it covers, ends. */
  #from = 0;
  /** Bytes since then, and lines of unknown length. */
  #bytes = 0;
  #unmeasured = 0;

  constructor(crypto: ProofCrypto) {
    this.#crypto = crypto;
    this.#layout = new LeafLayout(crypto);
    this.#tree = new MerkleTree(crypto);
    this.#segment = crypto.runningSha256();
  }

  get size(): number {
    return this.#tree.size;
  }

  /** Adds a line; false unless its gaps and salts fit it. Checkpoints are in no segment. */
  addLine(
    line: Uint8Array,
    partsMin: number,
    salts: Uint8Array,
    gaps: readonly Gap[],
    isInSegment: boolean,
  ): boolean {
    const leaf = disclosedLeaf(this.#layout, line, partsMin, salts, gaps);
    if (!leaf) return false;
    this.#push(leaf, isInSegment);
    this.#bytes += line.length + 1;
    return true;
  }

  addWithheld(leaf: Uint8Array): void {
    this.#push(leaf, true);
    this.#unmeasured++;
  }

  addRaw(salt: Uint8Array | null, data: Uint8Array): void {
    if (salt) this.#raw = this.#layout.rawLeaf(salt);
    this.#raw?.update(data);
    this.#bytes += data.length;
  }

  endRaw(): void {
    if (this.#raw) this.#push(this.#raw.digest(), true);
    this.#raw = null;
  }

  /** The offset here; if it is not known exactly, `said`, if that is possible. */
  placeOf(place: number): number {
    const least = this.#from + this.#bytes + this.#unmeasured;
    return this.#unmeasured > 0 ? Math.max(place, least) : least;
  }

  compare(seg: string, tree: { readonly size: number; readonly root: string }): Difference {
    if (this.hasSegment && this.#segment.hex() !== seg) return "seg";
    if (tree.size !== this.#tree.size || tree.root !== toHex(this.#tree.root())) return "tree";
    return "same";
  }

  /** After a checkpoint, whose line, or what it covers, ends here. */
  beginSegment(end: number): void {
    this.#segment = this.#crypto.runningSha256();
    this.hasSegment = true;
    this.#from = end;
    this.#bytes = 0;
    this.#unmeasured = 0;
  }

  #push(leaf: Uint8Array, isInSegment: boolean): void {
    this.#tree.push(leaf);
    if (isInSegment) this.#segment.update(leaf);
  }
}

/**
 * The leaf of a line that is shown, except for its gaps; null unless the gaps are strings of it, and
 * the salts are one for the line and one for each string that is shown.
 */
export function disclosedLeaf(
  layout: LeafLayout,
  line: Uint8Array,
  partsMin: number,
  salts: Uint8Array,
  gaps: readonly Gap[],
): Uint8Array | null {
  const parts = findParts(line, partsMin);
  if (salts.length !== (1 + parts.length - gaps.length) * BLOCK) return null;
  let [gap, salt] = [0, BLOCK];
  const leaf = layout.leaf(line, salts.subarray(0, BLOCK), parts, ({ at, length }) => {
    const withheld = gaps[gap];
    if (withheld?.at === at && withheld.length === length) {
      gap++;
      return fromHex(withheld.part);
    }
    const blockSalt = salts.subarray(salt, salt + BLOCK);
    salt += BLOCK;
    // Fewer are left only if a gap is not a string of the line, which is refused below.
    return blockSalt.length === BLOCK
      ? layout.partHash(line.subarray(at, at + length), blockSalt)
      : NO_HASH;
  });
  return gap === gaps.length ? leaf : null;
}

export type Difference = "same" | "seg" | "tree";

const NO_HASH = new Uint8Array(32);
