/** Verify options: what a verdict is judged by, besides the log itself. */

import type { OpenFile } from "../../base/files.ts";
import type { ProofCrypto } from "../../proof/crypto.ts";
import type { Judge, OnCheckpoint } from "../../proof/judge.ts";
import type { Keys } from "../../proof/keys.ts";
import type { Pin } from "../../proof/pin.ts";
import type { Rollback } from "../../proof/pins.ts";
import type { Finding } from "../../proof/verdict.ts";

export type OnProgress = (bytes: number) => void;

/** What is remembered of a session, read before its log is opened (verify.ts, V4). */
export interface Remembered {
  /** Of the session in its place. */
  readonly here: Pin | null;
  /** Of a log that was moved or copied, by its identity. */
  readonly ofLog: (log: string) => Pin | null;
  /** Some of what was remembered cannot be read. */
  readonly isDamaged: boolean;
  /**
   * Two machines, or two names of the store, remember what no one log can have: whatever stands
   * there lacks one of the two.
   */
  readonly conflict?: Exclude<Rollback, "BEHIND"> | null;
  /** Where the store's root leads, when it is a link. */
  readonly leadsTo?: string | null;
  /** Other names of the store under which the session is pinned, too. */
  readonly otherPlaces?: readonly string[];
}

export const NOTHING_REMEMBERED: Remembered = {
  here: null,
  ofLog: () => null,
  isDamaged: false,
};

export interface VerifyOptions {
  readonly crypto: ProofCrypto;
  readonly keys: Keys;
  readonly remembered?: Remembered;
  /** Check every signature, segment and tree, whatever the size. */
  readonly isDeep?: boolean;
  readonly requiresPin?: boolean;
  /** Read checkpoints of the Python original. */
  readonly isLegacyProfile?: boolean;
  readonly onProgress?: OnProgress;
  /** Given the bytes that are judged, in order, each once. */
  readonly onBytes?: (bytes: Uint8Array) => void;
  /** Told of the checkpoints; up to the one that is signed through, they are what they say. */
  readonly onCheckpoint?: OnCheckpoint;
  /** Judges files beside a signed log to which its lines refer. To be used for one log, once. */
  readonly beside?: BesideProof | null;
}

/** What a log's own dialect knows to be part of what is signed. */
export interface BesideProof {
  /** Given what is judged, in order. */
  onBytes(bytes: Uint8Array): void;
  /** After the last byte. */
  findings(judged: JudgedLog): Promise<readonly Finding[]>;
}

/** A log that was judged, and is still open. */
export interface JudgedLog {
  readonly log: OpenFile;
  readonly judge: Judge;
  /** What stands after its last checkpoint. */
  readonly tailBytes: number;
}
