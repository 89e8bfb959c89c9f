/**
 * Sealing: where the checkpoints of a signed session go, between its lines or beside its log.
 *
 *   turn    before an entry that opens a new round trip after a finished one
 *   final   after an entry that ends the session
 *   batch   after every append, when that is asked for or others may append too; before a write
 *           when much stands unsigned; on closing
 *
 * Decides and makes; `composed-appends.ts` writes. Called with the log's lock held where it says so.
 *
 * SL1  A checkpoint is written when all it covers is durable: after a power cut none stands over
 *      bytes that never came to be.
 * SL2  What a checkpoint says is known when it stands: it is pinned after it is durable.
 */

import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import type { ByteOffset } from "../base/offset.ts";
import type { Native, Signing, WriterFacts } from "../dialects/dialect.ts";
import { openPlace, openToRead } from "../log/place.ts";
import type { Found } from "../proof/checkpoint.ts";
import type { ProofCrypto } from "../proof/crypto.ts";
import type { Keys } from "../proof/keys.ts";
import { followSigned } from "../signing/follow-signed.ts";
import type { Heads } from "../signing/heads.ts";
import { type Draft, type Head, LogSigner, type Newest } from "../signing/log-signer.ts";
import { openToSign } from "../signing/open-to-sign.ts";
import type { SessionLog } from "../signing/session-log.ts";
import { SidecarFile } from "../signing/sidecar-file.ts";
import type { Signer } from "../signing/signer.ts";

/** So much at most stands unsigned in a session whose turns do not end. */
export const UNSIGNED_BYTES_MAX = 16 * 1024 * 1024;

export interface SealingParts {
  readonly host: Host;
  readonly log: SessionLog;
  /** Where pins remember it. Asked for once the log is there. */
  readonly placeOf: () => Promise<string>;
  /** As the log's own lines have it: in rye its first line decides. */
  readonly signing: () => Signing;
  readonly facts: WriterFacts;
  readonly crypto: ProofCrypto;
  readonly signer: Signer;
  readonly keys: Keys;
  readonly heads: Heads;
  /** End every append with a checkpoint. */
  readonly isEveryAppend: boolean;
  /** thread.json's revision; 0 where there is none. */
  readonly rev: () => number;
  readonly onWarning: (warning: string) => void;
}

/** Which checkpoint is due. */
export type Due = "recovery" | "turn" | "batch" | "final" | Vouch;

/** A checkpoint by which somebody answers for lines that were found unsigned. */
export interface Vouch {
  /** Found before, and stated so; null: what was found now. */
  readonly vouches: Found | null;
  /** Which turn has ended, by whoever asks; default: as counted here. */
  readonly turn?: number;
}

export class Sealing {
  readonly #parts: SealingParts;
  #signer: LogSigner | null = null;
  /** Bytes that opening the log cut off, not yet stated. */
  #cut = 0;
  /** Up to where the signer knows the log. */
  #end = 0;
  /** How many turns have ended. */
  #turn = 0;
  /** The model has been at work since the last one ended. */
  #hasWorked = false;
  #lastNative: Native | null = null;
  #failure: { readonly error: unknown } | null = null;
  #pinned: Head | null = null;
  /** How long the sidecar is as far as we know; null when a failure left that open. */
  #besideBytes: number | null = 0;
  #place = "";

  constructor(parts: SealingParts) {
    this.#parts = parts;
  }

  /** The newest checkpoint that stands, by whomever; null when there is none. */
  get newest(): Newest | null {
    return this.#signer?.newest ?? null;
  }

  /** What was found unsigned on opening, and is not stated yet. With the lock held. */
  get found(): Found | null {
    return this.#ready().found;
  }

  /** Something on opening was such that a checkpoint must say so. With the lock held. */
  get mustState(): boolean {
    const signer = this.#ready();
    return signer.mustRecover || signer.found !== null;
  }

  /** Checkpoints lie beside the log. */
  get isSidecar(): boolean {
    return this.#parts.signing().isSidecar === true;
  }

  /** Whether an entry opens a turn after a finished one: a checkpoint stands before it. */
  beginsTurn(native: Native): boolean {
    const mark = this.#parts.signing().turnMark(native);
    return this.#hasWorked && (mark === "opens" || mark === "step");
  }

  /** Asked about coming entries in their order, the same of each; nothing is noted yet. */
  turnsAhead(): (native: Native) => boolean {
    let hasWorked = this.#hasWorked;
    return (native) => {
      const mark = this.#parts.signing().turnMark(native);
      const begins = hasWorked && (mark === "opens" || mark === "step");
      if (mark === "opens") hasWorked = false;
      if (mark === "step" || mark === "works") hasWorked = true;
      return begins;
    };
  }

  /** Whether an entry ends the session: a checkpoint stands after it, and nothing between. */
  endsSession(native: Native): boolean {
    return this.#parts.signing().turnMark(native) === "ends";
  }

  /** Notes an entry that stands in the log now, in order. */
  note(native: Native): void {
    if (this.beginsTurn(native)) this.#turn++;
    const mark = this.#parts.signing().turnMark(native);
    if (mark === "opens") this.#hasWorked = false;
    if (mark === "step" || mark === "works") this.#hasWorked = true;
    this.#lastNative = native;
  }

  /** What is due before a write that begins with this entry. */
  dueBefore(native: Native | undefined): Due | null {
    const signer = this.#ready();
    if (signer.mustRecover) return "recovery";
    if (signer.isBeginning || signer.unsignedBytes === 0) return null;
    if (native && this.beginsTurn(native)) return "turn";
    return signer.unsignedBytes >= UNSIGNED_BYTES_MAX ? "batch" : null;
  }

  /** What is due at the end of a write. The first checkpoint is the genesis. */
  dueAfter(): Due | null {
    return this.#ready().isBeginning || this.#parts.isEveryAppend ? "batch" : null;
  }

  /** What is due when the session ends, or is closed. */
  dueAtEnd(kind: "final" | "batch"): Due | null {
    const signer = this.#ready();
    if (signer.mustRecover) return "recovery";
    return kind === "final" || signer.unsignedBytes > 0 ? kind : null;
  }

  /** What could not be signed, or remembered: told, since the lines themselves are there. */
  warn(cause: unknown): void {
    const { log, onWarning } = this.#parts;
    onWarning(`${log.id ?? log.logId} could not be signed to its end: ${String(cause)}`);
  }

  /** A draft of the signer's, for the coming write. With the lock held. */
  draft(): Draft {
    return this.#ready().draft();
  }

  /** Makes a checkpoint: its line, and the name by which the next line may call it. */
  async make(draft: Draft, due: Due, previous: string | null): Promise<Made> {
    const { signing, facts, rev } = this.#parts;
    const { text, id } = signing().opening(facts, { previous, native: this.#lastNative });
    const endsTurn = due === "turn" || (due === "final" && this.#hasWorked);
    const when = { turn: endsTurn ? this.#turn + 1 : this.#turn, rev: rev() };
    if (typeof due === "object") {
      this.#turn = due.turn ?? this.#turn;
      return { line: await vouched(draft, due, text, { ...when, turn: this.#turn }), id };
    }
    if (due === "final") {
      this.#turn = when.turn;
      this.#hasWorked = false;
    }
    const line =
      due === "recovery"
        ? await draft.recovery(text, when)
        : await draft.checkpoint(due, text, when);
    return { line, id };
  }

  /** What was drafted stands in the log, which ends here. */
  stands(draft: Draft, end: ByteOffset): void {
    draft.commit();
    this.#end = end;
  }

  /** There is a checkpoint of ours that is not remembered yet. */
  get hasUnpinned(): boolean {
    const head = this.#signer?.head ?? null;
    return head !== null && head !== this.#pinned;
  }

  /** Everything that stands is durable: the head is remembered (SL2). */
  durable(): void {
    const head = this.#signer?.head;
    if (!head || head === this.#pinned) return;
    this.#pinned = head;
    const { heads, log } = this.#parts;
    heads.pin({ ...head, place: this.#place, id: log.id ?? "" }, "signed");
  }

  /** The log ends here, and not all of it is ours: verifies it, or what others appended. */
  async caughtUp(end: ByteOffset, cutBytes: number): Promise<void> {
    this.#cut += cutBytes;
    try {
      // A log that others began has their salt, not the one that we would have given it.
      const isKnown = this.#signer !== null && !this.#signer.isBeginning;
      await (this.#signer && isKnown && !this.isSidecar
        ? this.#follow(this.#signer, end)
        : this.#open(end));
      this.#failure = null;
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** Why nothing can be signed; the log is not written to then. */
  refuseIfUnfit(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /** Beside the log: appends checkpoints there, durably. With the lock held, the log synced. */
  async writeBeside(lines: Uint8Array): Promise<void> {
    const { host, log } = this.#parts;
    const known = this.#besideBytes ?? 0;
    this.#besideBytes = null; // Until it has succeeded, nobody knows what stands there.
    const sidecar = await SidecarFile.open(host, log);
    try {
      await sidecar.append(lines);
      this.#besideBytes = known + lines.length;
    } finally {
      sidecar.close();
    }
  }

  /** Beside the log: looks again when a write there failed or others signed. With the lock held. */
  async settle(sync: () => Promise<void>, end: () => ByteOffset): Promise<void> {
    if (!this.isSidecar || !this.#signer) return;
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
    const sidecar = await SidecarFile.openToRead(this.#parts.host, this.#parts.log);
    try {
      return (sidecar?.size() ?? 0) !== this.#besideBytes;
    } finally {
      sidecar?.close();
    }
  }

  #ready(): LogSigner {
    this.refuseIfUnfit();
    if (!this.#signer) throw notOpen(this.#parts.log.logId);
    return this.#signer;
  }

  async #open(end: ByteOffset): Promise<void> {
    const { host, log: target, crypto, signer, keys, heads, facts } = this.#parts;
    const { logId, root, id } = target;
    this.#place = await this.#parts.placeOf();
    const remembered = await heads.remembered({ place: this.#place, id: id ?? "" });
    const at = await openPlace(host, logId, { create: false, root });
    if (this.isSidecar) await SidecarFile.recover(host, target);
    const sidecar = this.isSidecar ? await SidecarFile.openToRead(host, target) : null;
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
        options: { crypto, keys, remembered },
        lost: remembered.lost,
      });
      const nowIso = () => new Date(facts.nowMs).toISOString();
      const { isSidecar } = this;
      this.#signer = new LogSigner(so, { crypto, signer, isSidecar, nowIso });
      this.#cut = 0;
      this.#turn = so.turn;
      this.#hasWorked = so.isInTurn;
      this.#end = end;
    } finally {
      log.close();
      sidecar?.close();
      at.directory.close();
    }
  }

  async #follow(signer: LogSigner, end: ByteOffset): Promise<void> {
    const { host, log, crypto, keys } = this.#parts;
    const draft = signer.draft();
    await followSigned({ host, log, crypto, keys, from: this.#end, to: end, draft });
    draft.commit();
    this.#end = end;
  }
}

export interface Made {
  readonly line: Uint8Array;
  readonly id: string | null;
}

function vouched(
  draft: Draft,
  { vouches }: Vouch,
  text: string,
  when: { readonly turn: number; readonly rev: number },
): Promise<Uint8Array> {
  if (!vouches) return draft.recovery(text, when, true);
  const kind = { kind: "recovery", cut: 0, found: vouches, vouched: true, lost: null } as const;
  return draft.special(kind, text, when);
}

function notOpen(logId: string): VerbatimError {
  const path = dirname(logId);
  return new VerbatimError("LOG_CLOSED", `${logId} is not open to be signed`, { path });
}
