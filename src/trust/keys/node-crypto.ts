/**
 * Node crypto: the crypto functions that judging and signing need, from node:crypto alone.
 *
 * No signature is valid under an improper key (`ParsedKeys`), whatever OpenSSL says.
 */

import {
  createCipheriv,
  createHash,
  createPublicKey,
  type Hash,
  hash,
  type KeyObject,
  verify,
} from "node:crypto";
import { assert } from "../../core/base/errors.ts";
import { toBase64url } from "../proof/bytes.ts";
import type { ProofCrypto, RunningHash } from "../proof/crypto.ts";
import { publicKeyFault } from "../proof/ed25519-keys.ts";

/** A user trusts a few keys, and a directory of sessions names about as many. */
export const PARSED_KEYS_MAX = 256;

/**
 * Public keys as node:crypto key objects, each parsed once: verifying with a parsed
 * key takes less than half the time.
 *
 * An improper key (proof/ed25519-keys.ts) is never returned. At most `keysMax` are kept; the least
 * recently used is dropped first.
 */
export class ParsedKeys {
  readonly #keysMax: number;
  /** By the key's bytes in base64url, the least recently used first. Null: improper key. */
  readonly #keys = new Map<string, KeyObject | null>();

  constructor(keysMax = PARSED_KEYS_MAX) {
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** The key of these bytes; null if they are not a proper key. */
  get(publicKey: Uint8Array): KeyObject | null {
    const x = toBase64url(publicKey);
    const cachedKey = this.#keys.get(x);
    const key = cachedKey === undefined ? parse(publicKey, x) : cachedKey;
    this.#keys.delete(x); // Moves it to the end.
    this.#keys.set(x, key);
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size <= this.#keysMax) break;
      this.#keys.delete(oldest);
    }
    return key;
  }
}

function parse(publicKey: Uint8Array, x: string): KeyObject | null {
  if (publicKeyFault(publicKey) !== null) return null;
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}

const SIGNATURE_BYTES = 64;
const BLOCK_BYTES = 16;
const HASH_BYTES = 32;

const parsedKeys = new ParsedKeys();

export const nodeCrypto: ProofCrypto = {
  sha256,
  runningSha256: () => running(createHash("sha256")),
  aes256,
  verifyEd25519,
  indexOf: (bytes, needle, from) => view(bytes).indexOf(needle, from),
};

function sha256(bytes: Uint8Array): Uint8Array {
  // Through a string: Node takes longer to allocate a buffer than to hash a line.
  const text = hash("sha256", bytes, "binary");
  const digest = new Uint8Array(HASH_BYTES);
  for (let at = 0; at < HASH_BYTES; at++) digest[at] = text.charCodeAt(at);
  return digest;
}

function running(state: Hash): RunningHash {
  return {
    update: (bytes) => void state.update(bytes),
    copy: () => running(state.copy()),
    hex: () => state.copy().digest("hex"),
    digest: () => state.digest(),
  };
}

function aes256(key: Uint8Array): (blocks: Uint8Array) => Uint8Array {
  // In ECB mode without padding every call returns exactly its blocks; nothing is buffered.
  const cipher = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false);
  return (blocks) => {
    assert(blocks.length % BLOCK_BYTES === 0, "AES takes whole blocks");
    return cipher.update(blocks);
  };
}

function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false;
  const key = parsedKeys.get(publicKey);
  return key !== null && verify(null, message, key, signature);
}

/** The same bytes, with Node's own search, which is several times as fast. */
function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
