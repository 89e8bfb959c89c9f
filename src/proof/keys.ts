/** Keys: how the judge looks up keys and their trust. */

import type { FindingCode } from "./verdict.ts";

export type KeyRefusal = Extract<FindingCode, `KEY_${string}`>;

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
