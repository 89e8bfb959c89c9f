/**
 * Parsed keys: public keys as node:crypto key objects, each parsed once: verifying with a parsed
 * key takes less than half the time.
 *
 * An improper key (proof/ed25519-keys.ts) is never returned. At most `keysMax` are kept; the least
 * recently used is dropped first.
 */

import { createPublicKey, type KeyObject } from "node:crypto";
import { toBase64url } from "../../proof/bytes.ts";
import { publicKeyFault } from "../../proof/ed25519-keys.ts";

/** A user trusts a few keys, and a directory of sessions names about as many. */
export const PARSED_KEYS_MAX = 256;

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
    const known = this.#keys.get(x);
    const key = known === undefined ? parse(publicKey, x) : known;
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
