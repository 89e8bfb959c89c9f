/**
 * Judge: compares every checkpoint of a log with the bytes before it, in one pass.
 *
 * Pure: bytes come in through a walk, keys and crypto as arguments. `chain.ts` compares a checkpoint
 * with the one before it, `history.ts` collects what checkpoints state, `tail.ts` judges the bytes after the last one, `pins.ts` pinned heads,
 * `deep.ts` single lines.
 *
 * - The newest trusted signature covers all bytes before it, older checkpoints included. So only
 *   the last one under each key is checked, unless `isEverySignature`.
 * - After a fault the judge continues, to count everything, but vouches for nothing after it.
 * - A checkpoint that is not in its place is void, if it proves to be a signer's own
 *   (void-checkpoints.ts). Else it is a fault. Its hash is checked in a second pass, by the caller.
 * - Where the key changes, the last signature of the old key is checked: it may be a rotation,
 *   which makes the next key count (rotations.ts).
 */

import { fromHex, toHex } from "./bytes.ts";
import { CheckpointChain } from "./chain.ts";
import {
  type Checkpoint,
  type DisclosedGenesis,
  type FoundRange,
  genesisHash,
  type SignedHead,
} from "./checkpoint.ts";
import type { Claim, LegacyCheckpoint } from "./claims.ts";
import type { ProofCrypto, RunningHash } from "./crypto.ts";
import type { KeyAnswer, Keys } from "./ed25519-keys.ts";
import { legacyFaultOf } from "./envelopes.ts";
import { FALSE_SIGNATURE, Findings, NEWER, OLDER_AFTER_NEWER, refusedKeyText } from "./findings.ts";
import { type ContinuationLink, History, type KeyChange } from "./history.ts";
import { type HandOver, Rotations } from "./rotations.ts";
import type { Finding, SignedThrough } from "./verdict.ts";
import { mayBeVoid, type VoidCheckpoint, voidFaultOf, voidOf } from "./void-checkpoints.ts";
import type { WalkHandler } from "./walk.ts";

export interface JudgeOptions {
  readonly crypto: ProofCrypto;
  readonly keys: Keys;
  /** The session the checkpoints must name; null when unknown, then they must agree. */
  readonly session: string | null;
  /** Check every signature, not only the last under each key. */
  readonly isEverySignature: boolean;
  /** Read checkpoints of the Python original. */
  readonly isLegacyProfile: boolean;
  /**
   * The pinned checkpoint of a log, noted when it is passed; called once, at the first checkpoint.
   */
  readonly pinnedSeqOf: (log: string) => number | null;
  /** Whether checkpoints in the log may be void; default: they may. */
  readonly admitsVoid?: boolean | undefined;
  /** Called in order with every sound checkpoint, before its signature is checked. */
  readonly onCheckpoint?: OnCheckpoint | undefined;
}

/** Its number, its line's hash, and its fields. */
export type OnCheckpoint = (seq: number, line: string, checkpoint: Checkpoint) => void;

/** The end of the bytes that a checkpoint covers, and the end of its own line. */
interface Covered {
  readonly place: number;
  readonly end: number;
}

/** A checkpoint that is sound except for its signature, which may be checked later. */
interface Unchecked {
  readonly checkpoint: Checkpoint;
  readonly through: SignedThrough;
}

export class Judge implements WalkHandler {
  readonly #findings = new Findings();
  readonly #history: History;
  readonly #options: JudgeOptions;
  readonly #rotations: Rotations;
  readonly #hash: RunningHash;
  readonly #chain: CheckpointChain;
  #pinnedSeq: number | null = null;
  /** The last sound checkpoint, if its signature is not checked yet. */
  #unchecked: Unchecked | null = null;
  #through: SignedThrough | null = null;
  #newest: { readonly turn: number; readonly offset: number; readonly key: KeyAnswer } | null =
    null;
  readonly #usedKeys = new Map<string, KeyAnswer>();
  readonly #voids = new Map<number, VoidCheckpoint>();
  /** Those after the last sound checkpoint. */
  #pendingVoids: VoidCheckpoint[] = [];
  /** End of the last checkpoint's line. */
  #end = 0;
  /** Checkpoints of either format, how many are sound, and how many are of the older format. */
  total = 0;
  sound = 0;
  legacy = 0;
  /** End of the last line that claims to be a checkpoint. */
  claimsEnd = 0;
  /** Settings of leaves in the genesis; null before it. */
  genesis: { readonly salt: Uint8Array; readonly parts: number } | null = null;
  /** Genesis says that its signer wrote every line before it: none was found unsigned. */
  isSignedFromStart = false;
  /** The head of another log that this one begins from, as genesis states. */
  from: SignedHead | null = null;
  /** The line hash of the checkpoint with the pinned number, when the log has one. */
  pinnedLine: string | null = null;

  /** `hash` has the bytes that precede the log: none, or a sidecar's salt. */
  constructor(options: JudgeOptions, hash: RunningHash = options.crypto.runningSha256()) {
    this.#options = options;
    this.#rotations = new Rotations(options.crypto, options.keys);
    this.#hash = hash;
    this.#chain = new CheckpointChain(options.session);
    this.#history = new History(options.crypto, this.#findings);
  }

  get findings(): readonly Finding[] {
    return this.#findings.list;
  }

  get keyChanges(): readonly KeyChange[] {
    return this.#history.keyChanges;
  }

  get links(): readonly ContinuationLink[] {
    return this.#history.links;
  }

  /** The revision of thread.json when lines were found, or vouched for, last; null: never. */
  get foundRev(): number | null {
    return this.#history.foundRev;
  }

  /** Byte ranges that a signer found unsigned, and that no later checkpoint vouches for. */
  get found(): readonly FoundRange[] {
    return this.#history.found;
  }

  /** Whether the last checkpoint, rotations and links aside, ended no turn. */
  get isInTurn(): boolean {
    return this.#history.isInTurn;
  }

  /** The session that the checkpoints name. */
  get session(): string | null {
    return this.#chain.session;
  }

  /** The log's id, as its genesis states. */
  get log(): string | null {
    return this.#chain.log;
  }

  /** What the next checkpoint must state about those before it. */
  get next(): { readonly seq: number; readonly prev: string; readonly turn: number } {
    return { ...this.#chain.next, turn: this.#newest?.turn ?? 0 };
  }

  /** The last checkpoint's number; null when there is none. */
  get newestSeq(): number | null {
    return this.total === this.legacy ? null : this.#chain.next.seq - 1;
  }

  /** The hash of what genesis states; null before it. */
  get genesisHash(): string | null {
    return this.#chain.genesisHash;
  }

  /** Whether this key signed checkpoint 1, or rotations lead to it from the key that did. */
  isOfFirst(kid: string): boolean {
    return this.#rotations.isOfFirst(kid);
  }

  /** The rotations that were followed. */
  get handOvers(): readonly HandOver[] {
    return this.#rotations.handOvers;
  }

  get signedThrough(): SignedThrough | null {
    return this.#through;
  }

  /** The hash of everything judged: every whole line, after the bytes that precede the log. */
  get bytesHash(): string {
    return this.#hash.hex();
  }

  get keys(): readonly KeyAnswer[] {
    return [...this.#usedKeys.values()];
  }

  /** Void checkpoints, if their hashes are right. */
  get voids(): readonly VoidCheckpoint[] {
    return [...this.#voids.values()];
  }

  /** Whether the line at this offset is a void checkpoint. */
  isVoid(at: number): boolean {
    return this.#voids.has(at);
  }

  lines(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  claim(line: Uint8Array, start: number, claim: Claim): void {
    if (claim.is === "checkpoint" && this.#isVoid(claim.checkpoint, start)) {
      const taken = voidOf(claim.checkpoint, start, line, this.#options.crypto);
      this.#voids.set(start, taken);
      this.#pendingVoids.push(taken);
      this.lines(line);
      return;
    }
    const hash = this.#hash.hex();
    this.#hash.update(line);
    this.claimsEnd = start + line.length;
    if (claim.is === "checkpoint") {
      this.checkpoint(claim.checkpoint, line, { place: start, end: this.claimsEnd }, hash);
    } else if (claim.is === "legacy") {
      this.#legacy(claim.checkpoint, start, hash);
    } else if (claim.is === "newer") {
      this.total++;
      this.#findings.add("NEWER_FORMAT", "unreadable", start, null, NEWER(claim.version));
    } else {
      this.#findings.fault("NOT_A_CHECKPOINT", start, null, "a line claims to be a checkpoint");
    }
  }

  #isVoid(checkpoint: Checkpoint, start: number): boolean {
    const next = { ...this.#chain.next, log: this.#chain.log, end: this.#end };
    const isAdmitted = this.#options.admitsVoid !== false && !this.#findings.isBroken;
    if (!isAdmitted || this.legacy > 0 || !mayBeVoid(checkpoint, start, next)) return false;
    if (!this.isOwn(checkpoint)) return false;
    this.#settle(); // It may follow a rotation.
    this.#rotations.precedes(checkpoint);
    const { publicKey, refusal } = this.#keyOf(checkpoint);
    return publicKey !== null && refusal === null && !this.#isFalse(checkpoint);
  }

  /**
   * Judges a checkpoint that covers the bytes up to `place`; `hash` is theirs, or null when some
   * are missing.
   */
  checkpoint(
    checkpoint: Checkpoint,
    line: Uint8Array,
    { place, end }: Covered,
    hash: string | null,
  ): void {
    const { turn, seq, kid } = checkpoint;
    if (this.total === this.legacy) this.#pinnedSeq = this.#options.pinnedSeqOf(checkpoint.log);
    this.total++;
    const lineHash = toHex(this.#options.crypto.sha256(line));
    if (seq === this.#pinnedSeq) this.pinnedLine = lineHash;
    if (seq === 1 && this.#pinnedSeq === 0) this.pinnedLine ??= checkpoint.prev;
    if (this.#unchecked && this.#unchecked.checkpoint.kid !== kid) this.#settle();
    this.#rotations.comes(checkpoint);
    const key = this.#keyOf(checkpoint);
    const fault =
      this.#chain.faultOf(checkpoint, place, hash) ?? voidFaultOf(this.#pendingVoids, checkpoint);
    this.#pendingVoids = [];
    this.#end = end;
    if (fault) {
      this.#settle();
      this.#findings.fault(fault.code, place, turn, fault.message);
    } else if (!this.#findings.isBroken) {
      this.sound++;
      this.#options.onCheckpoint?.(seq, lineHash, checkpoint);
      this.#history.add(checkpoint, place, end);
      const through = throughOf(checkpoint, place, end, lineHash, this.#history.turns);
      this.#unchecked = { checkpoint, through };
      if (this.#options.isEverySignature) this.#settle();
    }
    // An unsigned statement proves no loss: anyone can claim that there was more.
    if (hash === null && this.#isFalse(checkpoint)) {
      this.#findings.fault("SIGNATURE_FALSE", place, turn, FALSE_SIGNATURE(`checkpoint ${seq}`));
    }
    if (checkpoint.kind === "genesis" && !this.genesis) {
      this.genesis = { salt: fromHex(checkpoint.salt), parts: checkpoint.parts };
      this.#chain.genesisHash = genesisHash(this.#options.crypto, checkpoint);
      this.from = checkpoint.from;
      this.isSignedFromStart = checkpoint.found === null;
    }
    this.#newest = { turn, offset: place, key };
    this.#chain.add(checkpoint, lineHash);
  }

  /**
   * Begins after a genesis of a disclosed copy, whose own signature and salt are withheld; null if
   * nothing is known of it. `line` is its line's hash, if stated.
   */
  afterGenesis(genesis: DisclosedGenesis | null, line: string | null, end: number): void {
    this.#chain.addGenesisLine(line);
    if (!genesis) return;
    this.#history.add(genesis, genesis.byteOffset, end, false);
    this.#chain.log = genesis.log;
    this.from = genesis.from;
    this.#chain.genesisHash = genesisHash(this.#options.crypto, genesis);
  }

  /** Call after the last byte. */
  finish(): void {
    this.#settle();
    this.#history.finish();
    const [first] = this.#pendingVoids;
    if (first) {
      const message =
        "a checkpoint landed after lines of another program, and counts for nothing; the next one " +
        "will cover it";
      this.#findings.add("VOID_CHECKPOINT", "incomplete", first.start, first.turn, message);
    }
    const { key, turn, offset } = this.#newest ?? {};
    if (key?.refusal) {
      this.#findings.add(
        key.refusal,
        "untrusted",
        offset ?? null,
        turn ?? null,
        refusedKeyText(key),
      );
    }
  }

  /** Checks the signature of the last sound checkpoint, and lets it vouch for the bytes. */
  #settle(): void {
    const unchecked = this.#unchecked;
    this.#unchecked = null;
    if (!unchecked || this.#findings.isBroken) return;
    const { checkpoint, through } = unchecked;
    const { publicKey, refusal } = this.#keyOf(checkpoint);
    if (!publicKey) return; // An unknown key vouches for nothing.
    if (this.#isFalse(checkpoint)) {
      const { turn, seq } = checkpoint;
      const message = FALSE_SIGNATURE(`checkpoint ${seq}`);
      this.#findings.fault("SIGNATURE_FALSE", through.byteOffset, turn, message);
    } else if (!refusal) {
      this.#through = through;
      this.#rotations.holds(checkpoint);
    }
  }

  /** Whether its signature is not valid under a key that we have. */
  #isFalse(checkpoint: Checkpoint): boolean {
    const { publicKey, fp } = this.#keyOf(checkpoint);
    if (!publicKey) return false;
    const { statement, sig2 } = checkpoint;
    return fp !== checkpoint.fp || !this.#options.crypto.verifyEd25519(publicKey, statement, sig2);
  }

  /** Whether a checkpoint is of this session and this log, as far as earlier ones say. */
  isOwn(checkpoint: Checkpoint): boolean {
    return this.#chain.isOwn(checkpoint);
  }

  #legacy(checkpoint: LegacyCheckpoint, start: number, hash: string): void {
    const { turn } = checkpoint;
    this.total++;
    const isAfterNewer = this.total > ++this.legacy;
    if (!isAfterNewer && !this.#options.isLegacyProfile) return;
    const key = this.#options.keys.byFp(checkpoint.fp);
    this.#usedKeys.set(checkpoint.fp, key);
    const fault = isAfterNewer
      ? { code: "OLDER_FORMAT_AFTER_NEWER" as const, message: OLDER_AFTER_NEWER }
      : legacyFaultOf(
          checkpoint,
          { start, hash, key, session: this.session, seq: this.legacy - 1 },
          this.#options.crypto,
        );
    if (fault) {
      this.#findings.fault(fault.code, start, turn, fault.message);
      return;
    }
    this.sound++;
    this.#newest = { turn, offset: start, key };
    if (!key.publicKey || key.refusal || this.#findings.isBroken) return;
    const end = this.claimsEnd;
    const place = { byteOffset: start, end, turn, turns: turn, seq: this.legacy - 1 };
    this.#through = { ...place, line: "", rev: 0, kid: key.kid ?? "", kind: "legacy", ts: "" };
  }

  #keyOf(checkpoint: Checkpoint): KeyAnswer {
    const key = this.#rotations.keyOf(checkpoint);
    this.#usedKeys.set(checkpoint.kid, key);
    return key;
  }
}

function throughOf(
  { seq, turn, rev, kid, kind, ts }: Checkpoint,
  byteOffset: number,
  end: number,
  line: string,
  turns: number,
): SignedThrough {
  return { seq, turn, turns, byteOffset, end, line, rev, kid, kind, ts };
}
