/**
 * Checkpoint draft: lines and checkpoints that are about to be written to a log together, and what
 * its signer will know when they stand (log-signer.ts, S2).
 */

import { toBase64url, toHex } from "../../proof/bytes.ts";
import type {
  Checkpoint,
  CheckpointFacts,
  ForeignHead,
  Found,
  Kind,
} from "../../proof/checkpoint.ts";
import type { ProofCrypto } from "../../proof/crypto.ts";
import type { Ledger } from "../../proof/ledger.ts";
import type { Head as PinnedHead } from "../../proof/pin.ts";
import type { Signer } from "../keys/signer.ts";
import type { LedgerDraft } from "./ledger-draft.ts";

/** A checkpoint, as whoever refers to it names it. */
export interface NamedCheckpoint {
  readonly seq: number;
  /** SHA-256 of its line. */
  readonly line: string;
}

/** The newest checkpoint of a log, whoever made it. */
export interface Newest extends NamedCheckpoint {
  readonly byteOffset: number;
  readonly kid: string;
  /** Which revision of thread.json it knew. */
  readonly rev: number;
  readonly kind: string;
}

/** A checkpoint that was made: what a pin remembers of it. */
export type Head = Omit<PinnedHead, "place" | "id">;

/** A head that a person gave up. */
export type Lost = NamedCheckpoint;

/** What is known of a log that is being signed, its ledger apart. */
export interface State {
  readonly genesis: {
    readonly salt: string;
    readonly parts: number;
    readonly log: string;
    readonly from: ForeignHead | null;
  };
  seq: number;
  prev: string;
  turn: number;
  found: Found | null;
  cut: number;
  lost: Lost | null;
  unsigned: number;
  head: Head | null;
  newest: Newest | null;
  /** The user's current key. */
  current: Signer;
  /** The key that signs the next checkpoint: the current one, or one that is to be rotated. */
  by: Signer;
}

/** The user's own keys that can still sign, and were not revoked; by `kid`. */
export type OwnSigners = ReadonlyMap<string, Signer>;

/** Who signs the next checkpoint after one by `kid` (log-signer.ts, S4). */
export function signerAfter(kid: string | null, current: Signer, own: OwnSigners): Signer {
  return kid === null || kid === current.kid ? current : (own.get(kid) ?? current);
}

export interface When {
  readonly turn: number;
  /** thread.json's revision; 0 where there is none. */
  readonly rev: number;
}

/** A checkpoint as it was made: its line, LF included, and what that says. */
export interface Signed {
  readonly line: Uint8Array;
  readonly facts: CheckpointFacts;
}

export type SignDraft = (
  state: State,
  ledger: Ledger,
  kind: Kind,
  opening: string,
  when: When,
) => Promise<Signed>;

interface DraftParts {
  readonly sign: SignDraft;
  readonly commit: (state: State, ledger: Ledger) => void;
  readonly sha256: ProofCrypto["sha256"];
  readonly isSidecar: boolean;
  readonly own: OwnSigners;
}

export class Draft {
  readonly #state: State;
  readonly #ledger: LedgerDraft;
  readonly #parts: DraftParts;

  constructor(state: State, ledger: LedgerDraft, parts: DraftParts) {
    this.#state = state;
    this.#ledger = ledger;
    this.#parts = parts;
  }

  /** Takes whole lines, LFs included, which must stay as they are until `commit`. */
  addLines(lines: Uint8Array): void {
    this.#ledger.addLines(lines);
    this.#state.unsigned += lines.length;
  }

  /** As `addLines`, for lines that others wrote and whose buffer is used again. */
  addOthersLines(lines: Uint8Array): void {
    this.addLines(lines);
    this.#ledger.hashed();
  }

  /** A checkpoint over all before it. The first one is the genesis, whatever was asked for. */
  checkpoint(kind: "turn" | "batch" | "final", opening: string, when: When): Promise<Uint8Array> {
    return this.special(this.#kindOf({ kind }), opening, when);
  }

  /** States what was found on opening (S3), in a log without a checkpoint as its genesis. */
  recovery(opening: string, when: When, vouched = false): Promise<Uint8Array> {
    const { cut, found, lost } = this.#state;
    const kind = this.#kindOf({ kind: "recovery", cut, found, vouched, lost }, vouched);
    return this.special(kind, opening, when);
  }

  /** Hands over to the current key, by the one that signed last (log-signer.ts, S4). */
  rotate(opening: string, when: When): Promise<Uint8Array> {
    const { kid: next, publicKey } = this.#state.current;
    return this.special({ kind: "rotate", next, key: toBase64url(publicKey) }, opening, when);
  }

  /** The number of the next checkpoint. */
  get seq(): number {
    return this.#state.seq;
  }

  /** Any other checkpoint: a link, bytes that a person vouches for. */
  async special(kind: Kind, opening: string, when: When): Promise<Uint8Array> {
    const signed = await this.sign(kind, opening, when);
    this.#take(signed);
    return signed.line;
  }

  /** A checkpoint over all before it that is not in the draft: it may come too early (`takes`). */
  sign(kind: Kind, opening: string, when: When): Promise<Signed> {
    return this.#parts.sign(this.#state, this.#ledger.hashed(), kind, opening, when);
  }

  /** Adds one that was made early, if it says what would be said now; answers whether it does. */
  takes(signed: Signed, when: When): boolean {
    const { seq, prev, byteOffset, kid, turn, rev } = signed.facts;
    const { seq: nextSeq, prev: last, by } = this.#state;
    const isNext = seq === nextSeq && prev === last && byteOffset === this.#ledger.bytes;
    if (!isNext || kid !== by.kid || turn !== when.turn || rev !== when.rev) return false;
    this.#take(signed);
    return true;
  }

  #take({ line, facts }: Signed): void {
    const { kind, log, seq, byteOffset, kid, ts, turn, rev } = facts;
    if (this.#parts.isSidecar) this.#ledger.beginSegment();
    else this.#ledger.addCheckpointLine(line);
    const lineHash = toHex(this.#parts.sha256(line));
    const head = { log, seq, byteOffset, line: lineHash, kind, kid, ts };
    const newest = { seq, byteOffset, line: lineHash, rev, kid, kind };
    const now = { turn, seq: seq + 1, prev: lineHash, unsigned: 0, head, newest };
    if (kind === "rotate") this.#state.by = this.#state.current;
    const stated = kind === "genesis" || kind === "recovery";
    Object.assign(this.#state, now, stated ? { found: null, cut: 0, lost: null } : {});
  }

  /** Whether a checkpoint of another signer is the one that must come next. */
  fits({ seq, prev, log, hash, seg, tree }: Checkpoint): boolean {
    const { genesis } = this.#state;
    const ledger = this.#ledger.hashed();
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
  adopt(checkpoint: Checkpoint, line: Uint8Array): void {
    const { seq, turn, byteOffset, rev, kid, kind } = checkpoint;
    this.#ledger.addCheckpointLine(line);
    const prev = toHex(this.#parts.sha256(line));
    const newest = { seq, byteOffset, line: prev, rev, kid, kind };
    const { own } = this.#parts;
    // Another process of the same user has rotated our key: we go over to the new one with it.
    const next = kind === "rotate" ? own.get(checkpoint.next) : undefined;
    if (next && kid === this.#state.current.kid) this.#state.current = next;
    this.#state.by = signerAfter(next?.kid ?? kid, this.#state.current, own);
    Object.assign(this.#state, { seq: seq + 1, turn, prev, unsigned: 0, newest });
    Object.assign(this.#state, { found: null, cut: 0, lost: null });
  }

  /** What others left unsigned up to here was found (S3). */
  foundSince(): void {
    const { unsigned, found } = this.#state;
    if (unsigned === 0) return;
    const { bytes } = this.#ledger;
    this.#state.found = [found ? found[0] : bytes - unsigned, bytes];
    this.#state.unsigned = 0;
  }

  /** What was drafted stands in the log. */
  commit(): void {
    this.#parts.commit(this.#state, this.#ledger.commit());
  }

  #kindOf(asked: Kind, vouched = false): Kind {
    const { seq, genesis, found } = this.#state;
    if (seq > 0) return asked;
    const { salt, parts, from } = genesis;
    return { kind: "genesis", salt, parts, from, found, vouched };
  }
}
