/** Trusted keys: what the user's trust says, as a judge of transcripts asks for it. */

import type { KeyAnswer, KeyRefusal, Keys } from "../proof/keys.ts";
import type { Distrust, HeldKey, Trust } from "./trust.ts";

const REFUSALS: Readonly<Record<Distrust, KeyRefusal>> = {
  unknown: "KEY_UNKNOWN",
  revoked: "KEY_REVOKED",
  expired: "KEY_EXPIRED",
  "not yet valid": "KEY_NOT_YET_VALID",
  purpose: "KEY_OF_OTHER_PURPOSE",
  session: "KEY_OF_OTHER_PURPOSE",
};

/** The keys for the transcript of one session; `sessionId` as its store knows it. */
export function transcriptKeys(trust: Trust, sessionId: string | null): Keys {
  const answer = (held: HeldKey | null, kid: string | null, at: number): KeyAnswer => {
    if (!held) return { publicKey: null, kid, fp: null, owner: null, refusal: "KEY_UNKNOWN" };
    const { publicKey, fp, owner } = held;
    const judged = trust.judge({ kid: held.kid, purpose: "transcript", sessionId, at });
    const refusal = judged.trusted ? null : REFUSALS[judged.why];
    return { publicKey, kid: held.kid, fp, owner, refusal };
  };
  return {
    byKid: (kid, ts) => answer(trust.key(kid), kid, Date.parse(ts)),
    byFp: (fp) => {
      // Two keys may share the short name; then it names neither.
      const [held, other] = trust.keysByFp(fp);
      return { ...answer(held && !other ? held : null, null, Number.NaN), fp };
    },
  };
}
