/** Signer state: what a log signer knows about its log, and types that other files use. */

import type { Signer } from "../keys/keys.ts";
import type { CheckpointFacts, FoundRange, SignedHead } from "../proof/checkpoint.ts";
import { PARTS_DEFAULT } from "../proof/checkpoint.ts";
import type { ProofCrypto } from "../proof/crypto.ts";
import { LogLedger } from "../proof/ledger.ts";
import type { PinnedHead } from "../proof/pin.ts";
import type { HandOver } from "../proof/rotations.ts";

/** A checkpoint as other files refer to it. */
export interface NamedCheckpoint {
  readonly seq: number;
  /** SHA-256 of its line. */
  readonly line: string;
}

/** The newest checkpoint of a log, by any signer. */
export interface Newest extends NamedCheckpoint {
  readonly byteOffset: number;
  readonly kid: string;
  /** The revision that it states: of a file that is signed with the log. */
  readonly rev: number;
  readonly kind: string;
}

/** A checkpoint of ours, as pinned. */
export type SignerHead = Omit<PinnedHead, "place" | "id">;

/** A head that the user gave up. */
export type LostHead = NamedCheckpoint;

/** The state of a log that is being signed, except its ledger. */
export interface SignerState {
  readonly genesis: {
    readonly salt: string;
    readonly parts: number;
    readonly log: string;
    readonly from: SignedHead | null;
  };
  /** The hash of what genesis states (trust/proof/checkpoint.ts); null before it. */
  genesisHash: string | null;
  seq: number;
  prev: string;
  turn: number;
  found: FoundRange | null;
  cut: number;
  lost: LostHead | null;
  unsigned: number;
  head: SignerHead | null;
  newest: Newest | null;
  /** The user's current key. */
  current: Signer;
  /** The key that signs the next checkpoint: the current one, or a retired one until it rotates. */
  by: Signer;
}

/** The user's own keys that can still sign and were not revoked, by `kid`. */
export type OwnSigners = ReadonlyMap<string, Signer>;

/** The signer of the next checkpoint after one by `kid` (log-signer.ts, S4). */
export function signerAfter(kid: string | null, current: Signer, ownSigners: OwnSigners): Signer {
  return kid === null || kid === current.kid ? current : (ownSigners.get(kid) ?? current);
}

export interface When {
  readonly turn: number;
  /** Of a file that is signed with the log; 0 without one. */
  readonly rev: number;
}

/** A signed checkpoint: its line with LF, and its fields. */
export interface SignedCheckpoint {
  readonly line: Uint8Array;
  readonly facts: CheckpointFacts;
}

/** The first `bytes` of a log: `hash` is the SHA-256, in hex, of `prefix` followed by them. */
export interface CoveredPrefix {
  readonly prefix: Uint8Array;
  readonly bytes: number;
  readonly hash: string;
}

/** The state of a log after it was opened to sign. */
export interface SignedSoFar {
  readonly ledger: LogLedger;
  readonly salt: Uint8Array;
  readonly parts: number;
  /** The hash of what genesis states; null: there is none yet. */
  readonly genesisHash: string | null;
  /** The number of the next checkpoint; 0: there is none yet. */
  readonly seq: number;
  readonly prev: string;
  readonly turn: number;
  /** The last checkpoint ended no turn. */
  readonly isInTurn: boolean;
  /** Lines without a checkpoint, and torn bytes that opening cut off. */
  readonly found: FoundRange | null;
  readonly cut: number;
  /** A head that the user gave up. */
  readonly lost: LostHead | null;
  readonly newest: Newest | null;
  /** The head that the genesis names as the log's origin; null also without a genesis. */
  readonly from?: SignedHead | null;
  /** Rotations by others that were followed (trust/proof/rotations.ts). */
  readonly handOvers: readonly HandOver[];
}

/** The state of an empty log. */
export function nothingSigned(
  crypto: ProofCrypto,
  salt: Uint8Array,
  isSidecar: boolean,
  isRaw = false,
): SignedSoFar {
  const parts = isRaw ? 0 : PARTS_DEFAULT;
  const ledger = LogLedger.begin({ crypto, salt, parts, isSidecar, isRaw });
  const none = { seq: 0, prev: "0".repeat(64), turn: 0, isInTurn: false };
  const nothing = { found: null, cut: 0, lost: null, newest: null, handOvers: [] };
  return { ledger, salt, parts, genesisHash: null, ...none, ...nothing };
}
