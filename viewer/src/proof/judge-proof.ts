/**
 * Judge proof: the verdict of this browser on a proof, with the judge of the command line.
 *
 * WebCrypto is asynchronous and the judge is not: the first pass only collects the signatures, the
 * second judges with what WebCrypto said of them.
 */

import type { Keys } from "../../../src/trust/proof/ed25519-keys.ts";
import { judgeProof, type ProofJudgement } from "../../../src/trust/proof/inclusion/judge.ts";
import type { WebProofCrypto } from "./web-crypto.ts";

export async function judgeProofHere(
  crypto: WebProofCrypto,
  proof: Uint8Array,
  keys: Keys,
): Promise<ProofJudgement> {
  const asked: [Uint8Array, Uint8Array, Uint8Array][] = [];
  const { sha256, runningSha256, aes256, indexOf } = crypto;
  const verifyEd25519 = (...signature: (typeof asked)[number]) => asked.push(signature) > 0;
  const collecting = { sha256, runningSha256, aes256, indexOf, verifyEd25519 };
  judgeProof(proof, { crypto: collecting, keys });
  for (const signature of asked) await crypto.ahead(...signature);
  return judgeProof(proof, { crypto, keys });
}
