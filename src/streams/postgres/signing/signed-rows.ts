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

import { readSidecar } from "../../../trust/judge/inspect-sidecar.ts";
import { nodeCrypto } from "../../../trust/keys/node-crypto.ts";
import { concat } from "../../../trust/proof/bytes.ts";
import type { SignedHead } from "../../../trust/proof/checkpoint.ts";
import { sidecarOf, signedName } from "../../../trust/session-log.ts";
import type { LogSigner } from "../../../trust/signer/log-signer.ts";
import { signedLogOf } from "../../signing/stream-files.ts";
import {
  duesAround,
  type Signable,
  StreamLog,
  type StreamLogParts,
} from "../../signing/stream-log.ts";
import type { SigningStream } from "../../signing/stream-signing.ts";
import { type AppendedMacs, MacWalk } from "./appended-macs.ts";
import { type LoadedStream, type SigningRows, StreamRowFiles } from "./loaded-stream.ts";

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

export interface SignedRowsParts extends StreamLogParts {
  readonly rows: SigningRows;
  readonly macs: AppendedMacs;
  /** Pins of an earlier stream with the same path, which another server deleted, do not count. */
  forgetOlder(loaded: LoadedStream): Promise<void>;
  commit(of: Signable, made: NewCheckpoints): Promise<SignOutcome>;
}

export class SignedRows implements SigningStream {
  readonly of: Signable;
  appends = 0;
  bytes = 0;
  lastMs = 0;
  readonly #parts: SignedRowsParts;
  readonly #files: StreamRowFiles;
  readonly #log: StreamLog<StreamRowFiles>;
  /** Up to here the checkpoints are known. */
  #sidecarEnd = 0;
  /** It was verified, and nothing has failed since. */
  #isVerified = false;
  #isUrgent = false;
  /** Being signed; stays set if that fails. */
  #isPending = false;

  constructor(parts: SignedRowsParts, of: Signable) {
    this.#parts = parts;
    this.of = of;
    this.#files = new StreamRowFiles(parts.rows);
    this.#log = new StreamLog(parts, of, this.#files, of.path);
  }

  get isUnsigned(): boolean {
    return this.appends > 0 || this.#isUrgent || this.#isPending;
  }

  get isBusy(): boolean {
    return this.#log.isBusy;
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
    return this.#log.inTurn(() => this.#sign());
  }

  headCovering(to: number): Promise<Omit<SignedHead, "at">> {
    return this.#log.inTurn(async () => {
      for (const isLast of [false, true]) {
        const now = await this.#parts.rows.load(this.of);
        if (now === null) break;
        await this.#catchUp(now);
        const { newest, log } = this.#log.signed.signer;
        if (newest !== null && newest.byteOffset >= to) {
          return { log, seq: newest.seq, line: newest.line };
        }
        if (!isLast) await this.#sign();
      }
      throw this.#log.mismatch(to, "it ends before its fork");
    });
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
        this.#log.signed.commit(draft, draft.bytes);
        this.#sidecarEnd += made.lines.length;
        this.#log.signed.pin();
      }
      this.#isPending = false;
      return null;
    }
    return null; // Other servers sign it. It is looked at again later.
  }

  /** Everything that is due, as of `now`; without a line if all is signed. */
  async #checkpoints(now: LoadedStream): Promise<{ draft: LogSigner; made: NewCheckpoints }> {
    const { state, sidecarEnd: pos } = now;
    const end = state.end - state.base;
    for (;;) {
      const signer = this.#log.signed.signer;
      const { isBeginning, mustRecover } = signer;
      const isClosing = state.isClosed && signer.newest?.kind !== "final";
      const draft = signer.draft();
      const isSigned = !isBeginning && !mustRecover && !isClosing && signer.bytes === end;
      if (isSigned || state.end === 0) {
        const made = { pos, lines: new Uint8Array(0), covered: end, isFinal: state.isClosed };
        return { draft, made };
      }
      const { before, after } = duesAround(signer, isClosing);
      const lines = await this.#log.add(draft, before);
      const bareEnd = await this.#feed(draft, now);
      if (bareEnd !== null) {
        await this.#open(now, bareEnd); // What has no MAC is stated as found.
        continue;
      }
      lines.push(...(await this.#log.add(draft, after)));
      const isFinal = draft.newest?.kind === "final";
      return { draft, made: { pos, lines: concat(...lines), covered: end, isFinal } };
    }
  }

  /** Verifies what is not known here yet. */
  async #catchUp(now: LoadedStream): Promise<void> {
    const isKnown = this.#isVerified && !this.#log.signed.signer.mustState;
    if (isKnown && now.sidecarEnd === this.#sidecarEnd) return;
    if (isKnown && now.sidecarEnd > this.#sidecarEnd && (await this.#follow(now))) return;
    const last = await this.#parts.rows.lastCheckpoint(now.state);
    const end = now.state.end - now.state.base;
    await this.#parts.forgetOlder(now);
    await this.#open(now, now.sidecarEnd === 0 ? 0 : Math.min(last?.byteOffset ?? end, end));
  }

  /** Verifies all of it up to `end` of its own bytes (trust/signer/open-to-sign.ts, O1). */
  async #open(now: LoadedStream, end: number): Promise<void> {
    this.#isVerified = false;
    this.#files.now = now;
    await this.#log.signed.caughtUp(end, 0);
    this.#isVerified = this.#log.signed.signer.bytes === end; // Throws if it failed.
    this.#sidecarEnd = now.sidecarEnd;
  }

  /** Takes over plain checkpoints by our own key; false if there are others, or they do not fit. */
  async #follow(now: LoadedStream): Promise<boolean> {
    const { signer, rows, root } = this.#parts;
    const target = signedLogOf(root, this.of);
    const draft = this.#log.signed.signer.draft();
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
    this.#log.signed.commit(draft, draft.bytes);
    this.#sidecarEnd = now.sidecarEnd;
    return true;
  }

  /** Adds what no checkpoint covers; returns the end of the last bytes without a MAC, or null. */
  async #feed(draft: LogSigner, now: LoadedStream): Promise<number | null> {
    const { state, unsigned } = now;
    const walk = new MacWalk(this.#parts.macs, unsigned, state.base + draft.bytes);
    const isOurs = (bytes: Uint8Array) => walk.feed(bytes);
    await this.#read(now, draft, state.end - state.base, isOurs);
    const bareEnd = walk.bareEnd();
    return bareEnd === null ? null : bareEnd - state.base;
  }

  /** Adds its bytes up to `end` to a draft. */
  async #read(
    { state }: LoadedStream,
    draft: LogSigner,
    end: number,
    isGood: (bytes: Uint8Array) => boolean,
  ): Promise<void> {
    while (draft.bytes < end) {
      const at = draft.bytes;
      const bytes = (await this.#parts.rows.read(state, at)).subarray(0, end - at);
      if (!isGood(bytes))
        throw this.#log.mismatch(at, "its bytes are not those that were appended");
      draft.addOthersLines(bytes);
    }
  }
}
