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
}

export interface Keys {
  /** `ts` is when the signer says it signed. */
  byKid(kid: string, ts: string): KeyAnswer;
  /** By the older, shorter name, for files of the Python original. */
  byFp(fp: string): KeyAnswer;
}
