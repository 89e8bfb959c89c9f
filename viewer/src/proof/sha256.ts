/**
 * SHA-256 (FIPS 180-4), over bytes that come bit by bit.
 *
 * WebCrypto hashes only what is there as a whole, and answers later; the judges of src/proof hash
 * line by line and need the hash so far at every checkpoint. So this is written out here.
 */

import { toHex } from "../../../src/proof/bytes.ts";
import type { RunningHash } from "../../../src/proof/crypto.ts";

const BLOCK = 64;
const LENGTH_AT = 56;

/** The first 32 bits of the fractions of the square roots and cube roots of primes. */
const [START, ROUND] = constants();
/** One for all: nothing is kept in it from one block to the next. */
const schedule = new Int32Array(BLOCK);

export class Sha256 implements RunningHash {
  readonly #state: Int32Array;
  readonly #block = new Uint8Array(BLOCK);
  #filled = 0;
  #bytes = 0;

  constructor(state: Int32Array = START) {
    this.#state = state.slice();
  }

  update(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    let at = 0;
    if (this.#filled > 0) {
      at = Math.min(BLOCK - this.#filled, bytes.length);
      this.#block.set(bytes.subarray(0, at), this.#filled);
      this.#filled += at;
      if (this.#filled < BLOCK) return;
      compress(this.#state, this.#block, 0);
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) compress(this.#state, bytes, at);
    this.#filled = bytes.length - at;
    this.#block.set(bytes.subarray(at));
  }

  copy(): Sha256 {
    const other = new Sha256(this.#state);
    other.#block.set(this.#block);
    other.#filled = this.#filled;
    other.#bytes = this.#bytes;
    return other;
  }

  hex(): string {
    return toHex(this.copy().digest());
  }

  digest(): Uint8Array {
    const block = this.#block;
    block.fill(0, this.#filled);
    block[this.#filled] = 0x80;
    if (this.#filled >= LENGTH_AT) {
      compress(this.#state, block, 0);
      block.fill(0);
    }
    const view = new DataView(block.buffer);
    view.setUint32(LENGTH_AT, Math.floor(this.#bytes / 2 ** 29));
    view.setUint32(LENGTH_AT + 4, (this.#bytes * 8) % 2 ** 32);
    compress(this.#state, block, 0);
    const digest = new Uint8Array(32);
    const out = new DataView(digest.buffer);
    this.#state.forEach((word, n) => void out.setInt32(4 * n, word));
    return digest;
  }
}

export function sha256(bytes: Uint8Array): Uint8Array {
  const hash = new Sha256();
  hash.update(bytes);
  return hash.digest();
}

function compress(state: Int32Array, bytes: Uint8Array, at: number): void {
  const w = schedule;
  for (let n = 0, from = at; n < 16; n++, from += 4) {
    w[n] =
      (byte(bytes, from) << 24) |
      (byte(bytes, from + 1) << 16) |
      (byte(bytes, from + 2) << 8) |
      byte(bytes, from + 3);
  }
  for (let n = 16; n < BLOCK; n++) {
    const near = word(w, n - 2);
    const far = word(w, n - 15);
    const first = turned(far, 7) ^ turned(far, 18) ^ (far >>> 3);
    const second = turned(near, 17) ^ turned(near, 19) ^ (near >>> 10);
    w[n] = (word(w, n - 16) + first + word(w, n - 7) + second) | 0;
  }
  // One by one: an array that is taken apart would be made anew for every block.
  let a = word(state, 0);
  let b = word(state, 1);
  let c = word(state, 2);
  let d = word(state, 3);
  let e = word(state, 4);
  let f = word(state, 5);
  let g = word(state, 6);
  let h = word(state, 7);
  for (let n = 0; n < BLOCK; n++) {
    const choice = (e & f) ^ (~e & g);
    const sigma1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const one = (h + sigma1 + choice + word(ROUND, n) + word(w, n)) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0] = word(state, 0) + a;
  state[1] = word(state, 1) + b;
  state[2] = word(state, 2) + c;
  state[3] = word(state, 3) + d;
  state[4] = word(state, 4) + e;
  state[5] = word(state, 5) + f;
  state[6] = word(state, 6) + g;
  state[7] = word(state, 7) + h;
}

function turned(value: number, bits: number): number {
  return (value >>> bits) | (value << (32 - bits));
}

/** Typed arrays hold numbers at every place of theirs. */
function word(words: Int32Array, at: number): number {
  return words[at] as number;
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] as number;
}

function constants(): [Int32Array, Int32Array] {
  const primes: number[] = [];
  for (let n = 2; primes.length < BLOCK; n++)
    if (primes.every((prime) => n % prime)) primes.push(n);
  const fraction = (root: number) => ((root - Math.floor(root)) * 2 ** 32) | 0;
  return [
    Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  ];
}
