/** Legacy fault: what is wrong with a checkpoint of the Python original. */

import { fromBase64url, utf8 } from "./bytes.ts";
import type { CheckpointFault } from "./chain.ts";
import type { LegacyCheckpoint } from "./claims.ts";
import type { ProofCrypto } from "./crypto.ts";
import type { KeyAnswer } from "./ed25519-keys.ts";
import { FALSE_SIGNATURE, OTHER_BYTES, otherSession } from "./findings.ts";

/** Where the checkpoint is, and what it must state. */
interface LegacyPlace {
  readonly start: number;
  /** Of the bytes before it. */
  readonly hash: string;
  readonly key: KeyAnswer;
  /** Null: not known. */
  readonly session: string | null;
  readonly seq: number;
}

export function legacyFaultOf(
  checkpoint: LegacyCheckpoint,
  { start, hash, key: { publicKey }, session, seq }: LegacyPlace,
  crypto: ProofCrypto,
): CheckpointFault | null {
  const at = `the checkpoint of turn ${checkpoint.turn}`;
  if (checkpoint.byteOffset !== start) {
    return {
      code: "CHECKPOINT_MISPLACED",
      message: `${at} is not at the byte it was signed at`,
    };
  }
  if (checkpoint.hash !== hash) return { code: "HASH_MISMATCH", message: OTHER_BYTES(at) };
  if (session !== null && checkpoint.session !== session) {
    return { code: "OTHER_SESSION", message: otherSession(seq, checkpoint.session ?? "", session) };
  }
  const sig = fromBase64url(checkpoint.sig.slice(0, 86));
  if (publicKey && !(sig && crypto.verifyEd25519(publicKey, utf8(hash), sig))) {
    return { code: "SIGNATURE_FALSE", message: FALSE_SIGNATURE(at) };
  }
  return null;
}
