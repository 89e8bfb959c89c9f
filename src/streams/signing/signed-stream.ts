/**
 * Signed stream: signs one stream: what was appended since its last checkpoint, and the checkpoints
 * for it. `stream-signing.ts` decides when.
 *
 * The stream's file is read again to be hashed: appends cost one running hash, and memory does not
 * grow with what is unsigned.
 *
 * SN1  Bytes that are read again must be those that were appended: the running hash must match.
 *      Other bytes are not signed (CHECKPOINT_MISMATCH).
 *
 * Bytes from before this process that no checkpoint covers are stated as found
 * (signing/writing/log-signer.ts, S3).
 *
 * Checkpoints become durable through the journal, after the bytes that they cover: no crash
 * leaves one over bytes that never existed.
 *
 * SN4  Found bytes count as signed only once a person has confirmed them (`vouch`).
 * SN5  The genesis of a fork names the head of its source that covers what it has from there, and
 *      where that ends. It is made with the fork, even if no bytes follow: until then only
 *      `meta.jsonl`, which is not signed, says what the fork begins with.
 */

import { setImmediate } from "node:timers/promises";
import type { Directory } from "../../base/files.ts";
import { concat } from "../../proof/bytes.ts";
import type { Found, SignedHead } from "../../proof/checkpoint.ts";
import type { RunningHash } from "../../proof/crypto.ts";
import type { Keys } from "../../proof/ed25519-keys.ts";
import { WholeLines } from "../../proof/whole-lines.ts";
import type { RememberedHead } from "../../signing/heads/heads.ts";
import type { ToVouch } from "../../signing/judging/shown.ts";
import type { Signer } from "../../signing/keys/keys.ts";
import { nodeCrypto } from "../../signing/keys/node-crypto.ts";
import { type Due, duesOnOpening } from "../../signing/writing/dues.ts";
import type { LogSigner } from "../../signing/writing/log-signer.ts";
import { SignedLog } from "../../signing/writing/signed-log.ts";
import type { Head, OwnSigners, SignedSoFar } from "../../signing/writing/signer-state.ts";
import type { StreamState } from "../commit/stream-state.ts";
import type { HandlePool } from "../reading/handle-pool.ts";
import { forkFault } from "./signed-claims.ts";
import { checkpointOpening, mismatch, StreamFiles, signedLogOf } from "./stream-files.ts";

/** At most so much is hashed before other work runs. */
const HASHED_TOGETHER_BYTES = 32 * 1024;
/** Each read runs on another thread, which costs more than a small read saves. */
const READ_TOGETHER_BYTES = 256 * 1024;
/** For bytes that were just appended. */
const HASHED_AT_ONCE_BYTES = 16 * 1024;

export interface SigningParts {
  /** The path of the data directory. */
  readonly root: string;
  readonly logs: Directory;
  readonly pool: HandlePool;
  readonly signer: Signer;
  /** The user's keys that can still sign, by `kid`; none by default. */
  readonly own?: OwnSigners | undefined;
  keysFor(path: string): Keys;
  rememberedOf(path: string): RememberedHead;
  newSalt(): Uint8Array;
  nowMs(): number;
  /** Whether the journal still has records about a file. */
  isInJournal(file: string): boolean;
  /** Pins a head whose checkpoint is durable. */
  pin(path: string, head: Head): void;
  /** The signed head of a fork's source that covers what the fork has from it (SN5). */
  sourceHead(fork: Signable): Promise<SignedHead>;
  /** Makes checkpoints durable; false when the stream no longer exists. */
  commit(file: string, pos: number, lines: Uint8Array): Promise<boolean>;
}

/** Which stream it is. */
export type Signable = Pick<
  StreamState,
  "path" | "streamId" | "file" | "isJson" | "base" | "fork" | "isClosed"
>;

/**
 * Receives what was found and no checkpoint states yet; returns what was stated as found before and
 * is now vouched for, or throws.
 */
export type Agree = (opened: ToVouch) => Promise<readonly Found[]>;

/** Appended bytes of the file, and their hash. */
interface Stretch {
  readonly to: number;
  readonly sha256: Uint8Array;
}

export class SignedStream {
  readonly of: Signable;
  /** Where the file ended before the first append of this process. */
  readonly #start: number;
  readonly #parts: SigningParts;
  #end: number;
  #coming: RunningHash | null = null;
  /** Appended and not hashed yet: hashing larger pieces costs less. */
  #unhashed: Uint8Array[] = [];
  #unhashedBytes = 0;
  #stretches: Stretch[] = [];
  readonly #log: SignedLog;
  #isClosing = false;
  /** A new fork without a genesis (SN5). */
  #isNewFork = false;
  /** One operation at a time: a source is signed for itself and for its forks. */
  #turn: Promise<unknown> = Promise.resolve();
  #turns = 0;
  /** Since the last checkpoint was begun. */
  appends = 0;
  bytes = 0;
  /** When the last append came. */
  lastMs = 0;

  constructor(parts: SigningParts, of: Signable, start: number) {
    this.#parts = parts;
    this.of = of;
    this.#start = start;
    this.#end = start;
    const { logs, signer, own = new Map(), newSalt, nowMs, isInJournal, commit } = parts;
    const { path, file } = of;
    this.#log = new SignedLog({
      ...{ target: signedLogOf(parts.root, of), crypto: nodeCrypto, signer, newSalt, nowMs },
      files: new StreamFiles({ logs, file, isInJournal, commit }),
      own: async () => ({ current: signer, signers: own }),
      keys: async () => parts.keysFor(path),
      remembered: async () => parts.rememberedOf(path),
      pin: (head) => parts.pin(path, head),
      from: (so) => this.#source(so),
    });
  }

  /** There is something that no checkpoint covers, or the stream was closed and none says so. */
  get isUnsigned(): boolean {
    const hasBytes = this.#coming !== null || this.#stretches.length > 0;
    return hasBytes || this.#isClosing || this.#isNewFork;
  }

  /** It is being signed or checked. */
  get isBusy(): boolean {
    return this.#turns > 0;
  }

  /** Must be signed before the stream is idle. */
  get isUrgent(): boolean {
    return this.#isClosing || this.#isNewFork;
  }

  /** Notes appended bytes. */
  came(bytes: Uint8Array, nowMs: number): void {
    this.#coming ??= nodeCrypto.runningSha256();
    this.#unhashed.push(bytes);
    this.#unhashedBytes += bytes.length;
    if (this.#unhashedBytes >= HASHED_AT_ONCE_BYTES) this.#hashSome(this.#coming);
    this.#end += bytes.length;
    this.bytes += bytes.length;
    this.appends++;
    this.lastMs = nowMs;
  }

  /** The stream was closed: nothing more will be appended. */
  close(): void {
    // An empty stream has nothing to sign.
    if (this.#end > 0 || this.of.base > 0) this.#isClosing = true;
  }

  /** A fork was created that has bytes from its source. */
  begin(): void {
    this.#isNewFork = true;
  }

  /** Signs and pins what came by now; returns `gone` when the stream was deleted. */
  sign(): Promise<"gone" | null> {
    return this.#inTurn(() => this.#sign());
  }

  /** The newest checkpoint, which covers the file up to `to`; created if there is none. */
  headCovering(to: number): Promise<Omit<SignedHead, "at">> {
    return this.#inTurn(async () => {
      const signer = await this.#signer();
      const isCovered = !signer.isBeginning && (signer.newest?.byteOffset ?? -1) >= to;
      const made = isCovered ? null : await this.#sign();
      const { newest, log } = signer;
      if (made !== "gone" && newest !== null && newest.byteOffset >= to) {
        return { log, seq: newest.seq, line: newest.line };
      }
      throw this.#mismatch(to, "it ends before its fork");
    });
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#turns++;
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {}); // The caller receives the error.
    try {
      return await done;
    } finally {
      this.#turns--;
    }
  }

  async #sign(): Promise<"gone" | null> {
    const isClosing = this.#isClosing;
    this.#endStretch();
    const stretches = this.#stretches;
    const signer = await this.#signer();
    // A killed server may have signed what the next one finds in the journal.
    const isFinal = signer.newest?.kind === "final";
    const { isBeginning, mustRecover } = signer;
    const isSigned = !isBeginning && !mustRecover && (!isClosing || isFinal);
    if (isSigned && stretches.length === 0) {
      this.#isClosing &&= !isFinal;
      this.#isNewFork = false;
      return null;
    }
    const draft = signer.draft();
    // A rotation goes before what came now, unless something was found: that is stated first.
    const before = mustRecover ? [] : await this.#add(draft, duesOnOpening(signer));
    await this.#feed(draft, stretches);
    const first = mustRecover ? duesOnOpening(signer) : ([isClosing ? "final" : "batch"] as const);
    const isFollowed = isClosing && (isBeginning || mustRecover);
    const after = await this.#add(draft, isFollowed ? [...first, "final"] : first);
    if (!(await this.#commit(draft, [...before, ...after]))) return "gone";
    this.#stretches = this.#stretches.slice(stretches.length);
    if (isClosing) this.#isClosing = false;
    this.#isNewFork = false;
    return null;
  }

  /**
   * Signs what was found unsigned, once a person who has seen it agrees (SN4). For a stream to which
   * nothing came here.
   */
  async vouch(agree: Agree): Promise<void> {
    const signer = await this.#signer();
    const earlier = await agree(signer);
    const found: Due[] = signer.mustState ? [{ vouches: null }] : [];
    found.push(...earlier.map((vouches) => ({ vouches })));
    const isFinal = found.length === 0 && signer.newest?.kind === "final";
    const closes = this.of.isClosed && !isFinal && signer.seq + found.length + signer.bytes > 0;
    if (found.length === 0 && !closes) return;
    const rotate: Due[] = signer.mustRotate ? ["rotate"] : [];
    const draft = signer.draft();
    const dues: Due[] = [...found, ...rotate, ...(closes ? ["final" as const] : [])];
    await this.#commit(draft, await this.#add(draft, dues));
  }

  /** Verifies what was in the file before this process continued it (O1). */
  async #signer(): Promise<LogSigner> {
    if (!this.#log.isOpen) await this.#log.caughtUp(this.#start, 0);
    return this.#log.signer;
  }

  /** Adds checkpoints; returns their lines. */
  async #add(draft: LogSigner, dues: readonly Due[]): Promise<Uint8Array[]> {
    const lines: Uint8Array[] = [];
    for (const due of dues) {
      const text = checkpointOpening(this.#parts.nowMs(), this.of.path);
      // A stream has no turns: its checkpoints are counted instead.
      const at = { turn: draft.seq, rev: 0, previous: null };
      const { line } = await this.#log.add(draft, due, at, () => ({ text, id: null }));
      lines.push(line);
    }
    return lines;
  }

  /** Makes checkpoints durable and pins the last; false when the stream was deleted. */
  async #commit(draft: LogSigner, lines: readonly Uint8Array[]): Promise<boolean> {
    if (!(await this.#log.files.appendSidecar(concat(...lines)))) return false;
    this.#log.commit(draft, draft.bytes);
    this.#log.pin();
    return true;
  }

  #hashSome(hash: RunningHash): void {
    hash.update(Buffer.concat(this.#unhashed, this.#unhashedBytes));
    this.#unhashed = [];
    this.#unhashedBytes = 0;
  }

  #endStretch(): void {
    if (this.#coming === null) return;
    this.#hashSome(this.#coming);
    this.#stretches = [...this.#stretches, { to: this.#end, sha256: this.#coming.digest() }];
    this.#coming = null;
    this.appends = 0;
    this.bytes = 0;
  }

  /** What the genesis names, or must name, as the source (SN5). */
  async #source({ seq, from = null }: SignedSoFar): Promise<SignedHead | null> {
    if (seq === 0) return this.of.base > 0 ? this.#parts.sourceHead(this.of) : null;
    const fault = forkFault(this.of, from);
    if (fault === null) return from;
    throw this.#mismatch(0, fault);
  }

  async #feed(draft: LogSigner, stretches: readonly Stretch[]): Promise<void> {
    const whole = new WholeLines((lines) => draft.addOthersLines(lines));
    let at = draft.bytes;
    for (const { to, sha256 } of stretches) {
      const hash = nodeCrypto.runningSha256();
      while (at < to) {
        const bytes = await this.#read(at, Math.min(at + READ_TOGETHER_BYTES, to));
        for (let from = 0; from < bytes.length; from += HASHED_TOGETHER_BYTES) {
          if (from > 0) await setImmediate();
          const some = bytes.subarray(from, from + HASHED_TOGETHER_BYTES);
          hash.update(some);
          if (this.of.isJson) whole.feed(some);
          else draft.addOthersLines(some);
        }
        at += bytes.length;
      }
      if (Buffer.compare(hash.digest(), sha256) === 0) continue;
      throw this.#mismatch(to, "its bytes are not those that were appended");
    }
  }

  #read(from: number, to: number): Promise<Buffer> {
    return this.#parts.pool.use(this.of.file, (log) => log.readAt(from, to - from));
  }
  #mismatch(offset: number, reason: string): Error {
    return mismatch(`${this.#parts.logs.path}/${this.of.file}`, offset, reason);
  }
}
