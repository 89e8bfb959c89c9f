/**
 * Log signer: what is known of one log while it is being signed, and the checkpoints that follow
 * from it.
 *
 * Makes lines (checkpoint-draft.ts); does not write them. Its owner holds the log's lock, and tells
 * it of every line.
 *
 * S1  Nothing is signed that was not verified on opening (open-to-sign.ts) or came through here.
 * S2  A draft changes nothing until it is committed: a write that the disk refuses leaves the
 *     signer where it was.
 * S3  What was found unsigned is stated in the next checkpoint, never signed over in silence.
 * S4  After a checkpoint by a retired key of the user's, that key signs on until it has handed over
 *     by a `rotate`: so that a reader who trusts the old key alone can follow. Where its private part
 *     is gone, the current key signs at once.
 */

import { toHex } from "../../proof/bytes.ts";
import {
  type CheckpointFacts,
  type ForeignHead,
  type Found,
  PARTS_DEFAULT,
  writeCheckpoint,
} from "../../proof/checkpoint.ts";
import type { ProofCrypto } from "../../proof/crypto.ts";
import { Ledger } from "../../proof/ledger.ts";
import type { HandOver } from "../../proof/rotations.ts";
import type { Signer } from "../keys/signer.ts";
import {
  Draft,
  type Head,
  type Lost,
  type Newest,
  type OwnSigners,
  type SignDraft,
  type State,
  signerAfter,
} from "./checkpoint-draft.ts";
import { LedgerDraft } from "./ledger-draft.ts";

/** A log that was opened to sign: what its checkpoints come to so far. */
export interface SignedSoFar {
  readonly ledger: Ledger;
  readonly salt: Uint8Array;
  readonly parts: number;
  /** The number of the next checkpoint; 0: there is none yet. */
  readonly seq: number;
  readonly prev: string;
  readonly turn: number;
  /** The last checkpoint ended no turn. */
  readonly isInTurn: boolean;
  /** Lines that nobody signed, and bytes that a crash left torn and opening cut. */
  readonly found: Found | null;
  readonly cut: number;
  /** A head that a person gave up. */
  readonly lost: Lost | null;
  readonly newest: Newest | null;
  /** What the genesis says that the log begins from; null also without a genesis. */
  readonly from?: ForeignHead | null;
  /** The rotations by others that were followed (proof/rotations.ts). */
  readonly handOvers: readonly HandOver[];
}

/** The first `bytes` of a log: `hash` is the SHA-256 in hex of `prefix` and of them. */
export interface Covered {
  readonly prefix: Uint8Array;
  readonly bytes: number;
  readonly hash: string;
}

/** What a log that has no line yet comes to. */
export function nothingSigned(
  crypto: ProofCrypto,
  salt: Uint8Array,
  isSidecar: boolean,
  isRaw = false,
): SignedSoFar {
  const parts = isRaw ? 0 : PARTS_DEFAULT;
  const ledger = Ledger.begin({ crypto, salt, parts, isSidecar, isRaw });
  const none = { seq: 0, prev: "0".repeat(64), turn: 0, isInTurn: false };
  const nothing = { found: null, cut: 0, lost: null, newest: null, handOvers: [] };
  return { ledger, salt, parts, ...none, ...nothing };
}

export class LogSigner {
  readonly #crypto: ProofCrypto;
  readonly #isSidecar: boolean;
  readonly #nowIso: () => string;
  #ledger: Ledger;
  #state: State;
  #own: OwnSigners;

  constructor(
    so: SignedSoFar,
    parts: {
      readonly crypto: ProofCrypto;
      readonly signer: Signer;
      /** The user's own keys, retired ones too (S4); none by default. */
      readonly own?: OwnSigners;
      readonly isSidecar: boolean;
      readonly nowIso: () => string;
      /** The head that the log begins from, of a fork; its genesis says so. */
      readonly from?: ForeignHead | null;
    },
  ) {
    this.#crypto = parts.crypto;
    this.#isSidecar = parts.isSidecar;
    this.#nowIso = parts.nowIso;
    const { ledger, seq, prev, turn, found, cut, lost, newest } = so;
    const log = toHex(parts.crypto.sha256(so.salt)).slice(0, 32);
    const genesis = { salt: toHex(so.salt), parts: so.parts, log, from: parts.from ?? null };
    this.#ledger = ledger;
    this.#own = parts.own ?? new Map();
    const current = parts.signer;
    const by = signerAfter(newest?.kid ?? null, current, this.#own);
    const known = { genesis, seq, prev, turn, found, cut, lost, newest, current, by };
    this.#state = { ...known, unsigned: 0, head: null };
  }

  /** The user's own keys, as they are now. */
  knowsOwn(own: OwnSigners): void {
    this.#own = own;
  }

  /** The last checkpoint that was committed here. */
  get head(): Head | null {
    return this.#state.head;
  }

  /** The log's identity, also before its genesis. */
  get log(): string {
    return this.#state.genesis.log;
  }

  /** The newest checkpoint that stands, by whomever; null when there is none. */
  get newest(): Newest | null {
    return this.#state.newest;
  }

  /** What was found unsigned and is not stated yet (S3). */
  get found(): Found | null {
    return this.#state.found;
  }

  /** How many bytes stand after the last checkpoint. */
  get unsignedBytes(): number {
    return this.#state.unsigned;
  }

  /** How many bytes of the log it knows. */
  get bytes(): number {
    return this.#ledger.bytes;
  }

  /** The bytes that the next checkpoint would sign, as they were read. */
  get covered(): Covered {
    const { salt } = this.#state.genesis;
    const prefix = this.#isSidecar ? Buffer.from(salt, "hex") : new Uint8Array(0);
    return { prefix, bytes: this.#ledger.bytes, hash: this.#ledger.hash() };
  }

  /** The last checkpoint is by a retired key of the user's, which has not handed over yet (S4). */
  get mustRotate(): boolean {
    const { by, current } = this.#state;
    return by.kid !== current.kid;
  }

  /** The newest checkpoint is by the user's own key. */
  get isOurs(): boolean {
    const { newest, current } = this.#state;
    return newest !== null && (newest.kid === current.kid || this.#own.has(newest.kid));
  }

  /** There is no checkpoint yet. */
  get isBeginning(): boolean {
    return this.#state.seq === 0;
  }

  /** Something was found on opening that the next checkpoint must state (S3). */
  get mustRecover(): boolean {
    const { found, cut, lost } = this.#state;
    return this.#state.seq > 0 && (found !== null || cut > 0 || lost !== null);
  }

  /** For lines that are about to be written. */
  draft(): Draft {
    const commit = (state: State, ledger: Ledger) => {
      this.#state = state;
      this.#ledger = ledger;
    };
    return new Draft({ ...this.#state }, new LedgerDraft(this.#ledger), {
      sign: this.#sign,
      commit,
      sha256: this.#crypto.sha256,
      isSidecar: this.#isSidecar,
      own: this.#own,
    });
  }

  /** Signs what the log comes to; changes nothing. */
  readonly #sign: SignDraft = async (state, ledger, kind, opening, { turn, rev }) => {
    const { by } = state;
    const { kid, fp } = by;
    const facts = {
      turn,
      byteOffset: ledger.bytes,
      hash: ledger.hash(),
      fp,
      ts: this.#nowIso(),
      log: state.genesis.log,
      seq: state.seq,
      prev: state.prev,
      seg: ledger.seg(),
      tree: ledger.tree(),
      rev,
      kid,
      ...kind,
    } as CheckpointFacts;
    const line = await writeCheckpoint(opening, facts, (message) => by.sign(message));
    return { line, facts };
  };
}
