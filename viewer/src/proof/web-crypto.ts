/**
 * Web crypto: the crypto functions for src/trust/proof in a browser.
 *
 * WebCrypto is asynchronous and the judges are not, so signatures are checked in advance: the code
 * that walks a log passes each checkpoint to `ahead` and awaits it before a judge sees the line.
 * SHA-256 and AES come from noble: WebCrypto's are asynchronous, and its SHA-256 is not
 * incremental.
 *
 * - A signature is valid only when WebCrypto said so for this key, this message and this signature.
 *   What was not checked in advance is not valid, and neither is anything where Ed25519 is missing.
 * - No signature is valid under bytes that are not a key (src/trust/proof/ed25519-keys.ts).
 */

import { ecb } from "@noble/ciphers/aes.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { assert } from "../../../src/core/base/errors.ts";
import { toBase64url, toHex } from "../../../src/trust/proof/bytes.ts";
import type { ProofCrypto, RunningHash } from "../../../src/trust/proof/crypto.ts";
import { publicKeyFault } from "../../../src/trust/proof/ed25519-keys.ts";

const SIGNATURE_BYTES = 64;
const AES_KEY_BYTES = 32;
const AES_BLOCK_BYTES = 16;

/**
 * The part of WebCrypto that is used; absent on pages loaded over plain HTTP from another machine.
 */
export type Subtle = Pick<SubtleCrypto, "importKey" | "verify">;

export class WebProofCrypto implements ProofCrypto {
  readonly sha256 = sha256;
  readonly runningSha256 = () => running(sha256.create());
  readonly aes256 = aes256;
  readonly indexOf = indexOf;
  readonly #subtle: Subtle | null;
  readonly #keys = new Map<string, Promise<CryptoKey | null>>();
  /** Valid signatures, by key, message and signature. */
  readonly #held = new Set<string>();

  constructor(subtle: Subtle | undefined = globalThis.crypto?.subtle) {
    this.#subtle = subtle ?? null;
  }

  /** Whether this browser can check signatures on this page. */
  async canVerify(): Promise<boolean> {
    // The generator of the curve's group: a valid key.
    const key = Uint8Array.of(0x58, ...new Array<number>(31).fill(0x66));
    return (await this.#import(key)) !== null;
  }

  /** Checks a signature with WebCrypto, for `verifyEd25519`. */
  async ahead(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<void> {
    if (signature.length !== SIGNATURE_BYTES) return;
    const name = toHex(publicKey);
    let importing = this.#keys.get(name);
    if (importing === undefined) {
      importing = publicKeyFault(publicKey) === null ? this.#import(publicKey) : nothing();
      this.#keys.set(name, importing);
    }
    const key = await importing;
    if (key === null || this.#subtle === null) return;
    const holds = await this.#subtle
      .verify("Ed25519", key, own(signature), own(message))
      .catch(() => false);
    if (holds) this.#held.add(asked(publicKey, message, signature));
  }

  readonly verifyEd25519 = (
    publicKey: Uint8Array,
    message: Uint8Array,
    signature: Uint8Array,
  ): boolean => this.#held.has(asked(publicKey, message, signature));

  async #import(publicKey: Uint8Array): Promise<CryptoKey | null> {
    if (this.#subtle === null) return null;
    try {
      return await this.#subtle.importKey("raw", own(publicKey), "Ed25519", false, ["verify"]);
    } catch {
      return null; // No Ed25519 support.
    }
  }
}

function running(state: ReturnType<typeof sha256.create>): RunningHash {
  return {
    update: (bytes) => void state.update(bytes),
    copy: () => running(state.clone()),
    hex: () => toHex(state.clone().digest()),
    digest: () => state.digest(),
  };
}

function aes256(key: Uint8Array): (blocks: Uint8Array) => Uint8Array {
  assert(key.length === AES_KEY_BYTES, "the key of AES-256 has 32 bytes");
  return (blocks) => {
    assert(blocks.length % AES_BLOCK_BYTES === 0, "AES takes whole blocks");
    // A cipher of noble encrypts once; the judges pass many blocks at a time.
    return ecb(key, { disablePadding: true }).encrypt(blocks);
  };
}

function asked(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): string {
  return `${toHex(publicKey)} ${toBase64url(signature)} ${toHex(sha256(message))}`;
}

async function nothing(): Promise<null> {
  return null;
}

/** In its own buffer, as WebCrypto's types require. */
function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

function indexOf(bytes: Uint8Array, needle: Uint8Array, from: number): number {
  const [first = 0] = needle;
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (at + needle.length > bytes.length) return -1;
    let n = 1;
    while (n < needle.length && bytes[at + n] === needle[n]) n++;
    if (n === needle.length) return at;
  }
  return -1;
}
