/**
 * Crypto: the functions this folder needs of a crypto library. Passed in, so that the same rules
 * run in Node and in a browser.
 */

/** Incremental SHA-256. */
export interface RunningHash {
  update(bytes: Uint8Array): void;
  /** An independent copy: a checkpoint's `hash` is taken in the middle. */
  copy(): RunningHash;
  /** The hash so far, in hex; more bytes may follow. */
  hex(): string;
  /** The final hash; ends it. */
  digest(): Uint8Array;
}

export interface ProofCrypto {
  sha256(bytes: Uint8Array): Uint8Array;
  runningSha256(): RunningHash;
  /** AES-256 of whole 16-byte blocks, each by itself. Over counters: the key stream of CTR mode. */
  aes256(key: Uint8Array): (blocks: Uint8Array) => Uint8Array;
  /** Whether a 64-byte Ed25519 signature holds under a raw 32-byte public key. Never throws. */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** Offset of `needle` in `bytes`, from `from` on; -1 when not found. */
  indexOf(bytes: Uint8Array, needle: Uint8Array, from: number): number;
}
