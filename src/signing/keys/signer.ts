/**
 * Signer: holds a private key. An interface, so that the key can live in a file, an agent or
 * another process.
 */

export interface Signer {
  /** The raw public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** SHA-256 of the raw public key, in hex: the name under which a key is trusted. */
  readonly kid: string;
  /** The seed's name for it: the first 16 hex digits of SHA-256 over the public key's PEM. */
  readonly fp: string;
  /** An Ed25519 signature, 64 bytes. */
  sign(message: Uint8Array): Promise<Uint8Array>;
}
