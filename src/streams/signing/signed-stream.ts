/**
 * Signed stream: signs one stream: what was appended since its last checkpoint, and the checkpoints
 * for it. `stream-signing.ts` decides when.
 *
 * The stream's file is read again to be hashed: appends cost one running hash, and memory does not
 * grow with what is unsigned.
 *
 * SN1  Bytes that are read again must be those that were appended: the running hash must match.
 *      Other bytes are not signed (CHECKPOINT_MISMATCH).
 * SN2  Bytes from before this process that no checkpoint covers are stated as found
 *      (signing/writing/log-signer.ts, S3).
 * SN3  Checkpoints become durable through the journal, after the bytes that they cover: no crash
 *      leaves one over bytes that never existed.
 * SN4  Found bytes count as signed only once a person has confirmed them (`vouch`).
 * SN5  The genesis of a fork names the head of its source that covers what it has from there, and
 *      where that ends. It is made with the fork, even if no bytes follow: until then only
 *      `meta.jsonl`, which is not signed, says what the fork begins with.
 */

import { setImmediate } from "node:timers/promises";
import { errnoOf, VerbatimError } from "../../base/errors.ts";
import type { Directory, OpenFile } from "../../base/files.ts";
import { LF, readStretch } from "../../log/bytes.ts";
import { recover } from "../../log/repair.ts";
import { concat } from "../../proof/bytes.ts";
import type { ForeignHead, Found } from "../../proof/checkpoint.ts";
import type { RunningHash } from "../../proof/crypto.ts";
import type { Keys } from "../../proof/keys.ts";
import { WholeLines } from "../../proof/whole-lines.ts";
import type { RememberedHead } from "../../signing/heads/heads.ts";
import type { ToVouch } from "../../signing/judging/shown.ts";
import { nodeCrypto } from "../../signing/keys/node-crypto.ts";
import type { Signer } from "../../signing/keys/signer.ts";
import { sidecarOf } from "../../signing/session-log.ts";
import { LogSigner } from "../../signing/writing/log-signer.ts";
import { openToSign } from "../../signing/writing/open-to-sign.ts";
import type { Head, OwnSigners, SignedSoFar, When } from "../../signing/writing/signer-state.ts";
import type { StreamState } from "../commit/stream-state.ts";
import { openOrEmpty } from "../journal/empty-file.ts";
import type { HandlePool } from "../reading/handle-pool.ts";
import { forkFault } from "./signed-claims.ts";
import { checkpointOpening, signedLogOf } from "./signed-log.ts";

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
  /** The signed head of a fork's source that covers what the fork has from it (SN5). */
  sourceHead(fork: Signable): Promise<ForeignHead>;
  /** Makes checkpoints durable; false when the stream no longer exists. */
  commit(stream: SignedStream, file: string, pos: number, lines: Uint8Array): Promise<boolean>;
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
  #log: LogSigner | null = null;
  #besideEnd = 0;
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

  /**
   * Signs what was appended so far; returns the head to pin, null when there was nothing to sign.
   */
  sign(): Promise<Head | "gone" | null> {
    return this.#inTurn(() => this.#sign());
  }

  /**
   * The newest checkpoint, which covers the file up to `to`; made if there is none. With `made`, if
   * it was: that head must be pinned.
   */
  headCovering(to: number): Promise<Omit<ForeignHead, "at"> & { readonly made: Head | null }> {
    return this.#inTurn(async () => {
      this.#log ??= await this.#open();
      const isCovered = !this.#log.isBeginning && (this.#log.newest?.byteOffset ?? -1) >= to;
      const made = isCovered ? null : await this.#sign();
      const { newest, log } = this.#log;
      if (made !== "gone" && newest !== null && newest.byteOffset >= to) {
        return { log, seq: newest.seq, line: newest.line, made };
      }
      throw mismatch(`${this.#parts.logs.path}/${this.of.file}`, to, "it ends before its fork");
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

  async #sign(): Promise<Head | "gone" | null> {
    const isClosing = this.#isClosing;
    this.#endStretch();
    const stretches = this.#stretches;
    this.#log ??= await this.#open();
    const log = this.#log;
    // A killed server may have signed what the next one finds in the journal.
    const isFinal = log.newest?.kind === "final";
    const isSigned = !log.isBeginning && !log.mustRecover && (!isClosing || isFinal);
    if (isSigned && stretches.length === 0) {
      this.#isClosing &&= !isFinal;
      this.#isNewFork = false;
      return null;
    }
    const draft = log.draft();
    // Before the new bytes, unless something was found: that is stated first (log-signer.ts, S3,
    // S4).
    const rotated = log.mustRecover ? [] : await this.#rotation(log, draft);
    await this.#feed(draft, stretches);
    const lines = await this.#checkpoints(log, draft, isClosing);
    if (!(await this.#commit(draft, concat(...rotated, ...lines)))) return "gone";
    this.#stretches = this.#stretches.slice(stretches.length);
    if (isClosing) this.#isClosing = false;
    this.#isNewFork = false;
    return log.head;
  }

  /**
   * Signs what was found unsigned, after a person has confirmed it (SN4). For a stream without
   * appends in this process.
   */
  async vouch(agree: Agree): Promise<Head | null> {
    this.#log ??= await this.#open();
    const log = this.#log;
    const earlier = await agree(log);
    const draft = log.draft();
    const lines: Uint8Array[] = [];
    if (log.found !== null || log.mustRecover) {
      lines.push(await draft.recovery(this.#opening(), whenOf(draft), true));
    }
    for (const found of earlier) {
      const kind = { kind: "recovery", cut: 0, found, vouched: true, lost: null } as const;
      lines.push(await draft.special(kind, this.#opening(), whenOf(draft)));
    }
    const isFinal = lines.length === 0 && log.newest?.kind === "final";
    const closes = this.of.isClosed && !isFinal && (draft.seq > 0 || log.bytes > 0);
    if (lines.length > 0 || closes) lines.push(...(await this.#rotation(log, draft)));
    if (closes) lines.push(await draft.checkpoint("final", this.#opening(), whenOf(draft)));
    if (lines.length === 0) return null;
    return (await this.#commit(draft, concat(...lines))) ? log.head : null;
  }

  /** Makes checkpoints durable; false when the stream no longer exists. */
  async #commit(draft: LogSigner, lines: Uint8Array): Promise<boolean> {
    const file = sidecarOf(this.of.file);
    if (!(await this.#parts.commit(this, file, this.#besideEnd, lines))) return false;
    draft.commit();
    this.#besideEnd += lines.length;
    return true;
  }

  /** How a checkpoint's line begins. */
  #opening(): string {
    return checkpointOpening(this.#parts.nowMs(), this.of.path);
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

  /** Hands over to the current key if a retired one signed last. */
  async #rotation(log: LogSigner, draft: LogSigner): Promise<Uint8Array[]> {
    return log.mustRotate ? [await draft.rotate(this.#opening(), whenOf(draft))] : [];
  }

  async #checkpoints(log: LogSigner, draft: LogSigner, isClosing: boolean): Promise<Uint8Array[]> {
    const opening = this.#opening();
    const hasNoFinal = log.isBeginning || log.mustRecover;
    const first = log.mustRecover
      ? [await draft.recovery(opening, whenOf(draft)), ...(await this.#rotation(log, draft))]
      : [await draft.checkpoint(isClosing ? "final" : "batch", opening, whenOf(draft))];
    if (!isClosing || !hasNoFinal) return first;
    return [...first, await draft.checkpoint("final", opening, whenOf(draft))];
  }

  /** Verifies what existed before this process, up to its first append (O1, SN2). */
  async #open(): Promise<LogSigner> {
    const { root, logs, signer, own = new Map(), newSalt, nowMs } = this.#parts;
    const { path, file } = this.of;
    const target = signedLogOf(root, this.of);
    const remembered = this.#parts.rememberedOf(path);
    const options = { crypto: nodeCrypto, keys: this.#parts.keysFor(path), remembered };
    const sidecar = await this.#openBeside();
    this.#besideEnd = sidecar?.size() ?? 0;
    try {
      const log = openOrEmpty(logs, file);
      try {
        const { lost } = remembered;
        const opening = { target, log, sidecar, end: this.#start, cut: 0, newSalt, options, lost };
        const so = await openToSign(opening);
        const from = await this.#beginning(so);
        const nowIso = () => new Date(nowMs()).toISOString();
        const parts = { crypto: nodeCrypto, signer, own, isSidecar: true, nowIso, from };
        return LogSigner.from(so, parts);
      } finally {
        log.close();
      }
    } finally {
      sidecar?.close();
    }
  }

  /** What the genesis names, or must name, as the source (SN5). */
  async #beginning({ seq, from = null }: SignedSoFar): Promise<ForeignHead | null> {
    if (seq === 0) return this.of.base > 0 ? this.#parts.sourceHead(this.of) : null;
    const fault = forkFault(this.of, from);
    if (fault === null) return from;
    throw mismatch(`${this.#parts.logs.path}/${this.of.file}`, 0, fault);
  }

  /**
   * The sidecar file; null without one. A torn line, which no crash of ours leaves, is moved aside.
   */
  async #openBeside(): Promise<OpenFile | null> {
    const { logs, isInJournal } = this.#parts;
    const name = sidecarOf(this.of.file);
    const place = { directory: logs, name, path: `${logs.path}/${name}` };
    let file: OpenFile;
    try {
      file = logs.open(name, "read");
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT") return null;
      throw cause;
    }
    const size = file.size();
    const isTorn = size > 0 && (await readStretch(file, size - 1, size))[0] !== LF;
    if (!isTorn) return file;
    file.close();
    // What the journal says about positions in it must hold when it is replayed.
    if (isInJournal(name)) throw mismatch(place.path, size, "its last checkpoint is cut short");
    const torn = logs.open(name, "append");
    try {
      await recover(place, torn, null);
    } finally {
      torn.close();
    }
    return logs.open(name, "read");
  }

  async #feed(draft: LogSigner, stretches: readonly Stretch[]): Promise<void> {
    const whole = new WholeLines((lines) => draft.addOthersLines(lines));
    let at = this.#log?.bytes ?? 0;
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
      const path = `${this.#parts.logs.path}/${this.of.file}`;
      throw mismatch(path, to, "its bytes are not those that were appended");
    }
  }

  #read(from: number, to: number): Promise<Buffer> {
    return this.#parts.pool.use(this.of.file, (log) => log.readAt(from, to - from));
  }
}

/** A stream has no turns: its checkpoints are counted instead. */
function whenOf({ seq }: LogSigner): When {
  return { turn: seq, rev: 0 };
}

function mismatch(path: string, offset: number, reason: string): VerbatimError {
  return new VerbatimError(
    "CHECKPOINT_MISMATCH",
    `${path} is not signed: ${reason}; run \`verbatim verify\` for details`,
    { path, offset, verdict: "tampered" },
  );
}
