/**
 * Signed log: one log (of a session or a stream) while it is being signed. Verifies it on opening,
 * keeps its signer in step with the file and its sidecar, and pins its heads.
 *
 * Which checkpoints are due: `dues.ts`. Its owner writes, with the log's lock held.
 *
 * SL1  A checkpoint is written only when everything it covers is durable: after a power cut no
 *      checkpoint covers lost bytes.
 * SL2  The head of a checkpoint is pinned after the checkpoint is durable.
 * SL3  A checkpoint that was signed before it was due is written only if signing it now would give
 *      the same content; otherwise it is dropped, and nothing outside has seen it.
 * SL4  No line is acknowledged before the genesis is durable, nor before the checkpoint that ends
 *      its append if every append has one. If that cannot be written, the append is refused.
 * SL5  A log that could not be verified, or followed, is neither signed nor written to until it
 *      can.
 */

import { randomBytes } from "node:crypto";
import { ioError, VerbatimError } from "../../core/base/errors.ts";
import type { OpenFile } from "../../core/base/files.ts";
import { readChunks } from "../../core/log/bytes.ts";
import type { RememberedHead } from "../heads/heads.ts";
import type { FilesProof } from "../judge/verify-options.ts";
import type { OwnKeys, Signer } from "../keys/keys.ts";
import type { SignedHead } from "../proof/checkpoint.ts";
import type { ProofCrypto } from "../proof/crypto.ts";
import type { Keys } from "../proof/ed25519-keys.ts";
import { hasSidecar } from "../proof/envelopes.ts";
import type { OnCheckpoint } from "../proof/judge.ts";
import { type HandOver, Rotations } from "../proof/rotations.ts";
import type { SignableLog } from "../session-log.ts";
import type { CheckpointOpening } from "./counted-turns.ts";
import { addDue, type Due } from "./dues.ts";
import { followSigned } from "./follow-signed.ts";
import { LogSigner } from "./log-signer.ts";
import { openToSign } from "./open-to-sign.ts";
import type {
  CoveredPrefix,
  NamedCheckpoint,
  Newest,
  SignedCheckpoint,
  SignedSoFar,
  SignerHead,
  When,
} from "./signer-state.ts";

/** The files of a log that is being signed. */
export interface SignedFiles {
  /** The log, to be verified. */
  openLog(): Promise<OpenFile>;
  /** The sidecar, to be verified, its content made durable; null if there is none. */
  openSidecar(): Promise<OpenFile | null>;
  /** Appends checkpoints durably; false if the log was deleted. The log is synced before (SL1). */
  appendSidecar(lines: Uint8Array): Promise<boolean>;
}

export interface SignedLogParts<Files extends SignedFiles = SignedFiles> {
  readonly target: SignableLog;
  readonly files: Files;
  readonly crypto: ProofCrypto;
  readonly signer: Signer;
  /** The user's own keys now, read with `keys`; absent: `signer` is the only one. */
  readonly own?: () => Promise<OwnKeys>;
  /** The keys that the user trusts now. Read whenever lines of other writers are judged. */
  readonly keys: () => Promise<Keys>;
  /** The pins. Read once the log exists. */
  readonly remembered: () => Promise<RememberedHead>;
  /** Pins a head whose checkpoint is durable. */
  readonly pin: (head: SignerHead) => void;
  readonly nowMs: () => number;
  readonly newSalt?: () => Uint8Array;
  /** Judges the files that its lines refer to, once; absent or null if there are none. */
  readonly newFilesProof?: () => FilesProof | null;
  /**
   * The checkpoint that a derived file names as its head, correct or not; searched for while reading.
   */
  readonly namedSeq?: () => Promise<number | null>;
  /** Of a fork: the head of another log where this one begins. */
  readonly from?: (so: SignedSoFar) => Promise<SignedHead | null>;
  /**
   * Accepts a log signed by the Python original: all of it is stated as found. Default: refuses.
   */
  readonly isLegacyProfile?: boolean;
}

/** A checkpoint's line, and the name by which the next line may refer to it. */
export interface CheckpointLine {
  readonly line: Uint8Array;
  readonly id: string | null;
}

/**
 * The position of a checkpoint: `previous` is the name of the line before it, if lines have names.
 */
export interface At extends When {
  readonly previous: string | null;
}

/** A checkpoint that was signed early (SL3). */
interface Presigned {
  readonly due: Due;
  readonly previous: string | null;
  readonly id: string | null;
  /** Null if signing failed: it is signed again, and fails, when it is due. */
  readonly signed: Promise<SignedCheckpoint | null>;
}

export class SignedLog<Files extends SignedFiles = SignedFiles> {
  readonly files: Files;
  readonly isSidecar: boolean;
  readonly #parts: SignedLogParts<Files>;
  #signer: LogSigner | null = null;
  /** Bytes that opening the log cut off, not stated yet. */
  #cut = 0;
  /** The signer knows the log up to here. */
  #end = 0;
  #failure: { readonly error: unknown } | null = null;
  #namedCheckpoint: NamedCheckpoint | null = null;
  #handOvers: readonly HandOver[] = [];
  #presigned: Presigned | null = null;
  #pinned: SignerHead | null = null;

  constructor(parts: SignedLogParts<Files>) {
    this.#parts = parts;
    this.files = parts.files;
    this.isSidecar = hasSidecar(parts.target.dialect);
  }

  /** The signer, if the log may be signed (SL5). */
  get signer(): LogSigner {
    if (this.#failure) throw this.#failure.error;
    if (!this.#signer) throw notOpen(this.#parts.target);
    return this.#signer;
  }

  /** It was opened once, whatever happened since. */
  get isOpen(): boolean {
    return this.#signer !== null;
  }

  /** The identity of the log, once it was opened. */
  get log(): string | null {
    return this.#signer?.log ?? null;
  }

  /** The newest checkpoint in the log, by any signer; null when there is none. */
  get newest(): Newest | null {
    return this.#signer?.newest ?? null;
  }

  /** The checkpoint that the file named when the log was last read; null: it was not found. */
  get named(): NamedCheckpoint | null {
    return this.#namedCheckpoint;
  }

  /**
   * The log ends here and has lines of other writers: verifies all of it, or follows what they
   * appended. Returns the state of the whole log, `followed`, or null if it failed (SL5).
   */
  async caughtUp(end: number, cutBytes: number): Promise<SignedSoFar | "followed" | null> {
    this.#presigned = null;
    this.#cut += cutBytes;
    try {
      const onCheckpoint = await this.#lookForNamed();
      const signer = this.#signer;
      // A log that others began has their salt, not the one we would have chosen.
      const isKnown = signer !== null && !signer.isBeginning && !this.isSidecar;
      if (isKnown) await this.#follow(signer, end, onCheckpoint);
      const opened = isKnown ? "followed" : await this.#open(end, onCheckpoint);
      this.#failure = null;
      return opened;
    } catch (error) {
      this.fail(error);
      return null;
    }
  }

  /** Lines of a refused append stay in the log: the next checkpoint states them as found. */
  stateFound(from: number, to: number): void {
    const { found } = this.#signer ?? {};
    this.#signer?.stateFound(Math.min(from, found?.[0] ?? from), Math.max(to, found?.[1] ?? to));
  }

  /** Refuses to sign until the log is read again (SL5). */
  fail(error: unknown): void {
    const { root, logId } = this.#parts.target;
    this.#failure = { error: ioError(`${root}/${logId}`, "verifying", error) };
  }

  /** Adds a due checkpoint to a draft. `opening` is the beginning of its line. */
  async add(
    draft: LogSigner,
    due: Due,
    at: At,
    opening: () => CheckpointOpening,
  ): Promise<CheckpointLine> {
    const presigned = this.#presigned;
    this.#presigned = null;
    if (presigned?.due === due && presigned.previous === at.previous) {
      const signed = await presigned.signed;
      if (signed && draft.takes(signed, at)) return { line: signed.line, id: presigned.id };
    }
    const { text, id } = opening();
    return { line: await addDue(draft, due, text, at), id };
  }

  /** Signs the checkpoint that is probably due next, so that no append waits for it (SL3). */
  presign(due: "turn" | "final", at: At, opening: () => CheckpointOpening): void {
    const { isBeginning, mustRecover, mustRotate } = this.signer;
    if (isBeginning || mustRecover || mustRotate) return; // Another checkpoint is due first.
    const { text, id } = opening();
    const signed = this.signer.draft().sign({ kind: due }, text, at);
    this.#presigned = { due, previous: at.previous, id, signed: signed.catch(() => null) };
  }

  /** The draft's lines are in the log, which ends here. */
  commit(draft: LogSigner, end: number): void {
    draft.commit();
    this.#end = end;
  }

  /** Our last checkpoint in the log. */
  get head(): SignerHead | null {
    return this.#signer?.head ?? null;
  }

  /** There is a checkpoint of ours that is not pinned yet. */
  get hasUnpinned(): boolean {
    return this.head !== null && this.head !== this.#pinned;
  }

  /** Pins a head, by default the last one; it and everything before it is durable (SL2). */
  pin(head = this.head): void {
    const pinned = this.#pinned;
    if (!head || (head.log === pinned?.log && head.seq <= pinned.seq)) return;
    this.#pinned = head;
    this.#parts.pin(head);
  }

  /** Returns a callback for each checkpoint that is read, which finds the named one. */
  async #lookForNamed(): Promise<OnCheckpoint> {
    const wanted = (await this.#parts.namedSeq?.()) ?? null;
    const checkpoints = [this.#namedCheckpoint, this.newest];
    this.#namedCheckpoint = checkpoints.find((each) => each?.seq === wanted) ?? null;
    return (seq, line) => {
      if (seq === wanted) this.#namedCheckpoint = { seq, line };
    };
  }

  async #open(end: number, onCheckpoint: OnCheckpoint): Promise<SignedSoFar> {
    const { target, files, crypto, nowMs, newSalt = randomSalt } = this.#parts;
    const { isLegacyProfile = false, from } = this.#parts;
    const keys = await this.#parts.keys();
    const { current: signer, signers: own } = await this.#loadOwnKeys();
    const filesProof = this.#parts.newFilesProof?.() ?? null;
    const remembered = await this.#parts.remembered();
    const { isSidecar } = this;
    const sidecar = isSidecar ? await files.openSidecar() : null;
    try {
      const log = await files.openLog();
      try {
        const options = { crypto, keys, remembered, filesProof, onCheckpoint, isLegacyProfile };
        const opening = { target, log, sidecar, end, cut: this.#cut, newSalt, options };
        const read = await openToSign({ ...opening, lost: remembered.lost });
        const so = await this.#withOurs(read, log);
        const source = (await from?.(so)) ?? null;
        const nowIso = () => new Date(nowMs()).toISOString();
        const parts = { crypto, signer, own, isSidecar, nowIso, from: source };
        this.#signer = LogSigner.from(so, parts);
        this.#handOvers = so.handOvers;
        this.#cut = 0;
        this.#end = end;
        return so;
      } finally {
        log.close();
      }
    } finally {
      sidecar?.close();
    }
  }

  /**
   * Of a log that was open before, only what others appended since is found: the lines before that
   * are ours, if they are still as we wrote them.
   */
  async #withOurs(so: SignedSoFar, log: OpenFile): Promise<SignedSoFar> {
    const { found } = so;
    const before = this.#signer;
    if (!before || !found || !(await hasBytes(log, before.covered, this.#parts.crypto))) return so;
    const from = Math.max(found[0], before.found?.[0] ?? before.covered.bytes);
    return { ...so, found: from < found[1] ? [from, found[1]] : null };
  }

  async #follow(signer: LogSigner, to: number, onCheckpoint: OnCheckpoint): Promise<void> {
    const { target, files, crypto } = this.#parts;
    const rotations = new Rotations(crypto, await this.#parts.keys(), this.#handOvers);
    signer.setOwn((await this.#loadOwnKeys()).signers);
    const from = this.#end;
    const draft = signer.draft();
    const log = await files.openLog();
    try {
      await followSigned({ target, log, crypto, rotations, from, to, signer, draft, onCheckpoint });
    } finally {
      log.close();
    }
    this.commit(draft, to);
    this.#handOvers = rotations.handOvers;
  }

  async #loadOwnKeys(): Promise<OwnKeys> {
    const { own, signer } = this.#parts;
    return (await own?.()) ?? { current: signer, signers: new Map() };
  }
}

async function hasBytes(
  log: OpenFile,
  { prefix, bytes, hash }: CoveredPrefix,
  crypto: ProofCrypto,
): Promise<boolean> {
  const running = crypto.runningSha256();
  running.update(prefix);
  for await (const chunk of readChunks(log, 0, bytes)) running.update(chunk);
  return running.hex() === hash;
}

function randomSalt(): Uint8Array {
  return randomBytes(32);
}

function notOpen({ logId }: SignableLog): VerbatimError {
  return new VerbatimError("LOG_CLOSED", `${logId} is not open to be signed`, { path: logId });
}
