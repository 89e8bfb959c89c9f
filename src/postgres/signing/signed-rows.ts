/**
 * Signed rows: signs one stream of a database, to which several servers may append and which several
 * may sign. `streams/signing/stream-signing.ts` decides when.
 *
 * SR1  Checkpoints are written only if the stream's checkpoints still end where they were read, and
 *      the row's version is checked with them: of two servers that sign at once, one signs, and the
 *      other reads what it wrote. So the chain of checkpoints never forks.
 *
 * Checkpoints of other servers are verified before anything is signed on top of them: either from
 * the last one known here on, or from the first.
 *
 * Bytes are read from the database again, and compared with the MACs that were stored when they
 * were appended (appended-macs.ts, AM1). For the rest see streams/signing/signed-stream.ts.
 */

import { concat } from "../../proof/bytes.ts";
import type { SignedHead } from "../../proof/checkpoint.ts";
import { readSidecar } from "../../signing/judging/inspect-sidecar.ts";
import { nodeCrypto } from "../../signing/keys/node-crypto.ts";
import { sidecarOf, signedName } from "../../signing/session-log.ts";
import { type Due, duesOnOpening } from "../../signing/writing/dues.ts";
import type { LogSigner } from "../../signing/writing/log-signer.ts";
import { SignedLog } from "../../signing/writing/signed-log.ts";
import type { SignedSoFar } from "../../signing/writing/signer-state.ts";
import { forkFault } from "../../streams/signing/signed-claims.ts";
import type { Signable } from "../../streams/signing/signed-stream.ts";
import { checkpointOpening, mismatch, signedLogOf } from "../../streams/signing/stream-files.ts";
import type { SharedParts, Signing } from "../../streams/signing/stream-signing.ts";
import { type AppendedMacs, MacWalk } from "./appended-macs.ts";
import { type Loaded, RowFiles, type SigningRows } from "./signing-rows.ts";

/** How often a stream is read again because another server signed it at the same time. */
const TRIES_MAX = 5;

/** Checkpoints to be written. */
export interface NewCheckpoints {
  /** Where they go, after the stream's other checkpoints. */
  readonly pos: number;
  readonly lines: Uint8Array;
  /** How much of the stream's own bytes they cover. */
  readonly covered: number;
  /** The last of them, or of those before, says that the stream is closed. */
  readonly isFinal: boolean;
}

export type SignOutcome = "signed" | "gone" | "overtaken";

export interface SignedRowsParts extends SharedParts {
  readonly rows: SigningRows;
  readonly macs: AppendedMacs;
  /** Pins of an earlier stream with the same path, which another server deleted, do not count. */
  forgetOlder(loaded: Loaded): Promise<void>;
  commit(of: Signable, made: NewCheckpoints): Promise<SignOutcome>;
}

export class SignedRows implements Signing {
  readonly of: Signable;
  appends = 0;
  bytes = 0;
  lastMs = 0;
  readonly #parts: SignedRowsParts;
  readonly #files: RowFiles;
  readonly #log: SignedLog<RowFiles>;
  /** Up to here the checkpoints are known. */
  #sidecarEnd = 0;
  /** It was verified, and nothing has failed since. */
  #isVerified = false;
  #isUrgent = false;
  /** Being signed; stays set if that fails. */
  #isPending = false;
  #turn: Promise<unknown> = Promise.resolve();
  #turns = 0;

  constructor(parts: SignedRowsParts, of: Signable) {
    this.#parts = parts;
    this.of = of;
    this.#files = new RowFiles(parts.rows);
    const { signer, own = new Map(), newSalt, nowMs } = parts;
    this.#log = new SignedLog({
      ...{ target: signedLogOf(parts.root, of), crypto: nodeCrypto, signer, newSalt, nowMs },
      files: this.#files,
      own: async () => ({ current: signer, signers: own }),
      keys: async () => parts.keysFor(of.path),
      remembered: async () => parts.rememberedOf(of.path),
      pin: (head) => parts.pin(of.path, head),
      from: (so) => this.#source(so),
    });
  }

  get isUnsigned(): boolean {
    return this.appends > 0 || this.#isUrgent || this.#isPending;
  }

  get isBusy(): boolean {
    return this.#turns > 0;
  }

  get isUrgent(): boolean {
    return this.#isUrgent;
  }

  came(bytes: Uint8Array, nowMs: number): void {
    this.appends++;
    this.bytes += bytes.length;
    this.lastMs = nowMs;
  }

  close(): void {
    this.#isUrgent = true;
  }

  begin(): void {
    this.#isUrgent = true;
  }

  sign(): Promise<"gone" | null> {
    return this.#inTurn(() => this.#sign());
  }

  headCovering(to: number): Promise<Omit<SignedHead, "at">> {
    return this.#inTurn(async () => {
      for (const isLast of [false, true]) {
        const now = await this.#parts.rows.load(this.of);
        if (now === null) break;
        await this.#catchUp(now);
        const { newest, log } = this.#log.signer;
        if (newest !== null && newest.byteOffset >= to) {
          return { log, seq: newest.seq, line: newest.line };
        }
        if (!isLast) await this.#sign();
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
    this.#isPending = true;
    this.#isUrgent = false;
    this.appends = 0;
    this.bytes = 0;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const now = await this.#parts.rows.load(this.of);
      if (now === null) return "gone";
      await this.#catchUp(now);
      const { draft, made } = await this.#checkpoints(now);
      if (made.lines.length > 0 || now.unsigned.length > 0) {
        const outcome = await this.#parts.commit(this.of, made);
        if (outcome === "gone") return outcome;
        if (outcome === "overtaken") continue;
        this.#log.commit(draft, draft.bytes);
        this.#sidecarEnd += made.lines.length;
        this.#log.pin();
      }
      this.#isPending = false;
      return null;
    }
    return null; // Other servers sign it. It is looked at again later.
  }

  /** Everything that is due, as of `now`; without a line if all is signed. */
  async #checkpoints(now: Loaded): Promise<{ draft: LogSigner; made: NewCheckpoints }> {
    const { state, sidecarEnd: pos } = now;
    const end = state.end - state.base;
    for (;;) {
      const signer = this.#log.signer;
      const { isBeginning, mustRecover } = signer;
      const isClosing = state.isClosed && signer.newest?.kind !== "final";
      const draft = signer.draft();
      const isSigned = !isBeginning && !mustRecover && !isClosing && signer.bytes === end;
      if (isSigned || state.end === 0) {
        const made = { pos, lines: new Uint8Array(0), covered: end, isFinal: state.isClosed };
        return { draft, made };
      }
      const before = mustRecover ? [] : await this.#add(draft, duesOnOpening(signer));
      const bareEnd = await this.#feed(draft, now);
      if (bareEnd !== null) {
        await this.#open(now, bareEnd); // What has no MAC is stated as found.
        continue;
      }
      const first = mustRecover
        ? duesOnOpening(signer)
        : ([isClosing ? "final" : "batch"] as const);
      const isFollowed = isClosing && (isBeginning || mustRecover);
      const after = await this.#add(draft, isFollowed ? [...first, "final"] : first);
      const isFinal = draft.newest?.kind === "final";
      return { draft, made: { pos, lines: concat(...before, ...after), covered: end, isFinal } };
    }
  }

  /** Verifies what is not known here yet. */
  async #catchUp(now: Loaded): Promise<void> {
    const isKnown = this.#isVerified && !this.#log.signer.mustState;
    if (isKnown && now.sidecarEnd === this.#sidecarEnd) return;
    if (isKnown && now.sidecarEnd > this.#sidecarEnd && (await this.#follow(now))) return;
    const last = await this.#parts.rows.lastCheckpoint(now.state);
    const end = now.state.end - now.state.base;
    await this.#parts.forgetOlder(now);
    await this.#open(now, now.sidecarEnd === 0 ? 0 : Math.min(last?.byteOffset ?? end, end));
  }

  /** Verifies all of it up to `end` of its own bytes (signing/writing/open-to-sign.ts, O1). */
  async #open(now: Loaded, end: number): Promise<void> {
    this.#isVerified = false;
    this.#files.now = now;
    await this.#log.caughtUp(end, 0);
    this.#isVerified = this.#log.signer.bytes === end; // Throws if it failed.
    this.#sidecarEnd = now.sidecarEnd;
  }

  /** Takes over plain checkpoints by our own key; false if there are others, or they do not fit. */
  async #follow(now: Loaded): Promise<boolean> {
    const { signer, rows, root } = this.#parts;
    const target = signedLogOf(root, this.of);
    const draft = this.#log.signer.draft();
    const lines = readSidecar(rows.sidecar(now), sidecarOf(this.of.file), this.#sidecarEnd);
    for await (const { checkpoint, line } of lines.checkpoints) {
      const { kind, kid, byteOffset, session, statement, sig2 } = checkpoint;
      const isPlain = kind === "batch" || kind === "final";
      if (!isPlain || kid !== signer.kid || byteOffset > now.state.end - now.state.base)
        return false;
      await this.#read(now, draft, byteOffset, () => true);
      const fits = draft.bytes === byteOffset && draft.fits(checkpoint);
      if (!fits || session !== signedName(target)) return false;
      if (!nodeCrypto.verifyEd25519(signer.publicKey, statement, sig2)) return false;
      draft.adopt(checkpoint, line);
    }
    if (lines.foreignAt !== null || lines.newerAt !== null || lines.tornBytes > 0) return false;
    this.#log.commit(draft, draft.bytes);
    this.#sidecarEnd = now.sidecarEnd;
    return true;
  }

  /** Adds what no checkpoint covers; returns the end of the last bytes without a MAC, or null. */
  async #feed(draft: LogSigner, now: Loaded): Promise<number | null> {
    const { state, unsigned } = now;
    const walk = new MacWalk(this.#parts.macs, unsigned, state.base + draft.bytes);
    const isOurs = (bytes: Uint8Array) => walk.feed(bytes);
    await this.#read(now, draft, state.end - state.base, isOurs);
    const bareEnd = walk.bareEnd();
    return bareEnd === null ? null : bareEnd - state.base;
  }

  /** Adds its bytes up to `end` to a draft. */
  async #read(
    { state }: Loaded,
    draft: LogSigner,
    end: number,
    isGood: (bytes: Uint8Array) => boolean,
  ): Promise<void> {
    while (draft.bytes < end) {
      const at = draft.bytes;
      const bytes = (await this.#parts.rows.read(state, at)).subarray(0, end - at);
      if (!isGood(bytes)) throw this.#mismatch(at, "its bytes are not those that were appended");
      draft.addOthersLines(bytes);
    }
  }

  async #add(draft: LogSigner, dues: readonly Due[]): Promise<Uint8Array[]> {
    const lines: Uint8Array[] = [];
    for (const due of dues) {
      const text = checkpointOpening(this.#parts.nowMs(), this.of.path);
      const at = { turn: draft.seq, rev: 0, previous: null };
      const { line } = await this.#log.add(draft, due, at, () => ({ text, id: null }));
      lines.push(line);
    }
    return lines;
  }

  /** What the genesis names, or must name, as the source (SN5). */
  async #source({ seq, from = null }: SignedSoFar): Promise<SignedHead | null> {
    if (seq === 0) return this.of.base > 0 ? this.#parts.sourceHead(this.of) : null;
    const fault = forkFault(this.of, from);
    if (fault === null) return from;
    throw this.#mismatch(0, fault);
  }

  #mismatch(offset: number, reason: string): Error {
    return mismatch(this.of.path, offset, reason);
  }
}
