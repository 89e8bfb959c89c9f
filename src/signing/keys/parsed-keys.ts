/**
 * Parsed keys: a public key's bytes as what node:crypto verifies with, each parsed once: verifying
 * with a parsed key takes less than half the time.
 *
 * PK1  What is no proper key (proof/ed25519-keys.ts) is never handed out.
 * PK2  No more than `keysMax` are kept, however many are asked for; the longest unused goes first.
 */

import { createPublicKey, type KeyObject } from "node:crypto";
import { toBase64url } from "../../proof/bytes.ts";
import { publicKeyFault } from "../../proof/ed25519-keys.ts";

/** A person trusts a few keys, and a directory of sessions names as few. */
export const PARSED_KEYS_MAX = 256;

export class ParsedKeys {
  readonly #keysMax: number;
  /** By the key's bytes in base64url, the longest unused first. Null: no proper key. */
  readonly #keys = new Map<string, KeyObject | null>();

  constructor(keysMax = PARSED_KEYS_MAX) {
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** The key of these bytes; null when they are none (PK1). */
  get(publicKey: Uint8Array): KeyObject | null {
    const x = toBase64url(publicKey);
    const known = this.#keys.get(x);
    const key = known === undefined ? parse(publicKey, x) : known;
    this.#keys.delete(x); // To stand last.
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
