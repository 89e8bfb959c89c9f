/** Trusted keys: the user's trust, as the lookup that judges of signatures use. */

import { LEGACY_PROFILE } from "../../proof/envelopes.ts";
import type { KeyAnswer, KeyRefusal, Keys } from "../../proof/keys.ts";
import type { Distrust, HeldKey, Trust } from "./trust.ts";
import type { Purpose } from "./trust-entry.ts";

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
  return keysFor("transcript", trust, sessionId);
}

/** The keys for other signed JSON, mainly a thread's metadata. */
export function threadKeys(trust: Trust, sessionId: string | null): Keys {
  return keysFor("thread", trust, sessionId);
}

function keysFor(purpose: Purpose, trust: Trust, sessionId: string | null): Keys {
  const answer = (held: HeldKey | null, kid: string | null, at: number): KeyAnswer => {
    if (!held) return { publicKey: null, kid, fp: null, owner: null, refusal: "KEY_UNKNOWN" };
    const { publicKey, fp, owner } = held;
    const judged = trust.judge({ kid: held.kid, purpose, sessionId, at });
    const refusal = judged.trusted ? null : REFUSALS[judged.why];
    return { publicKey, kid: held.kid, fp, owner, refusal };
  };
  return {
    byKid: (kid, ts) => answer(trust.key(kid), kid, Date.parse(ts)),
    byFp: (fp) => {
      // Two keys may share the short name; then it identifies neither.
      const [held, other] = trust.keysByFp(fp);
      const found = held && !other ? held : null;
      const answered = answer(found, null, Number.NaN);
      // Such a checkpoint signs a bare hash: any `sig` of ours over the same bytes would pass as
      // one.
      const isBarred = purpose === "transcript" && found?.entry?.profile !== LEGACY_PROFILE;
      const refusal = answered.refusal ?? (isBarred ? "KEY_NOT_FOR_OLDER_FORMAT" : null);
      return { ...answered, refusal, fp };
    },
  };
}
