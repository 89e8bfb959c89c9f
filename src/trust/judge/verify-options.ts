/** Verify options: the inputs of a verdict, besides the log itself. */

import type { OpenFile } from "../../core/base/files.ts";
import type { Erasure } from "../../core/model/erasure.ts";
import type { FoundRange } from "../proof/checkpoint.ts";
import type { ProofCrypto } from "../proof/crypto.ts";
import type { Keys } from "../proof/ed25519-keys.ts";
import type { Judge, OnCheckpoint } from "../proof/judge.ts";
import type { Pin } from "../proof/pin.ts";
import type { Rollback } from "../proof/pins.ts";
import type { Finding } from "../proof/verdict.ts";

export type OnBytesJudged = (bytes: number) => void;

/** The pins of a session, read before its log is opened (verify.ts, V4). */
export interface RememberedPins {
  /** The pin of the session in its place. */
  readonly here: Pin | null;
  /** The pin of a log that was moved or copied, by its identity. */
  readonly ofLog: (log: string) => Pin | null;
  /** Some pins cannot be read. */
  readonly isDamaged: boolean;
  /**
   * Two machines, or two names of the store, have pins that no single log can satisfy: the log
   * lacks one of the two.
   */
  readonly conflict?: Exclude<Rollback, "BEHIND"> | null;
  /** The session was deleted with the pinned head; signed, if this decides a verdict. */
  readonly deleted?: Pin;
  /** The target of the store's root, if it is a link. */
  readonly leadsTo?: string | null;
  /** Other names of the store under which the session is also pinned. */
  readonly otherPlaces?: readonly string[];
}

export const NOTHING_REMEMBERED: RememberedPins = {
  here: null,
  ofLog: () => null,
  isDamaged: false,
};

export interface VerifyOptions {
  readonly crypto: ProofCrypto;
  readonly keys: Keys;
  readonly remembered?: RememberedPins;
  /** Check every signature, segment and tree, whatever the size. */
  readonly isDeep?: boolean;
  readonly requirePin?: boolean;
  /** Read checkpoints of the Python original. */
  readonly isLegacyProfile?: boolean;
  readonly onProgress?: OnBytesJudged;
  /** Called with the judged bytes, in order, each once. */
  readonly onBytes?: (bytes: Uint8Array) => void;
  /** If given, lines over the limit are left out and reported here, by their offsets. */
  readonly onLongLine?: (at: number) => void;
  /** Called for each checkpoint; those up to the last signed one are genuine. */
  readonly onCheckpoint?: OnCheckpoint;
  /** Judges files that a signed log's lines refer to. Use for one log, once. */
  readonly filesProof?: FilesProof | null;
  /** Finds erasures that the log states. Use for one log, once. */
  readonly erasures?: StatedErasures;
}

/** What the lines of a log state about erasures. */
export interface StatedErasures {
  /** Called with the judged bytes, in order. */
  onBytes(bytes: Uint8Array): void;
  /** Those stated before this byte and outside of these ranges, first one first. */
  within(signedEnd: number, ranges: readonly FoundRange[]): readonly Erasure[];
}

/** What the dialect adds to the judgement of a signed log. */
export interface FilesProof {
  /** Called with the judged bytes, in order. */
  onBytes(bytes: Uint8Array): void;
  /** Called after the last byte. */
  findings(judged: JudgedLog): Promise<readonly Finding[]>;
}

/** A log that was judged and is still open. */
export interface JudgedLog {
  readonly log: OpenFile;
  readonly judge: Judge;
  /** Bytes after the last checkpoint. */
  readonly tailBytes: number;
}
