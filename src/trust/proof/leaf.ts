/**
 * Leaf: the hash of one line as a leaf of the log's Merkle tree, salted so that a line or a long
 * string in it can be withheld later and not guessed. Format: docs/formats/checkpoint.md, "Leaves".
 *
 * - Line i has its own salts: block j of the AES-256-CTR key stream under the log's salt, counting
 *   from u64be(i) ‖ u64be(0). Block 0 salts the line, block j its j-th part.
 * - A part is the contents of a string of at least `parts` bytes, as spelled in the line. Strings
 *   are found by quotes and backslashes alone, so this works for any bytes.
 */

import type { ProofCrypto, RunningHash } from "./crypto.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Bytes of a salt. */
export const BLOCK = 16;
const HASH = 32;
const LEAF_TAG = 0x00;
const PART_TAG = 0x02;
/** `at`, `len` and the part's hash. */
const PART_BYTES = 4 + 4 + HASH;

/** Salts of several lines are made at once: an AES call costs more than its work. */
const LINES_TOGETHER = 16;
const SALTS_TOGETHER = 4;

/** The position of a long string's contents in a line. */
export interface Part {
  readonly at: number;
  readonly length: number;
}

/** The hash of part `n` of a line, counted from 0. */
export type PartHash = (part: Part, n: number) => Uint8Array;

/** The layout of leaves and parts, whichever way their salts and hashes are known. */
export class LeafLayout {
  readonly #crypto: ProofCrypto;
  // Reused for every line: allocating costs as much as hashing.
  #scratch = new Uint8Array(4096);
  #view = new DataView(this.#scratch.buffer);
  #partScratch = new Uint8Array(4096);

  constructor(crypto: ProofCrypto) {
    this.#crypto = crypto;
  }

  /** The leaf of a line with these parts; the bytes of the parts' contents do not matter. */
  leaf(line: Uint8Array, salt: Uint8Array, parts: readonly Part[], hashOf: PartHash): Uint8Array {
    let withheld = 0;
    for (const { length } of parts) withheld += length;
    const length = 1 + BLOCK + 4 + parts.length * PART_BYTES + line.length - withheld;
    const bytes = this.#room(length);
    const view = this.#view;
    bytes[0] = LEAF_TAG;
    bytes.set(salt, 1);
    view.setUint32(1 + BLOCK, parts.length);
    let to = 1 + BLOCK + 4;
    for (const [n, part] of parts.entries()) {
      view.setUint32(to, part.at);
      view.setUint32(to + 4, part.length);
      bytes.set(hashOf(part, n), to + 8);
      to += PART_BYTES;
    }
    let from = 0;
    for (const part of parts) {
      bytes.set(line.subarray(from, part.at), to);
      to += part.at - from;
      from = part.at + part.length;
    }
    bytes.set(line.subarray(from), to);
    return this.#crypto.sha256(bytes.subarray(0, length));
  }

  /** The running hash of a leaf of raw bytes that are yet to come; it has no parts. */
  rawLeaf(salt: Uint8Array): RunningHash {
    const hash = this.#crypto.runningSha256();
    hash.update(Uint8Array.of(LEAF_TAG));
    hash.update(salt);
    hash.update(new Uint8Array(4)); // No parts.
    return hash;
  }

  /** The hash that replaces a part's contents when they are withheld. */
  partHash(contents: Uint8Array, salt: Uint8Array): Uint8Array {
    const length = 1 + BLOCK + contents.length;
    if (this.#partScratch.length < length) this.#partScratch = new Uint8Array(2 * length);
    const bytes = this.#partScratch;
    bytes[0] = PART_TAG;
    bytes.set(salt, 1);
    bytes.set(contents, 1 + BLOCK);
    return this.#crypto.sha256(bytes.subarray(0, length));
  }

  #room(bytes: number): Uint8Array {
    if (this.#scratch.length < bytes) {
      this.#scratch = new Uint8Array(2 * bytes);
      this.#view = new DataView(this.#scratch.buffer);
    }
    return this.#scratch;
  }
}

/** Leaves and salts of a log whose salt is known. */
export class LeafHasher {
  readonly #layout: LeafLayout;
  readonly #parts: number;
  readonly #aes: (blocks: Uint8Array) => Uint8Array;
  /** Salts of the lines from `#saltsFrom` on, made together. */
  #salts: Uint8Array = new Uint8Array(0);
  #saltsFrom = -1;

  /** `salt` is the log's, 32 bytes; `parts` the least length of a part, 0 for none. */
  constructor(crypto: ProofCrypto, salt: Uint8Array, parts: number) {
    this.#layout = new LeafLayout(crypto);
    this.#parts = parts;
    this.#aes = crypto.aes256(salt);
  }

  /** The leaf of line `index`, counted from 0, passed without its LF. */
  leaf(line: Uint8Array, index: number): Uint8Array {
    const parts = findParts(line, this.#parts);
    const salts = this.salts(index, parts.length + 1);
    return this.#layout.leaf(line, salts.subarray(0, BLOCK), parts, ({ at, length }, n) => {
      const salt = salts.subarray((n + 1) * BLOCK, (n + 2) * BLOCK);
      return this.#layout.partHash(line.subarray(at, at + length), salt);
    });
  }

  /** The running hash of a leaf of raw bytes that are yet to come; it has no parts. */
  rawLeaf(index: number): RunningHash {
    return this.#layout.rawLeaf(this.salts(index, 1));
  }

  /** The hash that replaces a part's contents when they are withheld. */
  partHash(contents: Uint8Array, salt: Uint8Array): Uint8Array {
    return this.#layout.partHash(contents, salt);
  }

  /** The first `count` salts of line `index`, 16 bytes each. */
  salts(index: number, count: number): Uint8Array {
    if (count > SALTS_TOGETHER) return this.#makeSalts(index, 1, count);
    const first = index - (index % LINES_TOGETHER);
    if (this.#saltsFrom !== first) {
      this.#salts = this.#makeSalts(first, LINES_TOGETHER, SALTS_TOGETHER);
      this.#saltsFrom = first;
    }
    const at = (index - first) * SALTS_TOGETHER * BLOCK;
    return this.#salts.subarray(at, at + count * BLOCK);
  }

  /** The first `count` salts of each of these lines. */
  #makeSalts(index: number, lines: number, count: number): Uint8Array {
    const counters = new Uint8Array(lines * count * BLOCK);
    const view = new DataView(counters.buffer);
    for (let block = 0; block < lines * count; block++) {
      const line = index + Math.floor(block / count);
      view.setUint32(block * BLOCK, Math.floor(line / 2 ** 32));
      view.setUint32(block * BLOCK + 4, line >>> 0);
      view.setUint32(block * BLOCK + 12, block % count);
    }
    return this.#aes(counters);
  }
}

/** The parts of a line: the contents of its long strings, in order. */
export function findParts(line: Uint8Array, bytesMin: number): readonly Part[] {
  const parts: Part[] = [];
  if (bytesMin === 0) return parts;
  let open = line.indexOf(QUOTE);
  while (open !== -1) {
    const close = closingQuote(line, open + 1);
    if (close === -1) break; // Never closed: the rest is not a string.
    const length = close - open - 1;
    if (length >= bytesMin) parts.push({ at: open + 1, length });
    open = line.indexOf(QUOTE, close + 1);
  }
  return parts;
}

/** The next quote after an even run of backslashes. */
function closingQuote(line: Uint8Array, from: number): number {
  for (let at = line.indexOf(QUOTE, from); at !== -1; at = line.indexOf(QUOTE, at + 1)) {
    let backslashes = 0;
    while (at - backslashes > from && line[at - backslashes - 1] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}
