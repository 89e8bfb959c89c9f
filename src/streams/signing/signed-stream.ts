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
 * (trust/signer/log-signer.ts, S3).
 *
 * Checkpoints become durable through the journal, after the bytes that they cover: no crash
 * leaves one over bytes that never existed.
 *
 * SN4  Found bytes count as signed only once a person has confirmed them (`vouch`).
 */

import { setImmediate } from "node:timers/promises";
import type { Directory } from "../../core/base/files.ts";
import type { ToVouch } from "../../trust/judge/displayed-log.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { concat } from "../../trust/proof/bytes.ts";
import type { FoundRange, SignedHead } from "../../trust/proof/checkpoint.ts";
import type { RunningHash } from "../../trust/proof/crypto.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import type { Due } from "../../trust/signer/dues.ts";
import type { LogSigner } from "../../trust/signer/log-signer.ts";
import type { HandlePool } from "../files/reading/handle-pool.ts";
import { StreamFiles } from "./stream-files.ts";
import { duesAround, type Signable, StreamLog, type StreamLogParts } from "./stream-log.ts";

/** At most so much is hashed before other work runs. */
const HASHED_TOGETHER_BYTES = 32 * 1024;
/** Each read runs on another thread, which costs more than a small read saves. */
const READ_TOGETHER_BYTES = 256 * 1024;
/** For bytes that were just appended. */
const HASHED_AT_ONCE_BYTES = 16 * 1024;

export interface SigningParts extends StreamLogParts {
  readonly logs: Directory;
  readonly pool: HandlePool;
  /** Whether the journal still has records about a file. */
  isInJournal(file: string): boolean;
  /** Makes checkpoints durable; false when the stream no longer exists. */
  commit(file: string, pos: number, lines: Uint8Array): Promise<boolean>;
}

/**
 * Receives what was found and no checkpoint states yet; returns what was stated as found before and
 * is now vouched for, or throws.
 */
export type Agree = (opened: ToVouch) => Promise<readonly FoundRange[]>;

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
  readonly #log: StreamLog<StreamFiles>;
  #isClosing = false;
  /** A new fork without a genesis (SN5). */
  #isNewFork = false;
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
    const { logs, isInJournal, commit } = parts;
    const { file } = of;
    const files = new StreamFiles({ logs, file, isInJournal, commit });
    this.#log = new StreamLog(parts, of, files, `${logs.path}/${file}`);
  }

  /** There is something that no checkpoint covers, or the stream was closed and none says so. */
  get isUnsigned(): boolean {
    const hasBytes = this.#coming !== null || this.#stretches.length > 0;
    return hasBytes || this.#isClosing || this.#isNewFork;
  }

  /** It is being signed or checked. */
  get isBusy(): boolean {
    return this.#log.isBusy;
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
    return this.#log.inTurn(() => this.#sign());
  }

  /** The newest checkpoint, which covers the file up to `to`; created if there is none. */
  headCovering(to: number): Promise<Omit<SignedHead, "at">> {
    return this.#log.inTurn(async () => {
      const signer = await this.#signer();
      const isCovered = !signer.isBeginning && (signer.newest?.byteOffset ?? -1) >= to;
      const made = isCovered ? null : await this.#sign();
      const { newest, log } = signer;
      if (made !== "gone" && newest !== null && newest.byteOffset >= to) {
        return { log, seq: newest.seq, line: newest.line };
      }
      throw this.#log.mismatch(to, "it ends before its fork");
    });
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
    const { before, after } = duesAround(signer, isClosing);
    const lines = await this.#log.add(draft, before);
    await this.#feed(draft, stretches);
    lines.push(...(await this.#log.add(draft, after)));
    if (!(await this.#commit(draft, lines))) return "gone";
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
    await this.#commit(draft, await this.#log.add(draft, dues));
  }

  /** Verifies what was in the file before this process continued it (O1). */
  async #signer(): Promise<LogSigner> {
    const { signed } = this.#log;
    if (!signed.isOpen) await signed.caughtUp(this.#start, 0);
    return signed.signer;
  }

  /** Makes checkpoints durable and pins the last; false when the stream was deleted. */
  async #commit(draft: LogSigner, lines: readonly Uint8Array[]): Promise<boolean> {
    const { signed } = this.#log;
    if (!(await signed.files.appendSidecar(concat(...lines)))) return false;
    signed.commit(draft, draft.bytes);
    signed.pin();
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
      throw this.#log.mismatch(to, "its bytes are not those that were appended");
    }
  }

  #read(from: number, to: number): Promise<Buffer> {
    return this.#parts.pool.use(this.of.file, (log) => log.readAt(from, to - from));
  }
}
