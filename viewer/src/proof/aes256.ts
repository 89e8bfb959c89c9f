/**
 * AES-256 (FIPS 197), whole blocks, one way: what the salts of a log's lines are made with. They
 * hide nothing from who reads here, so that it may take as long as it takes.
 *
 * WebCrypto has no AES that answers at once, and the judges of src/proof ask for a salt per line.
 */

import { assert } from "../../../src/base/errors.ts";

const BLOCK = 16;
const ROUNDS = 14;
const KEY_BYTES = 32;

const SBOX = sbox();

/** Encrypts 16-byte blocks, each by itself. */
export function aes256(key: Uint8Array): (blocks: Uint8Array) => Uint8Array {
  assert(key.length === KEY_BYTES, "the key of AES-256 has 32 bytes");
  const roundKeys = expanded(key);
  return (blocks) => {
    assert(blocks.length % BLOCK === 0, "AES takes whole blocks");
    const out = blocks.slice();
    for (let at = 0; at < out.length; at += BLOCK) {
      encrypt(out.subarray(at, at + BLOCK), roundKeys);
    }
    return out;
  };
}

function encrypt(state: Uint8Array, roundKeys: Uint8Array): void {
  addKey(state, roundKeys, 0);
  for (let round = 1; round <= ROUNDS; round++) {
    substituteAndShift(state);
    if (round < ROUNDS) mixColumns(state);
    addKey(state, roundKeys, round);
  }
}

function addKey(state: Uint8Array, roundKeys: Uint8Array, round: number): void {
  for (let n = 0; n < BLOCK; n++) state[n] = at(state, n) ^ at(roundKeys, round * BLOCK + n);
}

const shifted = new Uint8Array(BLOCK);

/** Columns stand one after the other; row r moves by r columns. */
function substituteAndShift(state: Uint8Array): void {
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      const from = 4 * ((column + row) % 4) + row;
      shifted[4 * column + row] = at(SBOX, at(state, from));
    }
  }
  state.set(shifted);
}

function mixColumns(state: Uint8Array): void {
  for (let from = 0; from < BLOCK; from += 4) {
    const a = at(state, from);
    const b = at(state, from + 1);
    const c = at(state, from + 2);
    const d = at(state, from + 3);
    const all = a ^ b ^ c ^ d;
    state[from] = a ^ all ^ doubled(a ^ b);
    state[from + 1] = b ^ all ^ doubled(b ^ c);
    state[from + 2] = c ^ all ^ doubled(c ^ d);
    state[from + 3] = d ^ all ^ doubled(d ^ a);
  }
}

/** Twice, in the field of 256 elements. */
function doubled(value: number): number {
  return ((value << 1) ^ (value & 0x80 ? 0x11b : 0)) & 0xff;
}

function expanded(key: Uint8Array): Uint8Array {
  const keys = new Uint8Array(BLOCK * (ROUNDS + 1));
  keys.set(key);
  let constant = 1;
  for (let n = KEY_BYTES; n < keys.length; n += 4) {
    let word = [at(keys, n - 4), at(keys, n - 3), at(keys, n - 2), at(keys, n - 1)];
    if (n % KEY_BYTES === 0) {
      word = [...word.slice(1), word[0] as number].map((byte) => at(SBOX, byte));
      word[0] = (word[0] as number) ^ constant;
      constant = doubled(constant);
    } else if (n % KEY_BYTES === BLOCK) {
      word = word.map((byte) => at(SBOX, byte));
    }
    for (let b = 0; b < 4; b++) keys[n + b] = at(keys, n + b - KEY_BYTES) ^ (word[b] as number);
  }
  return keys;
}

/** The inverse in the field, its bits then mixed. */
function sbox(): Uint8Array {
  const box = new Uint8Array(256);
  let [power, inverse] = [1, 1];
  do {
    power ^= doubled(power); // Times 3, which reaches every element but 0.
    for (const shift of [1, 2, 4]) inverse ^= inverse << shift; // Divided by 3.
    inverse &= 0xff;
    if (inverse & 0x80) inverse ^= 0x09;
    const turned = (bits: number) => ((inverse << bits) | (inverse >> (8 - bits))) & 0xff;
    box[power] = inverse ^ turned(1) ^ turned(2) ^ turned(3) ^ turned(4) ^ 0x63;
  } while (power !== 1);
  box[0] = 0x63;
  return box;
}

/** Typed arrays hold numbers at every place of theirs. */
function at(bytes: Uint8Array, place: number): number {
  return bytes[place] as number;
}
