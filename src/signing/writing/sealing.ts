/**
 * Sealing: where the checkpoints of a signed session go, between its lines or beside its log.
 *
 *   genesis first: beside a log before its first line, else at the end of the first append
 *   turn    before an entry that opens a turn after a finished one
 *   final   after an entry that ends the session
 *   batch   after every append, when that is asked for or others may append too; after an append in
 *           whose midst a turn opens; before a write when much stands unsigned; on closing
 *   rotate  before anything else when the user's key was changed (log-signer.ts, S4)
 *   link    when another session goes on from this one (link.ts)
 *
 * Decides and makes; `sealed-appends.ts` writes, with the log's lock held.
 *
 * SL1  A checkpoint is written when all it covers is durable: after a power cut none stands over
 *      bytes that never came to be.
 * SL2  What a checkpoint says is known when it stands: it is pinned after it is durable.
 * SL3  A checkpoint that was made before it was due is written only where it says what one made
 *      then would say; else nobody has ever seen it.
 * SL4  No line is acknowledged before the genesis is durable, nor before the checkpoint that ends
 *      its append where every append has one. Where that cannot be written, the append is refused.
 */

import type { ByteOffset } from "../../base/offset.ts";
import type { CheckpointOpening, Native, Signing, WriterFacts } from "../../dialects/dialect.ts";
import { type TurnMark, Turns } from "../../model/turns.ts";
import type { Found } from "../../proof/checkpoint.ts";
import type { ToVouch } from "../judging/shown.ts";
import { countLines, countOpened } from "./counted-turns.ts";
import type { LogSigner } from "./log-signer.ts";
import { SealedLog, type SealedLogParts } from "./sealed-log.ts";
import type { Head, NamedCheckpoint, Newest, Signed, When } from "./signer-state.ts";

/** So much at most stands unsigned in a session whose turns do not end. */
export const UNSIGNED_BYTES_MAX = 16 * 1024 * 1024;

export interface SealingParts
  extends Omit<SealedLogParts, "nowMs" | "isSidecar" | "onOpened" | "onFollowed"> {
  /** As the log's own lines have it: in rye its first line decides. */
  readonly signing: () => Signing;
  readonly facts: WriterFacts;
  /** thread.json's revision; 0 where there is none. */
  readonly rev: () => number;
  /** The same, once the last entry is written there, too. Default: as `rev`. */
  readonly revAhead?: () => number;
  readonly onWarning: (warning: string) => void;
}

/** Which checkpoint is due. */
export type Due = "recovery" | "rotate" | "turn" | "batch" | "final" | Vouch | LinkTo;

/** A checkpoint that names a session which goes on from here. */
export interface LinkTo {
  readonly linkTo: { readonly id: string; readonly log: string };
}

/** A checkpoint by which somebody answers for lines that were found unsigned. */
export interface Vouch {
  /** Found before, and stated so; null: what was found now. */
  readonly vouches: Found | null;
  /** Which turn has ended, by whoever asks; default: as counted here. */
  readonly turn?: number;
}

/** A checkpoint's line, and the name by which the next line may call it. */
export interface Made {
  readonly line: Uint8Array;
  readonly id: string | null;
}

/** An entry that is about to be written. */
interface Added {
  readonly whole: Native;
  readonly mark: TurnMark;
}

/** The next checkpoint, as it seems, after the line of that name (SL3). */
interface Foreseen {
  readonly due: ForeseenDue;
  readonly previous: string | null;
  /** Null when it could not be made. */
  readonly made: Promise<{ readonly signed: Signed; readonly id: string | null } | null>;
}

type ForeseenDue = "turn" | "final";

export class Sealing {
  readonly #parts: SealingParts;
  readonly #log: SealedLog;
  readonly #turns = new Turns();
  #lastNative: Native | null = null;
  #pinned: Head | null = null;
  #foreseen: Foreseen | null = null;

  constructor(parts: SealingParts) {
    this.#parts = parts;
    const { host, log } = parts;
    const counted = { host, log, markOf: (native: Native) => this.markOf(native) };
    this.#log = new SealedLog({
      ...parts,
      nowMs: () => parts.facts.nowMs,
      isSidecar: () => this.isSidecar,
      onOpened: (so, end) => countOpened(counted, this.#turns, so, end),
      onFollowed: (from, to) => countLines(counted, this.#turns, from, to),
    });
  }

  /** The newest checkpoint that stands, by whomever; null when there is none. */
  get newest(): Newest | null {
    return this.#log.signer?.newest ?? null;
  }

  /** The checkpoint that thread.json named when the log was last read; null: it does not stand. */
  get named(): NamedCheckpoint | null {
    return this.#log.named;
  }

  /** What was found unsigned on opening and is not stated yet. With the lock held. */
  get toVouch(): ToVouch {
    return this.#log.ready();
  }

  /** The newest checkpoint is by one of the user's own keys. With the lock held. */
  get isOurs(): boolean {
    return this.#log.ready().isOurs;
  }

  /** The last checkpoint is by a key that is retired, and has not handed over. With the lock held. */
  get mustRotate(): boolean {
    return this.#log.ready().mustRotate;
  }

  /** The identity of the log, once it was opened. */
  get log(): string | null {
    return this.#log.signer?.log ?? null;
  }

  /** Something on opening was such that a checkpoint must say so. With the lock held. */
  get mustState(): boolean {
    const signer = this.#log.ready();
    return signer.mustRecover || signer.found !== null;
  }

  /** Checkpoints lie beside the log. */
  get isSidecar(): boolean {
    return this.#parts.signing().isSidecar === true;
  }

  /** What an entry is to the turns of its session. */
  markOf(native: Native): TurnMark {
    return this.#parts.signing().turnMark(native, this.#parts.log.id);
  }

  /** To ask about coming entries, in their order; nothing is noted yet. */
  turnsAhead(): Turns {
    return this.#turns.ahead();
  }

  /** Notes an entry that stands in the log now, in order. */
  note(native: Native, mark: TurnMark): void {
    this.#turns.note(mark);
    this.#lastNative = native;
  }

  /** What is due before a write that begins with such an entry, in order. */
  duesBefore(mark: TurnMark): readonly Due[] {
    const opening = this.#duesOnOpening();
    if (opening.length > 0) return opening;
    const signer = this.#log.ready();
    if (signer.isBeginning) return this.isSidecar ? ["batch"] : [];
    if (signer.unsignedBytes === 0) return [];
    if (this.#turns.beginsWith(mark)) return ["turn"];
    return signer.unsignedBytes >= UNSIGNED_BYTES_MAX ? ["batch"] : [];
  }

  /** What was found is stated first, still by the retired key: a rotation must not sign it over. */
  #duesOnOpening(): Due[] {
    const { mustRecover, mustRotate } = this.#log.ready();
    return [
      ...(mustRecover ? ["recovery" as const] : []),
      ...(mustRotate ? ["rotate" as const] : []),
    ];
  }

  /** There is no checkpoint yet: the next one is the genesis, whatever is due. */
  get isBeginning(): boolean {
    return this.#log.ready().isBeginning;
  }

  /** Every append ends with a checkpoint of its own. */
  get isEveryAppend(): boolean {
    return this.#parts.isEveryAppend;
  }

  /** What is due at the end of a write of such entries. */
  dueAfter(marks: readonly TurnMark[]): Due | null {
    if (this.isBeginning || this.isEveryAppend) return "batch";
    if (marks.length < 2) return null;
    const turns = this.turnsAhead();
    const opened = marks.map((mark) => turns.note(mark));
    return opened.includes(true, 1) ? "batch" : null;
  }

  /** Nothing is due before or after a write of such entries, whoever else writes. */
  isCalm(marks: readonly TurnMark[]): boolean {
    if (this.isSidecar || this.isEveryAppend) return false;
    return this.duesBefore(marks[0] ?? null).length === 0 && this.dueAfter(marks) === null;
  }

  /** What is due when the session ends, or is closed. */
  duesAtEnd(kind: "final" | "batch"): readonly Due[] {
    const opening = this.#duesOnOpening();
    if (opening.length > 0) return opening;
    return kind === "final" || this.#log.ready().unsignedBytes > 0 ? [kind] : [];
  }

  /** What could not be signed, or remembered: told, since the lines themselves are there. */
  warn(cause: unknown): void {
    const { log, onWarning } = this.#parts;
    onWarning(`${log.id ?? log.logId} could not be signed to its end: ${String(cause)}`);
  }

  /** A draft of the signer's, for the coming write. With the lock held. */
  draft(): LogSigner {
    return this.#log.ready().draft();
  }

  /** Makes a checkpoint over what stands and the entries that were `added` to the draft. */
  async make(
    draft: LogSigner,
    due: Due,
    previous: string | null,
    added: readonly Added[],
  ): Promise<Made> {
    const when = this.#when(due, added);
    const foreseen = await this.#takeForeseen(draft, due, previous, when);
    if (foreseen) return foreseen;
    const { text, id } = this.#opening(previous, added.at(-1)?.whole);
    if (due === "rotate") return { line: await draft.rotate(text, when), id };
    if (typeof due === "object" && "linkTo" in due) {
      return { line: await draft.special({ kind: "link", to: due.linkTo }, text, when), id };
    }
    if (typeof due === "object") {
      const { ended, phase } = this.#turns.state;
      this.#turns.continueFrom({ ended: due.turn ?? ended, phase });
      return { line: await vouched(draft, due, text, this.#when(due)), id };
    }
    const line =
      due === "recovery"
        ? await draft.recovery(text, when)
        : await draft.checkpoint(due, text, when);
    return { line, id };
  }

  /**
   * What stands now ends a turn, as it seems, or the session: makes the checkpoint of that, so that
   * nobody has to wait for it when it is due (SL3).
   */
  foresee(due: ForeseenDue, previous: string | null): void {
    const { isEveryAppend, rev, revAhead = rev } = this.#parts;
    const { isBeginning, mustRecover, mustRotate } = this.#log.ready();
    if (isEveryAppend || isBeginning || mustRecover || mustRotate) return; // Another will be due.
    const { text, id } = this.#opening(previous);
    const when = { ...this.#when(due), rev: due === "final" ? revAhead() : rev() };
    const made = this.draft()
      .sign({ kind: due }, text, when)
      .then(
        (signed) => ({ signed, id }),
        () => null, // It is made, and fails, when it is due.
      );
    this.#foreseen = { due, previous, made };
  }

  async #takeForeseen(
    draft: LogSigner,
    due: Due,
    previous: string | null,
    when: When,
  ): Promise<Made | null> {
    const foreseen = this.#foreseen;
    this.#foreseen = null;
    if (foreseen?.due !== due || foreseen.previous !== previous) return null;
    const made = await foreseen.made;
    if (!made || !draft.takes(made.signed, when)) return null;
    return { line: made.signed.line, id: made.id };
  }

  #opening(previous: string | null, native = this.#lastNative): CheckpointOpening {
    const { signing, facts } = this.#parts;
    return signing().opening(facts, { previous, native });
  }

  #when(due: Due, added: readonly Added[] = []): When {
    const turns = this.turnsAhead();
    for (const { mark } of added) turns.note(mark);
    const { ended, count } = turns;
    const endsTurn = due === "turn" || due === "final";
    return { turn: endsTurn ? count : ended, rev: this.#parts.rev() };
  }

  /** What was drafted stands in the log, which ends here. */
  stands(draft: LogSigner, end: ByteOffset): void {
    this.#log.stands(draft, end);
  }

  /** The last checkpoint of ours that stands. */
  get head(): Head | null {
    return this.#log.signer?.head ?? null;
  }

  /** There is a checkpoint of ours that is not remembered yet. */
  get hasUnpinned(): boolean {
    return this.head !== null && this.head !== this.#pinned;
  }

  /** This one, by default the last, is durable, and so is all before it: it is remembered (SL2). */
  durable(head = this.head): void {
    const pinned = this.#pinned;
    if (!head || (head.log === pinned?.log && head.seq <= pinned.seq)) return;
    this.#pinned = head;
    const { heads, log } = this.#parts;
    heads.pin({ ...head, place: this.#log.place, id: log.id ?? "" }, "signed");
  }

  /** Resolves when what was remembered is on the disk, or was told not to be. Never rejects. */
  pinned(): Promise<void> {
    return this.#parts.heads.flush();
  }

  /** The log ends here, and not all of it is ours: verifies it, or what others appended. */
  caughtUp(end: ByteOffset, cutBytes: number): Promise<void> {
    this.#foreseen = null;
    return this.#log.caughtUp(end, cutBytes);
  }

  /** Beside the log: appends checkpoints there, durably. With the lock held, the log synced. */
  writeBeside(lines: Uint8Array): Promise<void> {
    return this.#log.writeBeside(lines);
  }

  /** Beside the log: a write there failed, and the checkpoints may stand all the same. */
  get isUnsettled(): boolean {
    return this.#log.isUnsettled;
  }

  /** Beside the log: looks again when a write there failed or others signed. With the lock held. */
  settle(sync: () => Promise<void>, end: () => ByteOffset): Promise<void> {
    return this.#log.settle(sync, end);
  }
}

function vouched(
  draft: LogSigner,
  { vouches }: Vouch,
  text: string,
  when: When,
): Promise<Uint8Array> {
  if (!vouches) return draft.recovery(text, when, true);
  const kind = { kind: "recovery", cut: 0, found: vouches, vouched: true, lost: null } as const;
  return draft.special(kind, text, when);
}
