/**
 * Signed JSON: objects with a `_signature`, signed by the user's key and judged by their trust.
 *
 * The output of JSON.stringify is what is signed: it verifies as an object, as that text, or as a
 * file that Python wrote from it.
 */

import { badArgument, checkData } from "../../core/base/choice.ts";
import type { Host } from "../../core/base/host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { loadSigner } from "../../trust/keys/keys.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { jsonTree } from "../../trust/proof/canonical-json.ts";
import { judgeJson, SIGNATURE_FIELD, signJsonValue } from "../../trust/proof/json-signature.ts";
import { isJsonMap, parseJson } from "../../trust/proof/json-tree.ts";
import { Trust, threadKeys } from "../../trust/trusted-keys/trust.ts";

export interface JsonIntegrity {
  /** Unaltered, and signed by a key that the user trusts. */
  readonly valid: boolean;
  /** If not valid: `unsigned`, `altered`, `unknown key`, `untrusted key` and so on. */
  readonly reason?: string;
  /** The key that it names, or null. */
  readonly fp: string | null;
  /** The signing time that it claims (not proven); null if it is not valid. */
  readonly ts: string | null;
}

/** The object with its `_signature`, replacing any existing one; refuses with UNSIGNABLE_JSON. */
export async function signJsonObject<T extends Readonly<Record<string, unknown>>>(
  host: Host,
  value: T,
): Promise<T & { readonly _signature: string }> {
  jsonTree(value); // Refuses values that JSON.stringify would drop or change.
  const { tree } = parseJson(JSON.stringify(value)); // Sign what JSON.stringify writes.
  if (!isJsonMap(tree)) throw badArgument("signJson", "signs a JSON object, and nothing else");
  const signer = await loadSigner(host, userPaths());
  const sign = (message: Uint8Array) => signer.sign(message);
  const signed = await signJsonValue(tree, {
    sign,
    fp: signer.fp,
    crypto: nodeCrypto,
    nowMs: Date.now,
  });
  return { ...value, [SIGNATURE_FIELD]: String(signed.get(SIGNATURE_FIELD)) };
}

/** Judges the signature of a text, or of an object parsed from one. Never throws. */
export function inspectJsonObject(
  value: string | Uint8Array | Readonly<Record<string, unknown>>,
): JsonIntegrity {
  try {
    const keys = threadKeys(Trust.read(userPaths()), null);
    const isText = typeof value === "string" || value instanceof Uint8Array;
    if (!isText) checkData("inspectJson", value, "JSON");
    const verdict = judgeJson(isText ? value : JSON.stringify(value), { crypto: nodeCrypto, keys });
    const { fp } = verdict;
    if (verdict.ok) return { valid: true, fp, ts: verdict.ts };
    return { valid: false, reason: verdict.reason, fp, ts: null };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { valid: false, reason, fp: null, ts: null };
  }
}
