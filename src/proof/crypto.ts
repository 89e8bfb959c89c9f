/**
 * Crypto: what this folder needs of a crypto library, passed in by whoever judges or signs, so
 * that the same rules run in Node and in a browser.
 */

/** SHA-256 over bytes that come bit by bit. */
export interface RunningHash {
  update(bytes: Uint8Array): void;
  /** The hash so far, going on by itself: what stands behind a checkpoint's `hash`. */
  copy(): RunningHash;
  /** What it comes to so far, in hex; it goes on. */
  hex(): string;
  /** Ends it. */
  digest(): Uint8Array;
}

export interface ProofCrypto {
  sha256(bytes: Uint8Array): Uint8Array;
  runningSha256(): RunningHash;
  /** AES-256 of whole 16-byte blocks, each by itself. On counters: the key stream of CTR mode. */
  aes256(key: Uint8Array): (blocks: Uint8Array) => Uint8Array;
  /** Whether a 64-byte Ed25519 signature holds under a raw 32-byte public key. Never throws. */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** Where `needle` next stands in `bytes`, from `from` on; -1 when it does not. */
  indexOf(bytes: Uint8Array, needle: Uint8Array, from: number): number;
}
