/**
 * Stream signing: which streams have unsigned bytes, and when they are signed: at closing, after 1
 * MiB or 1,000 appends, 1 s after the last append, and when the store closes.
 *
 * Appends do not wait for it, except a stream's first. What could not be signed is reported
 * as a warning, and by `verbatim verify`.
 *
 * A stream that cannot be signed (SN1, or refused on opening) is reported once and skipped
 * until the store is opened again. Its appends are still accepted.
 *
 * A few are signed at a time, and a few idle ones are kept: one that was dropped is verified
 * again.
 *
 * The pin of a deleted stream is removed, also after a crash: the pin is as old as the
 * deletion in the journal. Pins are read and removed under every name of the data directory
 * (trust/heads/session-head.ts).
 *
 * A fork is signed at once, and its source before it, as far as the fork goes (SN5). If a
 * killed server did not finish this, or closings, the next one does.
 *
 * No crash leaves acknowledged bytes of a stream without a checkpoint before them: the genesis
 * is in the same journal write as the first bytes (genesis.ts). Creating a fork is answered
 * after its genesis, and appends to a fork without one wait for it.
 */

import { randomBytes } from "node:crypto";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Clock } from "../../core/base/host.ts";
import { type Heads, type InHeadsFile, rememberedIn } from "../../trust/heads/heads.ts";
import type { Signer } from "../../trust/keys/keys.ts";
import type { SignedHead } from "../../trust/proof/checkpoint.ts";
import type { Keys } from "../../trust/proof/ed25519-keys.ts";
import type { PinBook } from "../../trust/proof/pins.ts";
import type { OwnSigners } from "../../trust/signer/signer-state.ts";
import type { CommitBatch } from "../commit/batch.ts";
import type { StreamState } from "../commit/stream-state.ts";
import type { AppendOp, CreateOp, DeleteOp, JournalRecord } from "../journal/journal-record.ts";
import { addGeneses, beginningIn, comesFrom, sourceMissing } from "./genesis.ts";
import type { SignedStream, SigningParts } from "./signed-stream.ts";
import type { Signable, StreamLogParts } from "./stream-log.ts";

export interface SigningCadence {
  readonly bytesMax: number;
  readonly appendsMax: number;
  readonly idleMs: number;
}

export const SIGNING_CADENCE: SigningCadence = {
  bytesMax: 1024 * 1024,
  appendsMax: 1000,
  idleMs: 1000,
};

/** Who signs, and how signatures are judged. */
export interface StreamSigner {
  readonly signer: Signer;
  /** The user's keys that can still sign, to hand over from a retired one; none by default. */
  readonly own?: OwnSigners;
  /** The keys that judge a stream's older checkpoints. */
  keysFor(path: string): Keys;
  readonly heads: Heads;
  /** The current pins. */
  readonly book: InHeadsFile<PinBook>;
  onWarning(warning: string): void;
}

/** A stream that is being signed: in files, or in a database. */
export type SigningStream = Pick<SignedStream, Exclude<keyof SignedStream, "vouch">>;

export interface StreamSigningParts extends StreamSigner, Pick<SigningParts, "root" | "nowMs"> {
  /** The names of the store in pins: of a data directory, every path that leads there. */
  readonly names: readonly string[];
  /** The published state of a stream; null for a path that was never used. */
  stateOf(path: string): StreamState | null | Promise<StreamState | null>;
  /** `start`: where the stream's own bytes ended before the first append of this process. */
  newStream(shared: StreamLogParts, of: Signable, start: number): SigningStream;
  /** Whether a stream that has no bytes yet has checkpoints. */
  hasCheckpoints(state: StreamState): boolean;
  readonly clock: Clock;
  readonly cadence: SigningCadence;
}

/** A new fork without a genesis. */
interface NewFork {
  readonly begun: Promise<void>;
  readonly resolve: () => void;
}

/** Idle checks per idle period. */
const LOOKS_PER_IDLE = 4;
const SIGNED_AT_ONCE = 4;
const KEPT_MAX = 4096;
/** Temporary: there is space again, less load, or a database that answers. */
const PASSING: ReadonlySet<string> = new Set(["NO_SPACE", "QUEUE_FULL", "STORE_UNAVAILABLE"]);

export class StreamSigning {
  /** What each stream needs. */
  readonly shared: StreamLogParts;
  readonly #parts: StreamSigningParts;
  readonly #place: string;
  readonly #others: readonly string[];
  /** By path, least recently signed first. */
  readonly #streams = new Map<string, SigningStream>();
  readonly #unsigned = new Set<SigningStream>();
  readonly #due = new Set<SigningStream>();
  readonly #atWork = new Map<SigningStream, Promise<void>>();
  readonly #refused = new Set<SigningStream>();
  /** Forks without a genesis, by path. */
  readonly #newForks = new Map<string, NewFork>();
  readonly #stopping = new AbortController();
  #looking: Promise<void> | null = null;
  #forgetting: Promise<void> = Promise.resolve();
  #hasEnded = false;

  constructor(parts: StreamSigningParts) {
    this.#parts = parts;
    const { root, nowMs, signer, own, book } = parts;
    this.#place = `streams:${root}`;
    this.#others = parts.names.filter((name) => name !== this.#place);
    const names = { others: this.#others, leadsTo: null };
    this.shared = {
      root,
      nowMs,
      signer,
      own,
      keysFor: (path) => parts.keysFor(path),
      rememberedOf: (path) => rememberedIn(book, { place: this.#place, id: path, names }),
      newSalt: () => randomBytes(32),
      pin: (id, head) => parts.heads.pin({ ...head, place: this.#place, id }, "signed"),
      sourceHead: (fork) => this.#sourceHead(fork),
    };
  }

  /** Adds the geneses that a batch needs before it is written; null when it needs none. */
  begin(batch: CommitBatch): Promise<void> | null {
    const states = beginningIn(batch);
    if (states.length === 0) return null;
    return this.#forgetting
      .then(() => addGeneses({ ...this.shared, ...this.#parts }, batch, states))
      .catch((cause: unknown) => {
        this.#parts.onWarning(
          `new streams are unsigned for now and signed later: ${String(cause)}`,
        );
      });
  }

  /** Resolves when the genesis of a new fork is durable or has failed; null for other streams. */
  forkBegun(path: string): Promise<void> | null {
    return this.#newForks.get(path)?.begun ?? null;
  }

  /** Notes the changes of a durable batch. */
  note({ ops, changes }: Pick<CommitBatch, "ops" | "changes">): void {
    if (this.#hasEnded) return;
    const nowMs = this.#parts.clock.monotonicMs();
    for (const op of ops) {
      if (op.op === "delete") this.#forget([op]);
      if (op.op !== "append" && op.op !== "create") continue;
      const begins = isForkOf(op);
      if (op.bytes.length === 0 && !op.close && !begins) continue;
      const state = changes.get(op.path)?.state;
      if (state === undefined || state.file !== op.file || state.status === "deleted") continue;
      const stream = this.#streamOf(state, op.pos);
      if (this.#refused.has(stream)) continue;
      if (op.bytes.length > 0) stream.came(op.bytes, nowMs);
      if (begins) this.#beginFork(stream);
      if (op.close) stream.close();
      if (!stream.isUnsigned) continue;
      this.#unsigned.add(stream);
      if (this.#isDue(stream, nowMs)) this.#due.add(stream);
    }
    this.#work();
    if (this.#unsigned.size > 0) this.#looking ??= this.#look();
  }

  /** Streams that were deleted, forked or closed in the journal before this process. */
  recovered(
    records: readonly JournalRecord[],
    stateOf: (path: string) => StreamState | null,
  ): void {
    const deletions: DeleteOp[] = [];
    for (const { op } of records) {
      if (op.op === "delete") deletions.push(op);
      if (op.op !== "append" && op.op !== "create") continue;
      if (!op.close && !isForkOf(op)) continue;
      const state = stateOf(op.path);
      if (state === null || state.file !== op.file || state.status === "deleted") continue;
      this.#resume(state, isForkOf(op), op.close);
    }
    this.#forget(deletions);
    this.#work();
    if (this.#unsigned.size > 0) this.#looking ??= this.#look();
  }

  /** Signs streams soon whose server has stopped. */
  takeOver(states: readonly StreamState[]): void {
    if (this.#hasEnded) return;
    for (const state of states) this.#resume(state, false, true);
    this.#work();
    if (this.#unsigned.size > 0) this.#looking ??= this.#look();
  }

  /** Signs everything unsigned, and resolves when its heads are pinned. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
    while (!this.#hasEnded && this.#unsigned.size > 0) {
      for (const stream of this.#unsigned) this.#due.add(stream);
      this.#work();
      await Promise.race(this.#atWork.values());
    }
    await Promise.all(this.#atWork.values());
    this.#hasEnded = true;
    await this.#forgetting;
    await this.#parts.heads.flush();
  }

  #resume(state: StreamState, isFork: boolean, isUrgent: boolean): void {
    const stream = this.#streamOf(state, state.end - state.base);
    if (this.#refused.has(stream)) return;
    if (isFork) this.#beginFork(stream);
    if (isUrgent) stream.close();
    if (!stream.isUnsigned) return;
    this.#unsigned.add(stream);
    this.#due.add(stream);
  }

  #beginFork(stream: SigningStream): void {
    stream.begin();
    let resolve = () => {};
    const begun = new Promise<void>((settle) => {
      resolve = settle;
    });
    this.#newForks.set(stream.of.path, { begun, resolve });
  }

  #forkHasBegun(path: string): void {
    const fork = this.#newForks.get(path);
    if (fork === undefined) return;
    fork.resolve();
    // Appends that arrive before the waiting ones were submitted must queue behind them.
    setImmediate(() => {
      if (this.#newForks.get(path) === fork) this.#newForks.delete(path);
    });
  }

  #streamOf(state: Signable, start: number): SigningStream {
    const signingStream = this.#streams.get(state.path);
    if (signingStream?.of.streamId === state.streamId) return signingStream;
    if (signingStream !== undefined) this.#drop(signingStream);
    const stream = this.#parts.newStream(this.shared, signableOf(state), start);
    this.#streams.set(state.path, stream);
    return stream;
  }

  /** Signs a fork's source first, as far as the fork goes. */
  async #sourceHead({ path, fork, base }: Signable): Promise<SignedHead> {
    const { stateOf } = this.#parts;
    const state = fork === null ? null : await stateOf(fork.source);
    if (state === null || state.status === "deleted" || (await comesFrom(stateOf, state, path))) {
      throw sourceMissing(path, fork?.source ?? null);
    }
    const source = this.#streamOf(state, state.end - state.base);
    if (this.#refused.has(source)) throw sourceMissing(path, state.path);
    const head = await source.headCovering(Math.max(0, base - state.base));
    if (!source.isUnsigned) this.#unsigned.delete(source);
    return { ...head, at: base };
  }

  #isDue(stream: SigningStream, nowMs: number): boolean {
    const { bytesMax, appendsMax, idleMs } = this.#parts.cadence;
    const { bytes, appends, lastMs, isUrgent } = stream;
    const isMuch = bytes >= bytesMax || appends >= appendsMax;
    return isMuch || isUrgent || nowMs - lastMs >= idleMs;
  }

  /** Finds the streams that have become idle. */
  async #look(): Promise<void> {
    const { clock, cadence } = this.#parts;
    const { signal } = this.#stopping;
    while (this.#unsigned.size > 0 && !signal.aborted && !this.#hasEnded) {
      // Rejects when the store closes, and then everything is signed.
      await clock.sleep(cadence.idleMs / LOOKS_PER_IDLE, signal).catch(() => {});
      const nowMs = clock.monotonicMs();
      for (const stream of this.#unsigned) if (this.#isDue(stream, nowMs)) this.#due.add(stream);
      this.#work();
    }
    this.#looking = null;
  }

  #work(): void {
    for (const stream of this.#due) {
      if (this.#atWork.size >= SIGNED_AT_ONCE || this.#hasEnded) return;
      if (this.#atWork.has(stream)) continue;
      this.#due.delete(stream);
      if (stream.isUnsigned) this.#atWork.set(stream, this.#sign(stream));
    }
  }

  async #sign(stream: SigningStream): Promise<void> {
    const { path, streamId } = stream.of;
    try {
      if ((await stream.sign()) === "gone") this.#drop(stream);
    } catch (cause) {
      this.#failed(stream, cause);
    }
    this.#atWork.delete(stream);
    this.#forkHasBegun(path);
    const isCurrent = this.#streams.get(path)?.of.streamId === streamId;
    if (!stream.isUnsigned || !isCurrent) this.#unsigned.delete(stream);
    if (isCurrent) this.#usedLast(stream);
    this.#work();
  }

  #failed(stream: SigningStream, cause: unknown): void {
    const code = cause instanceof VerbatimError ? cause.code : "";
    if (code === "STORE_FAILED") {
      this.#hasEnded = true; // The store reports it.
      for (const path of this.#newForks.keys()) this.#forkHasBegun(path);
      return;
    }
    stream.lastMs = this.#parts.clock.monotonicMs(); // Not before it is idle again.
    if (PASSING.has(code) && !this.#stopping.signal.aborted) return;
    this.#unsigned.delete(stream);
    this.#due.delete(stream);
    if (this.#streams.get(stream.of.path) !== stream) return; // It was deleted.
    this.#refused.add(stream);
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#parts.onWarning(`${stream.of.path} is not signed any further: ${reason}`);
  }

  #usedLast(stream: SigningStream): void {
    const { path } = stream.of;
    this.#streams.delete(path);
    this.#streams.set(path, stream);
    if (this.#streams.size <= KEPT_MAX) return;
    for (const oldest of this.#streams.values()) {
      if (oldest.isUnsigned || oldest.isBusy || this.#refused.has(oldest)) continue;
      this.#streams.delete(oldest.of.path);
      return;
    }
  }

  #drop(stream: SigningStream): void {
    this.#forkHasBegun(stream.of.path);
    this.#streams.delete(stream.of.path);
    this.#unsigned.delete(stream);
    this.#due.delete(stream);
    this.#refused.delete(stream);
  }

  #forget(deletions: readonly DeleteOp[]): void {
    const gone = new Map<string, number>();
    for (const { ended, at } of deletions) {
      for (const path of ended) {
        gone.set(path, at);
        const stream = this.#streams.get(path);
        if (stream !== undefined) this.#drop(stream);
      }
    }
    if (gone.size === 0) return;
    const { heads, book, onWarning } = this.#parts;
    this.#forgetting = this.#forgetting
      .then(async () => {
        for (const place of [this.#place, ...this.#others]) {
          for (const pin of await heads.forgetAll(place, gone)) book.found.add(pin);
        }
      })
      .catch((cause: unknown) =>
        onWarning(`pins of deleted streams could not be removed: ${String(cause)}`),
      );
  }
}

export function signableOf(of: Signable): Signable {
  const { path, streamId, file, isJson, base, fork, isClosed } = of;
  return { path, streamId, file, isJson, base, fork, isClosed };
}

/** Whether a record creates a fork that has bytes from its source. */
function isForkOf(op: AppendOp | CreateOp): boolean {
  return op.op === "create" && op.fork !== null && op.from > op.pos;
}
