/**
 * Log signer: the running state of one log while it is being signed (hash, tree, segment, last
 * checkpoint), and the checkpoints that follow from it.
 *
 * Builds lines but does not write them. Its owner holds the log's lock and passes it every line.
 * For each write the owner takes a `draft`, which is a signer as well, adds lines and checkpoints
 * to it, and commits it once they are written.
 *
 * Only bytes that were verified on opening (open-to-sign.ts) or added here are signed.
 *
 * S2  A draft changes its signer only on commit: a failed write leaves the signer unchanged.
 * S3  What was found unsigned is stated in the next checkpoint, never signed silently.
 * S4  After a checkpoint by a retired key of the user, that key signs until it has handed over with
 *     a `rotate`, so that a reader who trusts only the old key can follow. If its private part is
 *     gone, the current key signs at once.
 *
 * Added lines are hashed only when a checkpoint needs them or on commit. So lines without a
 * checkpoint are hashed while the disk syncs them, and without a copy of the ledger.
 */

import { assert } from "../../core/base/errors.ts";
import type { Signer } from "../keys/keys.ts";
import { toBase64url, toHex } from "../proof/bytes.ts";
import {
  bindsGenesis,
  type Checkpoint,
  type CheckpointFacts,
  type CheckpointKind,
  type FoundRange,
  genesisHash,
  type SignedHead,
  writeCheckpoint,
} from "../proof/checkpoint.ts";
import type { ProofCrypto } from "../proof/crypto.ts";
import type { LogLedger } from "../proof/ledger.ts";
import {
  type CoveredPrefix,
  type Newest,
  type OwnSigners,
  type SignedCheckpoint,
  type SignedSoFar,
  type SignerHead,
  type SignerState,
  signerAfter,
  type When,
} from "./signer-state.ts";

export interface SignerParts {
  readonly crypto: ProofCrypto;
  readonly signer: Signer;
  /** The user's own keys, including retired ones (S4); default: none. */
  readonly own?: OwnSigners;
  readonly isSidecar: boolean;
  readonly nowIso: () => string;
  /** Of a fork: the head where the log begins, stated in its genesis. */
  readonly from?: SignedHead | null;
}

/** Added to a draft, but not hashed yet. */
type DraftPart =
  | { readonly is: "lines" | "checkpoint"; readonly bytes: Uint8Array }
  | { readonly is: "segment" };

export class LogSigner {
  readonly #parts: SignerParts;
  /** Of a draft: the signer that it changes on commit. */
  readonly #base: LogSigner | null;
  readonly #start: number;
  #ownSigners: OwnSigners;
  #state: SignerState;
  #ledger: LogLedger;
  #isForked = false;
  #pending: DraftPart[] = [];
  #bytes: number;

  private constructor(
    parts: SignerParts,
    ownSigners: OwnSigners,
    state: SignerState,
    ledger: LogLedger,
    base: LogSigner | null,
  ) {
    this.#parts = parts;
    this.#ownSigners = ownSigners;
    this.#state = state;
    this.#ledger = ledger;
    this.#base = base;
    this.#start = ledger.bytes;
    this.#bytes = ledger.bytes;
  }

  /** The signer of a log that was opened to sign. */
  static from(so: SignedSoFar, parts: SignerParts): LogSigner {
    const { signer: current, own = new Map(), crypto, from = null } = parts;
    const { ledger, seq, prev, turn, found, cut, lost, newest, genesisHash } = so;
    const log = toHex(crypto.sha256(so.salt)).slice(0, 32);
    const genesis = { salt: toHex(so.salt), parts: so.parts, log, from };
    const by = signerAfter(newest?.kid ?? null, current, own);
    const state = { genesis, genesisHash, seq, prev, turn, found, cut, lost, newest, current, by };
    return new LogSigner(parts, own, { ...state, unsigned: 0, head: null }, ledger, null);
  }

  setOwn(ownSigners: OwnSigners): void {
    this.#ownSigners = ownSigners;
  }

  /** The last checkpoint that was committed here. */
  get head(): SignerHead | null {
    return this.#state.head;
  }

  /** The log's identity, also before its genesis. */
  get log(): string {
    return this.#state.genesis.log;
  }

  /** The number of the next checkpoint. */
  get seq(): number {
    return this.#state.seq;
  }

  /** The line of the checkpoint before that. */
  get prev(): string {
    return this.#state.prev;
  }

  /** The newest checkpoint in the log, by any signer, or null. */
  get newest(): Newest | null {
    return this.#state.newest;
  }

  /** What was found unsigned and is not stated yet (S3). */
  get found(): FoundRange | null {
    return this.#state.found;
  }

  /** How many bytes follow the last checkpoint. */
  get unsignedBytes(): number {
    return this.#state.unsigned;
  }

  /** The length of the log that it knows. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The bytes that the next checkpoint would sign. */
  get covered(): CoveredPrefix {
    const { salt } = this.#state.genesis;
    const prefix = this.#parts.isSidecar ? Buffer.from(salt, "hex") : new Uint8Array(0);
    return { prefix, bytes: this.#ledger.bytes, hash: this.#ledger.hash() };
  }

  /** The last checkpoint is by a retired key of the user, which has not handed over yet (S4). */
  get mustRotate(): boolean {
    const { by, current } = this.#state;
    return by.kid !== current.kid;
  }

  get isOurs(): boolean {
    const { newest, current } = this.#state;
    return newest !== null && (newest.kid === current.kid || this.#ownSigners.has(newest.kid));
  }

  get isBeginning(): boolean {
    return this.#state.seq === 0;
  }

  /** Something found on opening must be stated by the next checkpoint (S3). */
  get mustRecover(): boolean {
    const { seq, found, cut, lost } = this.#state;
    return seq > 0 && (found !== null || cut > 0 || lost !== null);
  }

  /** Something found on opening is not stated yet, in a log with or without checkpoints. */
  get mustState(): boolean {
    return this.mustRecover || this.found !== null;
  }

  /** For lines that will be written. */
  draft(): LogSigner {
    return new LogSigner(this.#parts, this.#ownSigners, { ...this.#state }, this.#hashed(), this);
  }

  /** The draft's lines are in the log: updates the draft's signer. */
  commit(): void {
    const base = this.#base;
    assert(base && base.#ledger.bytes === this.#start, "a draft continues where the log ends");
    this.#hashPending();
    base.#state = this.#state;
    base.#ledger = this.#ledger;
    base.#bytes = this.#ledger.bytes;
  }

  /** Takes whole lines, with LFs. The buffer must not change until `commit`. */
  addLines(lines: Uint8Array): void {
    this.#add({ is: "lines", bytes: lines });
    this.#state.unsigned += lines.length;
  }

  /** Like `addLines`, for a buffer that will be reused. */
  addOthersLines(lines: Uint8Array): void {
    this.addLines(lines);
    this.#hashed();
  }

  /**
   * A checkpoint over everything before it. The first one is the genesis, whichever kind is asked
   * for.
   */
  checkpoint(kind: "turn" | "batch" | "final", opening: string, when: When): Promise<Uint8Array> {
    return this.special(this.#kindOf({ kind }), opening, when);
  }

  /** States what was found on opening (S3); in a log without a checkpoint, as its genesis. */
  recovery(opening: string, when: When, vouched = false): Promise<Uint8Array> {
    const { cut, found, lost } = this.#state;
    const kind = this.#kindOf({ kind: "recovery", cut, found, vouched, lost }, vouched);
    return this.special(kind, opening, when);
  }

  /** Hands over to the current key, signed by the previous one (S4). */
  rotate(opening: string, when: When): Promise<Uint8Array> {
    const { kid: next, publicKey } = this.#state.current;
    return this.special({ kind: "rotate", next, key: toBase64url(publicKey) }, opening, when);
  }

  /** Any other checkpoint: a link, or a vouch. */
  async special(kind: CheckpointKind, opening: string, when: When): Promise<Uint8Array> {
    const signed = await this.sign(kind, opening, when);
    this.#take(signed);
    return signed.line;
  }

  /** Signs a checkpoint without adding it to the draft; `takes` may add it later. */
  async sign(
    kind: CheckpointKind,
    opening: string,
    { turn, rev }: When,
  ): Promise<SignedCheckpoint> {
    const ledger = this.#hashed();
    const { by, genesis, genesisHash: bound, seq, prev } = this.#state;
    const binds = this.#parts.isSidecar && bindsGenesis({ seq, kind: kind.kind });
    const facts = {
      turn,
      byteOffset: ledger.bytes,
      hash: ledger.hash(),
      fp: by.fp,
      ts: this.#parts.nowIso(),
      log: genesis.log,
      seq,
      prev,
      seg: ledger.seg(),
      tree: ledger.tree(),
      rev,
      kid: by.kid,
      ...kind,
      ...(binds && bound !== null ? { genesis: bound } : null),
    } as CheckpointFacts;
    const line = await writeCheckpoint(opening, facts, (message) => by.sign(message));
    return { line, facts };
  }

  /** Adds a checkpoint that was signed early if it would be the same now; returns whether. */
  takes(signed: SignedCheckpoint, when: When): boolean {
    const { seq, prev, byteOffset, kid, turn, rev } = signed.facts;
    const { seq: nextSeq, prev: last, by } = this.#state;
    const isNext = seq === nextSeq && prev === last && byteOffset === this.#bytes;
    if (!isNext || kid !== by.kid || turn !== when.turn || rev !== when.rev) return false;
    this.#take(signed);
    return true;
  }

  #take({ line, facts }: SignedCheckpoint): void {
    const { kind, log, seq, byteOffset, kid, ts, turn, rev } = facts;
    this.#add(this.#parts.isSidecar ? { is: "segment" } : { is: "checkpoint", bytes: line });
    const lineHash = toHex(this.#parts.crypto.sha256(line));
    const head = { log, seq, byteOffset, line: lineHash, kind, kid, ts };
    const newest = { seq, byteOffset, line: lineHash, rev, kid, kind };
    const now = { turn, seq: seq + 1, prev: lineHash, unsigned: 0, head, newest };
    if (kind === "rotate") this.#state.by = this.#state.current;
    if (kind === "genesis") this.#state.genesisHash = genesisHash(this.#parts.crypto, facts);
    const stated = kind === "genesis" || kind === "recovery";
    Object.assign(this.#state, now, stated ? { found: null, cut: 0, lost: null } : {});
  }

  /** Whether another signer's checkpoint is the correct next one. */
  fits({ seq, prev, log, hash, seg, tree, genesis }: Checkpoint): boolean {
    const ledger = this.#hashed();
    const ownTree = ledger.tree();
    return (
      seq === this.#state.seq &&
      prev === this.#state.prev &&
      log === this.log &&
      (genesis === undefined || genesis === this.#state.genesisHash) &&
      hash === ledger.hash() &&
      seg === ledger.seg() &&
      tree.size === ownTree.size &&
      tree.root === ownTree.root
    );
  }

  /** Takes over another signer's checkpoint, which must fit. */
  adopt(checkpoint: Checkpoint, line: Uint8Array): void {
    const { seq, turn, byteOffset, rev, kid, kind } = checkpoint;
    if (kind === "genesis") this.#state.genesisHash = genesisHash(this.#parts.crypto, checkpoint);
    this.#add(this.#parts.isSidecar ? { is: "segment" } : { is: "checkpoint", bytes: line });
    const prev = toHex(this.#parts.crypto.sha256(line));
    const newest = { seq, byteOffset, line: prev, rev, kid, kind };
    // Another process of the same user has rotated our key: switch to the new one as well.
    const next = kind === "rotate" ? this.#ownSigners.get(checkpoint.next) : undefined;
    if (next && kid === this.#state.current.kid) this.#state.current = next;
    this.#state.by = signerAfter(next?.kid ?? kid, this.#state.current, this.#ownSigners);
    Object.assign(this.#state, { seq: seq + 1, turn, prev, unsigned: 0, newest });
    Object.assign(this.#state, { found: null, cut: 0, lost: null });
  }

  /** Records as found what others left unsigned in `[from, to)`, after the last checkpoint (S3). */
  stateFound(from: number, to: number): void {
    const { found } = this.#state;
    if (from < to) this.#state.found = [found ? found[0] : from, to];
  }

  #kindOf(kind: CheckpointKind, vouched = false): CheckpointKind {
    const { seq, genesis, found } = this.#state;
    if (seq > 0) return kind;
    const { salt, parts, from } = genesis;
    return { kind: "genesis", salt, parts, from, found, vouched };
  }

  #add(added: DraftPart): void {
    if (added.is !== "segment") this.#bytes += added.bytes.length;
    this.#pending.push(added);
  }

  /** The ledger with everything added. Added buffers may change from now on. */
  #hashed(): LogLedger {
    if (this.#pending.length > 0 && this.#base && !this.#isForked) {
      this.#ledger = this.#ledger.fork(); // The signer's own ledger must not change before commit.
      this.#isForked = true;
    }
    this.#hashPending();
    return this.#ledger;
  }

  #hashPending(): void {
    for (const added of this.#pending) {
      if (added.is === "lines") this.#ledger.addLines(added.bytes);
      else if (added.is === "checkpoint") this.#ledger.addCheckpointLine(added.bytes);
      else this.#ledger.beginSegment();
    }
    this.#pending = [];
  }
}
