/**
 * Ed25519 keys: which 32 bytes are a public key, and the two names of a key.
 *
 * A public key is a point of edwards25519, written as its y-coordinate, 255 bits little-endian, and
 * the sign of x in the last bit (RFC 8032, 5.1.2). Crypto libraries accept any 32 bytes: for the
 * point (0, 1), Node 20 accepts one constant signature for every message. So the bytes are checked
 * here wherever a key enters: on adding, on loading, on verifying.
 *
 * - A key has one spelling: y below the prime. Otherwise one key would have two ids.
 * - It is none of the eight points of small order, under which anyone can sign anything.
 * - It is a point of the curve.
 *
 * Points of large order with a small-order component pass: only the holder of the private key can
 * make such a key, and Node verifies without the cofactor, so there is nothing to gain from it
 * here.
 */

import { toBase64url, toHex, utf8 } from "./bytes.ts";
import type { ProofCrypto } from "./crypto.ts";
import type { FindingCode } from "./verdict.ts";

export const PUBLIC_KEY_BYTES = 32;

/** The field: integers modulo 2^255 - 19. */
const P = 2n ** 255n - 19n;
/** The curve: -x² + y² = 1 + d·x²·y² with d = -121665/121666. */
const D = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;
/** The y of two of the four points of order 8; that of the other two is P minus it. */
const Y_OF_ORDER_8 = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;

/** The y of every point of order 1, 2, 4 and 8, with either sign of x. */
const SMALL_ORDER_YS: ReadonlySet<bigint> = new Set([
  1n,
  P - 1n,
  0n,
  Y_OF_ORDER_8,
  P - Y_OF_ORDER_8,
]);

export type PublicKeyFault =
  | "it is not 32 bytes long"
  | "its encoding is not canonical (y is not below the prime)"
  | "it is a point of small order, under which anyone can sign"
  | "it is not a point of the curve";

/** Why these bytes must not be used as a public key, or null. About 0.3 ms for a new key. */
export function publicKeyFault(key: Uint8Array): PublicKeyFault | null {
  if (key.length !== PUBLIC_KEY_BYTES) return "it is not 32 bytes long";
  const y = yOf(key);
  if (y >= P) return "its encoding is not canonical (y is not below the prime)";
  if (SMALL_ORDER_YS.has(y)) return "it is a point of small order, under which anyone can sign";
  return isKnownOnCurve(y) ? null : "it is not a point of the curve";
}

/** A key's id, by which it is trusted: SHA-256 of its 32 bytes, in hex. */
export function kidOf(crypto: Pick<ProofCrypto, "sha256">, publicKey: Uint8Array): string {
  return toHex(crypto.sha256(publicKey));
}

const KID = /^[0-9a-f]{64}$/;

export function isKid(text: string): boolean {
  return KID.test(text);
}

/**
 * The seed's name for a key: the first 16 hex digits of SHA-256 over its PEM. Always over the PEM
 * that we make from the 32 bytes: a file may have other line ends, and so another name.
 */
export function fpOf(crypto: Pick<ProofCrypto, "sha256">, publicKey: Uint8Array): string {
  return toHex(crypto.sha256(utf8(publicKeyPem(publicKey)))).slice(0, 16);
}

/** The prefix of the 32 bytes in a SubjectPublicKeyInfo of Ed25519 (RFC 8410, 4). */
const SPKI_PREFIX = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/** The key as PEM, as OpenSSL writes it: LF line ends, one at the end. */
export function publicKeyPem(publicKey: Uint8Array): string {
  const base64url = toBase64url(Uint8Array.of(...SPKI_PREFIX, ...publicKey));
  const base64 = base64url.replaceAll("-", "+").replaceAll("_", "/");
  return `-----BEGIN PUBLIC KEY-----\n${base64}=\n-----END PUBLIC KEY-----\n`;
}

/** The y-coordinate: 255 bits; the last bit belongs to x. */
function yOf(key: Uint8Array): bigint {
  return BigInt(`0x${toHex(key.toReversed())}`) & ((1n << 255n) - 1n);
}

/** Answers of `isOnCurve`: one command loads and checks the same few keys many times. */
const answers = new Map<bigint, boolean>();
const ANSWERS_MAX = 256;

function isKnownOnCurve(y: bigint): boolean {
  const cachedAnswer = answers.get(y);
  if (cachedAnswer !== undefined) return cachedAnswer;
  if (answers.size >= ANSWERS_MAX) answers.clear();
  const answer = isOnCurve(y);
  answers.set(y, answer);
  return answer;
}

/**
 * Whether some x belongs to y: x² = (y² - 1) / (d·y² + 1), and a number is a square when its (P -
 * 1)/2-th power is 1 (Euler). A quotient is a square when the product is, which saves dividing.
 * Neither factor is 0: y² - 1 is 0 at small order only, and d·y² is never -1, as d is not a square.
 */
function isOnCurve(y: bigint): boolean {
  const ySquared = (y * y) % P;
  return power((ySquared - 1n) * (D * ySquared + 1n), (P - 1n) / 2n) === 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = ((base % P) + P) % P;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

export type KeyRefusal = Extract<FindingCode, `KEY_${string}`>;

/** How the judge looks up keys and their trust. */
export interface KeyAnswer {
  /** Raw; null when not known here, so that its signatures cannot be checked. */
  readonly publicKey: Uint8Array | null;
  readonly kid: string | null;
  readonly fp: string | null;
  readonly owner: string | null;
  /** Why its signatures are not trusted; null when they are. */
  readonly refusal: KeyRefusal | null;
  /**
   * The key that named this one as its successor; absent when it is trusted by itself, or not at
   * all.
   */
  readonly rotatedFrom?: string;
}

export interface Keys {
  /** `ts` is when the signer says it signed. */
  byKid(kid: string, ts: string): KeyAnswer;
  /**
   * By the older, shorter name. Among transcripts only checkpoints of the Python original are
   * signed so: refuses a key that the user did not allow for that format.
   */
  byFp(fp: string): KeyAnswer;
}
