/**
 * Signer: whoever holds a private key. An interface, so that the key can live in a file, an
 * agent or another process.
 */

export interface Signer {
  /** The raw public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** SHA-256 of the raw public key, in hex: the name under which a key is trusted. */
  readonly kid: string;
  /** The seed's name for it: the first 16 hex digits of SHA-256 over the public key's PEM. */
  readonly fp: string;
  /** An Ed25519 signature, 64 bytes. */
  sign(message: Uint8Array): Signature;
  /**
   * The same in this thread, where the key is at hand: for whoever has nothing else to do until it is
   * made, and would only wait longer for another thread.
   */
  signHere?(message: Uint8Array): Uint8Array;
}

type Signature = Uint8Array | Promise<Uint8Array>;

/** The same key, used in this thread where it can be. */
export function signingHere(signer: Signer): Signer {
  const { signHere } = signer;
  return signHere ? { ...signer, sign: signHere } : signer;
}
