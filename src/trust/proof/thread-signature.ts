/**
 * Thread signature: how a `thread.json` is signed twice, and judged by both signatures.
 *
 * `_signature2` states what `_signature` cannot: that this is the metadata of that thread, in that
 * revision. It is 64 bytes in base64url without padding: Ed25519 over
 *
 *     verbatim/thread/v2\n{thread_id}\n{rev}\n{hash}\n{ts}\n{kid}\n
 *
 * - `hash`: SHA-256, in hex, over the canonical form of the object without `_signature` and without
 *   `_signature2`. It is not the hash that `_signature` states.
 * - `thread_id`, `rev`: the object's own fields of that name.
 * - `ts`: the time in `_signature`, as spelled there. One clock reading serves both.
 * - `kid`: SHA-256 of the raw public key, in hex, which the verifier finds by `fp`.
 *
 * The order is `_signature2` first, then `_signature` over everything but itself, `_signature2`
 * included. So a verifier written from the seed, which removes only `_signature`, accepts the file,
 * and neither signature can be moved from one file to another.
 *
 * - Verified means that both signatures are valid under one trusted key, for the expected id.
 * - One spelling: `_signature` is padded, `rev` a plain integer, `head` complete.
 */

import { assert } from "../../core/base/errors.ts";
import { idSegments } from "../../core/base/ids.ts";
import { fromBase64url, toBase64url, utf8 } from "./bytes.ts";
import { jsonTree } from "./canonical-json.ts";
import type { Keys } from "./ed25519-keys.ts";
import {
  type DoubtedSignature,
  doubtSignature,
  hashWithout,
  holdingSignature,
  type JsonDoubt,
  type JsonJudge,
  type JsonObjectValue,
  type JsonSigner,
  judgeTrust,
  SIGNATURE_FIELD,
  signatureTime,
  signMap,
  type VouchedSignature,
} from "./json-signature.ts";
import { isJsonMap, type JsonMap, JsonNumber, type JsonTree, parseJson } from "./json-tree.ts";

export const SIGNATURE2_FIELD = "_signature2";

/** The checkpoint up to which the log was written when the file was. */
export interface ThreadHead {
  readonly seq: number;
  readonly byteOffset: number;
  /** SHA-256 of the checkpoint's line, in hex. */
  readonly line: string;
}

/** The facts of a thread's file that can be compared with its place and its log. */
export interface ThreadFacts {
  readonly threadId: string;
  readonly rev: number;
  readonly head: ThreadHead;
}

/** The message that `_signature2` signs; built only here. */
function threadStatement(facts: ThreadFacts, hash: string, ts: string, kid: string): Uint8Array {
  return utf8(`verbatim/thread/v2\n${facts.threadId}\n${facts.rev}\n${hash}\n${ts}\n${kid}\n`);
}

export interface ThreadSigner extends JsonSigner {
  readonly kid: string;
}

/**
 * Adds `_signature2` and `_signature` as the last fields; returns a tree for `formatPythonJson` to
 * write. The object must have `thread_id`, `rev` and `head {seq, byte_offset, line}`.
 */
export async function signThread(value: JsonObjectValue, signer: ThreadSigner): Promise<JsonMap> {
  const map = jsonTree(value);
  const facts = isJsonMap(map) ? threadFacts(map) : null;
  assert(isJsonMap(map) && facts, "a signed thread needs an id, a revision and a head");
  // An id with a line end could be taken for more than an id.
  idSegments(facts.threadId);
  const ts = signatureTime(signer.nowMs());
  const hash = contentHash(map, signer.crypto);
  const sig = await signer.sign(threadStatement(facts, hash, ts, signer.kid));
  const signed = new Map<string, JsonTree>(map);
  signed.delete(SIGNATURE2_FIELD);
  signed.set(SIGNATURE2_FIELD, toBase64url(sig));
  return signMap(signed, ts, signer);
}

/** Why a thread's file is not verified. */
export type ThreadDoubt = JsonDoubt | "signed as version 1" | "another thread";

export type ThreadVerdict = (VouchedSignature & ThreadFacts) | DoubtedSignature<ThreadDoubt>;

export interface ThreadJudge extends JsonJudge {
  readonly keys: Keys;
  /** The thread, from the file's path and not from its contents. */
  readonly threadId: string;
}

/** Whether a `thread.json` is that thread's, signed by a trusted key, unaltered. Never throws. */
export function judgeThread(input: string | Uint8Array, judge: ThreadJudge): ThreadVerdict {
  const { tree, refusal } = parseJson(input);
  if (refusal) return doubtSignature("malformed", { refusal });
  if (!isJsonMap(tree)) return doubtSignature("malformed");
  const text2 = tree.get(SIGNATURE2_FIELD);
  // Without its `_signature` such an object is broken, not unsigned.
  if (text2 !== undefined && !tree.has(SIGNATURE_FIELD)) return doubtSignature("malformed");
  const first = holdingSignature(tree, judge);
  if ("ok" in first) return first;
  const { fp, publicKey, kid, ts } = first;
  if (text2 === undefined) return doubtSignature("signed as version 1", { fp });
  const sig2 = typeof text2 === "string" && text2.length === 86 ? fromBase64url(text2) : null;
  const facts = threadFacts(tree);
  if (!sig2 || !facts || !first.isPadded) return doubtSignature("malformed", { fp });
  if (facts.threadId !== judge.threadId) return doubtSignature("another thread", { fp });
  const statement = threadStatement(facts, contentHash(tree, judge.crypto), ts, kid);
  if (!judge.crypto.verifyEd25519(publicKey, statement, sig2)) {
    return doubtSignature("bad signature", { fp });
  }
  // The time is now known to be the signer's own, so the key is looked up for that time.
  const verdict = judgeTrust(first, judge.keys.byKid(kid, ts));
  return verdict.ok ? { ...verdict, ...facts } : verdict;
}

function contentHash(map: JsonMap, crypto: JsonSigner["crypto"]): string {
  return hashWithout(map, [SIGNATURE_FIELD, SIGNATURE2_FIELD], crypto);
}

/** Null when one of them is missing or not in the one spelling. */
function threadFacts(map: JsonMap): ThreadFacts | null {
  const threadId = map.get("thread_id");
  const rev = plainInteger(map.get("rev"));
  const head = headOf(map.get("head"));
  return typeof threadId === "string" && rev !== null && head ? { threadId, rev, head } : null;
}

function headOf(tree: JsonTree | undefined): ThreadHead | null {
  if (!isJsonMap(tree) || tree.size !== 3) return null;
  const seq = plainInteger(tree.get("seq"));
  const byteOffset = plainInteger(tree.get("byte_offset"));
  const line = tree.get("line");
  if (seq === null || byteOffset === null || typeof line !== "string") return null;
  return /^[0-9a-f]{64}$/.test(line) ? { seq, byteOffset, line } : null;
}

function plainInteger(tree: JsonTree | undefined): number | null {
  if (!(tree instanceof JsonNumber) || !/^(?:0|[1-9][0-9]{0,15})$/.test(tree.text)) return null;
  const value = Number(tree.text);
  return Number.isSafeInteger(value) ? value : null;
}
