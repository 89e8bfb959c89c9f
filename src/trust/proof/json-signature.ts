/**
 * JSON signature: the field `_signature` of a JSON object, as the seed signs it.
 *
 *     rye:signed:{ts}:{hash}:{sig}:{fp}
 *
 * `hash` is SHA-256, in hex, over the canonical form of the object without its own `_signature`;
 * `sig` is Ed25519 over that hex text, not over the bytes it encodes; `ts` is not covered, and
 * nothing says what the object is for. So this signature proves only that the key's owner signed
 * this content for *some* purpose; `thread-signature.ts` adds what a thread's file needs.
 *
 * - Judging never throws: every text gets a verdict.
 * - A signature has one spelling, except for its padding, which the original left out in its last
 *   months.
 */

import { assert } from "../../core/base/errors.ts";
import { fromBase64url, toBase64url, toHex, utf8 } from "./bytes.ts";
import { canonicalTree, jsonTree } from "./canonical-json.ts";
import type { Sign } from "./checkpoint.ts";
import type { ProofCrypto } from "./crypto.ts";
import type { KeyAnswer, KeyRefusal, Keys } from "./ed25519-keys.ts";
import {
  isJsonMap,
  type JsonMap,
  type JsonRefusal,
  type JsonTree,
  parseJson,
} from "./json-tree.ts";

export const SIGNATURE_FIELD = "_signature";

/** The parts of a signature's text. */
export interface JsonSignature {
  /** Time by the signer's clock, to the second. */
  readonly ts: string;
  readonly hash: string;
  readonly sig: Uint8Array;
  readonly fp: string;
  readonly isPadded: boolean;
}

// A timestamp has colons, so splitting at them, as the seed does, finds the wrong parts.
const SIGNATURE = new RegExp(
  "^rye:signed:([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)" +
    ":([0-9a-f]{64}):([A-Za-z0-9_-]{86})(==)?:([0-9a-f]{16})$",
);

/** Parses a signature's text; null when it is not one. */
export function parseSignature(text: string): JsonSignature | null {
  const [, ts, hash, encoded, padding, fp] = SIGNATURE.exec(text) ?? [];
  if (ts === undefined || hash === undefined || encoded === undefined || fp === undefined) {
    return null;
  }
  const sig = fromBase64url(encoded);
  return sig && { ts, hash, sig, fp, isPadded: padding !== undefined };
}

/** Formats a signature, padded. */
export function signatureText(parts: Omit<JsonSignature, "isPadded">): string {
  const text = `rye:signed:${parts.ts}:${parts.hash}:${toBase64url(parts.sig)}==:${parts.fp}`;
  assert(parseSignature(text), "a signature has a time, a hash, 64 bytes and a fingerprint");
  return text;
}

/** A time as in signatures: to the second, rounded down. */
export function signatureTime(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
}

/** SHA-256, in hex, over the canonical form of an object without some of its fields. */
export function hashWithout(
  map: JsonMap,
  fields: readonly string[],
  crypto: Pick<ProofCrypto, "sha256">,
): string {
  const content = new Map([...map].filter(([key]) => !fields.includes(key)));
  return toHex(crypto.sha256(utf8(canonicalTree(content))));
}

export interface JsonSigner {
  readonly sign: Sign;
  readonly fp: string;
  readonly crypto: Pick<ProofCrypto, "sha256">;
  readonly nowMs: () => number;
}

/** A JSON object: a plain one, or a Map as `parseJson` gives it. */
export type JsonObjectValue = JsonMap | Readonly<Record<string, unknown>>;

/**
 * Adds `_signature` as the last field; returns a tree for `formatPythonJson` to write. Refuses with
 * UNSIGNABLE_JSON what parsers would read differently.
 */
export async function signJsonValue(value: JsonObjectValue, signer: JsonSigner): Promise<JsonMap> {
  const map = jsonTree(value);
  assert(isJsonMap(map), "only a JSON object can be signed");
  return signMap(map, signatureTime(signer.nowMs()), signer);
}

/** Like `signJsonValue`, at a given time. */
export async function signMap(map: JsonMap, ts: string, signer: JsonSigner): Promise<JsonMap> {
  const hash = hashWithout(map, [SIGNATURE_FIELD], signer.crypto);
  const sig = await signer.sign(utf8(hash));
  const signed = new Map<string, JsonTree>(map);
  // Deleted first, or it would keep its old position.
  signed.delete(SIGNATURE_FIELD);
  return signed.set(SIGNATURE_FIELD, signatureText({ ts, hash, sig, fp: signer.fp }));
}

/** Why an object is not verified. */
export type JsonDoubt =
  | "malformed"
  | "unsigned"
  | "altered"
  | "unknown key"
  | "bad signature"
  | "untrusted key";

export interface DoubtedSignature<D extends string> {
  readonly ok: false;
  readonly reason: D;
  /** The key that it names; null when it names none. */
  readonly fp: string | null;
  /** Why it is not signable JSON, and where; null when it is. */
  readonly refusal: JsonRefusal | null;
  /** Why its key is not trusted; null when that is not the reason. */
  readonly keyRefusal: KeyRefusal | null;
}

export interface VouchedSignature {
  readonly ok: true;
  readonly fp: string;
  /** SHA-256 of the raw public key, in hex. */
  readonly kid: string;
  readonly owner: string | null;
  /** The time it claims. The seed's form does not sign it. */
  readonly ts: string;
  /** The hash in `_signature`, which the content has. */
  readonly hash: string;
}

export type JsonVerdict = VouchedSignature | DoubtedSignature<JsonDoubt>;

export interface JsonJudge {
  readonly crypto: Pick<ProofCrypto, "sha256" | "verifyEd25519">;
  readonly keys: Pick<Keys, "byFp">;
}

/**
 * Whether a JSON text is signed by a trusted key and unaltered, by the seed's rules. Never throws.
 */
export function judgeJson(input: string | Uint8Array, judge: JsonJudge): JsonVerdict {
  const { tree, refusal } = parseJson(input);
  if (refusal) return doubtSignature("malformed", { refusal });
  if (!isJsonMap(tree)) return doubtSignature("malformed");
  const holding = holdingSignature(tree, judge);
  return "ok" in holding ? holding : judgeTrust(holding, judge.keys.byFp(holding.fp));
}

/** A valid signature under a key we have, trusted or not. */
export interface HoldingSignature extends JsonSignature {
  readonly publicKey: Uint8Array;
  readonly kid: string;
}

/** The signature of an object, if valid: the right hash, signed by the key it names. */
export function holdingSignature(
  map: JsonMap,
  { crypto, keys }: JsonJudge,
): HoldingSignature | DoubtedSignature<JsonDoubt> {
  const text = map.get(SIGNATURE_FIELD);
  if (text === undefined) return doubtSignature("unsigned");
  const signature = typeof text === "string" ? parseSignature(text) : null;
  if (!signature) return doubtSignature("malformed");
  const { hash, sig, fp } = signature;
  if (hashWithout(map, [SIGNATURE_FIELD], crypto) !== hash)
    return doubtSignature("altered", { fp });
  const { publicKey } = keys.byFp(fp);
  if (!publicKey) return doubtSignature("unknown key", { fp });
  if (!crypto.verifyEd25519(publicKey, utf8(hash), sig))
    return doubtSignature("bad signature", { fp });
  return { ...signature, publicKey, kid: toHex(crypto.sha256(publicKey)) };
}

/** The verdict on a valid signature, depending on its key. */
export function judgeTrust(
  { fp, kid, ts, hash }: HoldingSignature,
  { refusal: keyRefusal, owner }: KeyAnswer,
): VouchedSignature | DoubtedSignature<"untrusted key"> {
  if (keyRefusal) return doubtSignature("untrusted key", { fp, keyRefusal });
  return { ok: true, fp, kid, owner, ts, hash };
}

export function doubtSignature<D extends string>(
  reason: D,
  facts: Partial<Omit<DoubtedSignature<D>, "ok" | "reason">> = {},
): DoubtedSignature<D> {
  return { ok: false, reason, fp: null, refusal: null, keyRefusal: null, ...facts };
}
