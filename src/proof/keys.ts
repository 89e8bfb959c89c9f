/** Keys: what a judge asks of whoever knows which keys are trusted. */

import type { FindingCode } from "./verdict.ts";

export type KeyRefusal = Extract<FindingCode, `KEY_${string}`>;

export interface KeyAnswer {
  /** Raw; null when nobody here holds it, and its signatures cannot be checked. */
  readonly publicKey: Uint8Array | null;
  readonly kid: string | null;
  readonly fp: string | null;
  readonly owner: string | null;
  /** Why what it signed is not to be trusted; null when it is. */
  readonly refusal: KeyRefusal | null;
  /** The key that named this one as its successor; absent when it counts by itself, or not at all. */
  readonly rotatedFrom?: string;
}

export interface Keys {
  /** `ts` is when the signer says it signed. */
  byKid(kid: string, ts: string): KeyAnswer;
  /**
   * By the older, shorter name. Of transcripts only checkpoints of the Python original are so
   * signed: the answer refuses a key that the user did not allow that format.
   */
  byFp(fp: string): KeyAnswer;
}
