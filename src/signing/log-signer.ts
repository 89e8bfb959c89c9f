/**
 * Log signer: what is known of one log while it is being signed, and the checkpoints that follow
 * from it.
 *
 * Makes lines; does not write them. Its owner holds the log's lock, and tells it of every line.
 *
 * S1  Nothing is signed that was not verified on opening (open-to-sign.ts) or came through here.
 * S2  A draft changes nothing until it is committed: a write that the disk refuses leaves the
 *     signer where it was.
 * S3  What was found unsigned is stated in the next checkpoint, never signed over in silence.
 */

import { toHex } from "../proof/bytes.ts";
import {
  type Checkpoint,
  type CheckpointFacts,
  type Found,
  type Kind,
  PARTS_DEFAULT,
  writeCheckpoint,
} from "../proof/checkpoint.ts";
import type { ProofCrypto } from "../proof/crypto.ts";
import { Ledger } from "../proof/ledger.ts";
import type { Signer } from "./signer.ts";

/** A log that was opened to sign: what its checkpoints come to so far. */
export interface SignedSoFar {
  readonly ledger: Ledger;
  readonly salt: Uint8Array;
  readonly parts: number;
  /** The number of the next checkpoint; 0: there is none yet. */
  readonly seq: number;
  readonly prev: string;
  readonly turn: number;
  /** The last checkpoint ended no turn, or lines stand after it. */
  readonly isInTurn: boolean;
  /** Lines that nobody signed, and bytes that a crash left torn and opening cut. */
  readonly found: Found | null;
  readonly cut: number;
  /** A head that a person gave up. */
  readonly lost: { readonly seq: number; readonly line: string } | null;
  readonly newest: Newest | null;
}

/** The newest checkpoint of a log, whoever made it. */
export interface Newest {
  readonly seq: number;
  readonly byteOffset: number;
  /** SHA-256 of its line. */
  readonly line: string;
  /** Which revision of thread.json it knew. */
  readonly rev: number;
}

/** A checkpoint that was made: what a pin remembers. */
export interface Head {
  readonly log: string;
  readonly seq: number;
  readonly byteOffset: number;
  readonly line: string;
  readonly kind: Kind["kind"];
  readonly kid: string;
  readonly ts: string;
}

/** What a log that has no line yet comes to. */
export function nothingSigned(
  crypto: ProofCrypto,
  salt: Uint8Array,
  isSidecar: boolean,
): SignedSoFar {
  const parts = PARTS_DEFAULT;
  const ledger = Ledger.begin({ crypto, salt, parts, isSidecar });
  const none = { seq: 0, prev: "0".repeat(64), turn: 0, isInTurn: false };
  return { ledger, salt, parts, ...none, found: null, cut: 0, lost: null, newest: null };
}

export class LogSigner {
  readonly #crypto: ProofCrypto;
  readonly #signer: Signer;
  readonly #isSidecar: boolean;
  readonly #nowIso: () => string;
  #state: State;

  constructor(
    so: SignedSoFar,
    parts: {
      readonly crypto: ProofCrypto;
      readonly signer: Signer;
      readonly isSidecar: boolean;
      readonly nowIso: () => string;
    },
  ) {
    this.#crypto = parts.crypto;
    this.#signer = parts.signer;
    this.#isSidecar = parts.isSidecar;
    this.#nowIso = parts.nowIso;
    const { ledger, seq, prev, turn, found, cut, lost, newest } = so;
    const log = toHex(parts.crypto.sha256(so.salt)).slice(0, 32);
    const genesis = { salt: toHex(so.salt), parts: so.parts, log };
    const open = { ledger, seq, prev, turn, found, cut, lost, newest };
    this.#state = { genesis, ...open, unsigned: 0, head: null };
  }

  /** The last checkpoint that was committed here. */
  get head(): Head | null {
    return this.#state.head;
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

  /** There is no checkpoint yet. */
  get isBeginning(): boolean {
    return this.#state.seq === 0;
  }

  /** Something was found on opening that the next checkpoint must state (S3). */
  get mustRecover(): boolean {
    const { found, cut, lost } = this.#state;
    return this.#state.seq > 0 && (found !== null || cut > 0 || lost !== null);
  }

  draft(): Draft {
    const state = { ...this.#state, ledger: this.#state.ledger.fork() };
    const commit = (drafted: State) => {
      this.#state = drafted;
    };
    return new Draft(state, commit, this.#make, this.#crypto.sha256);
  }

  /** The line of a checkpoint, and the state after it. */
  readonly #make: Make = async (state, kind, opening, { turn, rev }) => {
    const { ledger, seq, prev } = state;
    const { kid, fp } = this.#signer;
    const ts = this.#nowIso();
    const { log } = state.genesis;
    const facts = {
      ...{ turn, byteOffset: ledger.bytes, hash: ledger.hash(), fp, ts, log, seq, prev },
      ...{ seg: ledger.seg(), tree: ledger.tree(), rev, kid },
      ...kind,
    } as CheckpointFacts;
    const line = await writeCheckpoint(opening, facts, (message) => this.#signer.sign(message));
    if (this.#isSidecar) ledger.beginSegment();
    else ledger.addCheckpointLine(line);
    const lineHash = toHex(this.#crypto.sha256(line));
    const { byteOffset } = facts;
    const head = { log, seq, byteOffset, line: lineHash, kind: kind.kind, kid, ts };
    const newest = { seq, byteOffset, line: lineHash, rev };
    const now = { turn, seq: seq + 1, prev: lineHash, unsigned: 0, head, newest };
    const stated = kind.kind === "genesis" || kind.kind === "recovery";
    Object.assign(state, now, stated ? { found: null, cut: 0, lost: null } : {});
    return line;
  };
}

interface State {
  readonly genesis: { readonly salt: string; readonly parts: number; readonly log: string };
  readonly ledger: Ledger;
  seq: number;
  prev: string;
  turn: number;
  found: Found | null;
  cut: number;
  lost: SignedSoFar["lost"];
  unsigned: number;
  head: Head | null;
  newest: Newest | null;
}

interface When {
  readonly turn: number;
  /** thread.json's revision; 0 where there is none. */
  readonly rev: number;
}

type Make = (state: State, kind: Kind, opening: string, when: When) => Promise<Uint8Array>;

/** Lines and checkpoints that are about to be written together. */
export class Draft {
  readonly #state: State;
  readonly #commit: (state: State) => void;
  readonly #make: Make;
  readonly #sha256: ProofCrypto["sha256"];

  constructor(
    state: State,
    commit: (state: State) => void,
    make: Make,
    sha256: ProofCrypto["sha256"],
  ) {
    this.#sha256 = sha256;
    this.#state = state;
    this.#commit = commit;
    this.#make = make;
  }

  /** Takes whole lines, LFs included. */
  addLines(lines: Uint8Array): void {
    this.#state.ledger.addLines(lines);
    this.#state.unsigned += lines.length;
  }

  /** A checkpoint over all before it. The first one is the genesis, whatever was asked for. */
  checkpoint(kind: "turn" | "batch" | "final", opening: string, when: When): Promise<Uint8Array> {
    return this.#make(this.#state, this.#kindOf({ kind }), opening, when);
  }

  /** States what was found on opening (S3), in a log without a checkpoint as its genesis. */
  recovery(opening: string, when: When, vouched = false): Promise<Uint8Array> {
    const { cut, found, lost } = this.#state;
    const kind = this.#kindOf({ kind: "recovery", cut, found, vouched, lost }, vouched);
    return this.#make(this.#state, kind, opening, when);
  }

  /** Any other checkpoint: a link, a rotation, bytes that a person vouches for. */
  special(kind: Kind, opening: string, when: When): Promise<Uint8Array> {
    return this.#make(this.#state, kind, opening, when);
  }

  /** Whether a checkpoint of another signer is the one that must come next. */
  fits({ seq, prev, log, hash, seg, tree }: Checkpoint): boolean {
    const { ledger, genesis } = this.#state;
    const own = ledger.tree();
    return (
      seq === this.#state.seq &&
      prev === this.#state.prev &&
      log === genesis.log &&
      hash === ledger.hash() &&
      seg === ledger.seg() &&
      tree.size === own.size &&
      tree.root === own.root
    );
  }

  /** Takes over a checkpoint of another signer that fits. */
  adopt({ seq, turn, byteOffset, rev }: Checkpoint, line: Uint8Array): void {
    this.#state.ledger.addCheckpointLine(line);
    const prev = toHex(this.#sha256(line));
    const newest = { seq, byteOffset, line: prev, rev };
    Object.assign(this.#state, { seq: seq + 1, turn, prev, unsigned: 0, newest });
    Object.assign(this.#state, { found: null, cut: 0, lost: null });
  }

  /** What others left unsigned up to here was found (S3). */
  foundSince(): void {
    const { unsigned, ledger, found } = this.#state;
    if (unsigned === 0) return;
    const from = found ? found[0] : ledger.bytes - unsigned;
    this.#state.found = [from, ledger.bytes];
    this.#state.unsigned = 0;
  }

  /** What was drafted stands in the log. */
  commit(): void {
    this.#commit(this.#state);
  }

  #kindOf(asked: Kind, vouched = false): Kind {
    const { seq, genesis, found } = this.#state;
    if (seq > 0) return asked;
    const { salt, parts } = genesis;
    return { kind: "genesis", salt, parts, from: null, found, vouched };
  }
}
