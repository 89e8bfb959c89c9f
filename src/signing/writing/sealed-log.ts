/**
 * Sealed log: what the signer knows of one log, kept in step with the file and with what lies beside
 * it. Which checkpoints there are to be is `sealing.ts`.
 *
 * SO1  A log that could not be verified, or followed, is not signed and not written to, until it can.
 */

import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { ioError, VerbatimError } from "../../base/errors.ts";
import type { Host } from "../../base/host.ts";
import type { ByteOffset } from "../../base/offset.ts";
import { openPlace, openToRead } from "../../log/place.ts";
import type { ForeignHead } from "../../proof/checkpoint.ts";
import type { ProofCrypto } from "../../proof/crypto.ts";
import type { OnCheckpoint } from "../../proof/judge.ts";
import type { Keys } from "../../proof/keys.ts";
import { type HandOver, Rotations } from "../../proof/rotations.ts";
import type { Heads, RootNames } from "../heads/heads.ts";
import type { BesideProof } from "../judging/verify-options.ts";
import type { OwnKeys } from "../keys/keys.ts";
import type { Signer } from "../keys/signer.ts";
import { type SessionLog, sidecarOf } from "../session-log.ts";
import { followSigned } from "./follow-signed.ts";
import { LogSigner } from "./log-signer.ts";
import { openToSign } from "./open-to-sign.ts";
import { SidecarFile } from "./sidecar-file.ts";
import type { NamedCheckpoint, SignedSoFar } from "./signer-state.ts";

export interface SealedLogParts {
  readonly host: Host;
  readonly log: SessionLog;
  /** Where pins remember it. Asked for once the log is there. */
  readonly namesOf: () => Promise<RootNames>;
  readonly crypto: ProofCrypto;
  readonly signer: Signer;
  /** The user's own keys now, asked for as `keys` is; absent: `signer` is the only one. */
  readonly own?: () => Promise<OwnKeys>;
  /** Whom the user trusts now. Asked for whenever others' lines are judged: it may have changed. */
  readonly keys: () => Promise<Keys>;
  readonly heads: Heads;
  /** Judges the files to which its lines refer, once; null where there are none. */
  readonly newBesideProof: () => BesideProof | null;
  /** Which checkpoint thread.json names as its head, true or not: looked for in passing. */
  readonly namedSeq?: () => Promise<number | null>;
  /** Of a fork: the head of another log that this one begins from. */
  readonly from?: ForeignHead | null;
  /** Takes a log that the Python original signed: all of it is stated as found. Default: refuses. */
  readonly isLegacyProfile?: boolean;
  readonly nowMs: () => number;
  /** End every append with a checkpoint: others may sign it, too. */
  readonly isEveryAppend: boolean;
  /** Checkpoints lie beside the log. */
  readonly isSidecar: () => boolean;
  /** It was verified up to its end, and comes to this. */
  readonly onOpened: (so: SignedSoFar, end: number) => Promise<void>;
  /** Lines that others appended were taken over. */
  readonly onFollowed: (from: number, to: number) => Promise<void>;
}

export class SealedLog {
  readonly #parts: SealedLogParts;
  #signer: LogSigner | null = null;
  /** Bytes that opening the log cut off, not yet stated. */
  #cut = 0;
  /** Up to where the signer knows the log. */
  #end = 0;
  #failure: { readonly error: unknown } | null = null;
  /** How long the sidecar is as far as we know; null when a failure left that open. */
  #besideBytes: number | null = 0;
  #isUnsettled = false;
  #place = "";
  #named: NamedCheckpoint | null = null;
  #handOvers: readonly HandOver[] = [];

  constructor(parts: SealedLogParts) {
    this.#parts = parts;
  }

  /** Null before the log was opened. */
  get signer(): LogSigner | null {
    return this.#signer;
  }

  /** The checkpoint that thread.json named when the log was last read; null: it does not stand. */
  get named(): NamedCheckpoint | null {
    return this.#named;
  }

  /** What its store is called in pins. */
  get place(): string {
    return this.#place;
  }

  /** The signer of a log that is fit to be signed (SO1). */
  ready(): LogSigner {
    if (this.#failure) throw this.#failure.error;
    if (!this.#signer) throw notOpen(this.#parts.log.logId);
    return this.#signer;
  }

  /** What was drafted stands in the log, which ends here. */
  stands(draft: LogSigner, end: ByteOffset): void {
    draft.commit();
    this.#end = end;
  }

  /** The log ends here, and not all of it is ours: verifies it, or what others appended. */
  async caughtUp(end: ByteOffset, cutBytes: number): Promise<void> {
    this.#cut += cutBytes;
    try {
      // A log that others began has their salt, not the one that we would have given it.
      const isKnown = this.#signer !== null && !this.#signer.isBeginning;
      const onCheckpoint = await this.#lookForNamed();
      await (this.#signer && isKnown && !this.#parts.isSidecar()
        ? this.#follow(this.#signer, end, onCheckpoint)
        : this.#open(end, onCheckpoint));
      this.#failure = null;
    } catch (error) {
      const { root, logId } = this.#parts.log;
      this.#failure = { error: ioError(`${root}/${logId}`, "verifying", error) };
    }
  }

  /** A write beside the log failed, and its checkpoints may stand there all the same. */
  get isUnsettled(): boolean {
    return this.#isUnsettled;
  }

  /** Beside the log: appends checkpoints there, durably. With the lock held, the log synced. */
  async writeBeside(lines: Uint8Array): Promise<void> {
    const { host, log } = this.#parts;
    const known = this.#besideBytes ?? 0;
    this.#besideBytes = null; // Until it has succeeded, nobody knows what stands there.
    this.#isUnsettled = false;
    try {
      const sidecar = await SidecarFile.open(host, log);
      try {
        const before = sidecar.size;
        try {
          sidecar.write(lines);
        } finally {
          this.#isUnsettled = sidecar.size !== before;
        }
        await sidecar.sync();
        this.#isUnsettled = false;
        this.#besideBytes = known + lines.length;
      } finally {
        sidecar.close();
      }
    } catch (cause) {
      throw this.#besideError("appending", cause);
    }
  }

  /** Beside the log: looks again when a write there failed or others signed. With the lock held. */
  async settle(sync: () => Promise<void>, end: () => ByteOffset): Promise<void> {
    if (!this.#signer) return;
    if (
      this.#besideBytes !== null &&
      !(this.#parts.isEveryAppend && (await this.#othersSigned()))
    ) {
      return;
    }
    await sync();
    await this.caughtUp(end(), 0);
  }

  async #othersSigned(): Promise<boolean> {
    const { host, log } = this.#parts;
    try {
      const sidecar = await SidecarFile.openToRead(host, log);
      const size = sidecar?.size() ?? 0;
      sidecar?.close();
      return size !== this.#besideBytes;
    } catch (cause) {
      throw this.#besideError("reading", cause);
    }
  }

  #besideError(operation: string, cause: unknown): VerbatimError {
    const { root, logId } = this.#parts.log;
    return ioError(`${root}/${sidecarOf(logId)}`, operation, cause);
  }

  /** What to tell of the checkpoints that are read, so that the one that is named is known. */
  async #lookForNamed(): Promise<OnCheckpoint> {
    const wanted = (await this.#parts.namedSeq?.()) ?? null;
    const known = [this.#named, this.#signer?.newest ?? null];
    this.#named = known.find((each) => each?.seq === wanted) ?? null;
    return (seq, line) => {
      if (seq === wanted) this.#named = { seq, line };
    };
  }

  async #open(end: ByteOffset, onCheckpoint: OnCheckpoint): Promise<void> {
    const { host, log: target, crypto, heads, nowMs, from = null } = this.#parts;
    const { isLegacyProfile = false } = this.#parts;
    const keys = await this.#parts.keys();
    const { current: signer, signers: own } = await this.#own();
    const beside = this.#parts.newBesideProof();
    const isSidecar = this.#parts.isSidecar();
    const { logId, root, id } = target;
    const names = await this.#parts.namesOf();
    this.#place = names.place;
    const remembered = await heads.remembered({ place: names.place, id: id ?? "", names });
    const at = await openPlace(host, logId, { create: false, root });
    if (isSidecar) await SidecarFile.recover(host, target);
    const sidecar = isSidecar ? await SidecarFile.openToRead(host, target) : null;
    this.#besideBytes = sidecar?.size() ?? 0;
    const log = openToRead(at);
    try {
      const so = await openToSign({
        target,
        log,
        sidecar,
        end,
        cut: this.#cut,
        newSalt: () => randomBytes(32),
        options: { crypto, keys, remembered, beside, onCheckpoint, isLegacyProfile },
        lost: remembered.lost,
      });
      const nowIso = () => new Date(nowMs()).toISOString();
      this.#signer = LogSigner.from(so, { crypto, signer, own, isSidecar, nowIso, from });
      this.#handOvers = so.handOvers;
      this.#cut = 0;
      this.#end = end;
      await this.#parts.onOpened(so, end);
    } finally {
      log.close();
      sidecar?.close();
      at.directory.close();
    }
  }

  async #follow(signer: LogSigner, to: ByteOffset, onCheckpoint: OnCheckpoint): Promise<void> {
    const { host, log, crypto } = this.#parts;
    const rotations = new Rotations(crypto, await this.#parts.keys(), this.#handOvers);
    signer.setOwn((await this.#own()).signers);
    const draft = signer.draft();
    await followSigned({ host, log, crypto, rotations, from: this.#end, to, draft, onCheckpoint });
    await this.#parts.onFollowed(this.#end, to);
    draft.commit();
    this.#handOvers = rotations.handOvers;
    this.#end = to;
  }

  async #own(): Promise<OwnKeys> {
    const { own, signer } = this.#parts;
    return (await own?.()) ?? { current: signer, signers: new Map() };
  }
}

function notOpen(logId: string): VerbatimError {
  const path = dirname(logId);
  return new VerbatimError("LOG_CLOSED", `${logId} is not open to be signed`, { path });
}
