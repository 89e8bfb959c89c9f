/**
 * Composed appends: the entries of a session that has a scribe, on their way into the log.
 *
 *   append ──> waiting ──> one group in flight: spill files · lock · compose · write · sync ──> told
 *                └ gathers meanwhile; the next group is composed when this one is acknowledged
 *
 * CA1  Entries land in the order of the calls, and what waits shares a write and a sync.
 * CA2  Each caller is told the offset after its own lines.
 * CA3  A group that is refused is refused to everybody in it, and those after it go on.
 */

import { assert } from "../base/assert.ts";
import { callersHaveRun } from "../base/callers.ts";
import { type ErrorCode, VerbatimError } from "../base/errors.ts";
import type { Directory } from "../base/files.ts";
import { LOG_LIMITS } from "../base/limits.ts";
import { type ByteOffset, toByteOffset } from "../base/offset.ts";
import type { Native, SpillFile } from "../dialects/dialect.ts";
import { queueFull } from "../log/admission.ts";
import type { AppendMore, Sync } from "../log/composed.ts";
import { checkLine } from "../log/framing.ts";
import type { LogWriter } from "../log/writer.ts";
import type { Draft, Prepared, Scribe } from "./scribe.ts";
import type { Due, Sealing } from "./sealing.ts";
import { removeSpills, writeSpills } from "./spill-files.ts";

/** Room in a write for lines that grow when they are linked, and for lines that are put in. */
const RESERVED_BYTES = 64 * 1024;

/** After so long without an append a session whose checkpoints lie beside it is signed. */
const REST_MS = 1000;

/** Refusals after which the log is as it was. */
const NOTHING_WRITTEN: readonly ErrorCode[] = ["NO_SPACE", "LOG_LOCKED", "LOG_CLOSED"];

interface Waiting {
  readonly lines: readonly Prepared[];
  readonly lineBytes: number;
  /** What it holds in memory, spill files included. */
  readonly bytes: number;
  readonly resolve: (end: ByteOffset) => void;
  readonly reject: (error: unknown) => void;
}

export interface ComposedParts {
  /** Where spill files go. Asked for when the first one comes. */
  readonly openDirectory: () => Promise<Directory>;
  /** What the log acknowledges is on the disk. */
  readonly isDurable: boolean;
  /** Signed sessions: what was written stands, and the lock is still held. */
  readonly onSealed?: (() => Promise<void>) | undefined;
}

const NOTHING = new Uint8Array(0);

export class ComposedAppends {
  readonly #writer: LogWriter;
  readonly #scribe: Scribe;
  readonly #isDurable: boolean;
  readonly #onSealed: ComposedParts["onSealed"];
  readonly #openDirectory: () => Promise<Directory>;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #draining: Promise<void> | null = null;
  #restTimer: NodeJS.Timeout | null = null;

  constructor(writer: LogWriter, scribe: Scribe, parts: ComposedParts) {
    const { openDirectory, isDurable, onSealed } = parts;
    this.#isDurable = isDurable;
    this.#onSealed = onSealed;
    this.#writer = writer;
    this.#scribe = scribe;
    this.#openDirectory = openDirectory;
  }

  /** Appends completed entries, all of them or none; resolves to the offset after the last. */
  append(natives: readonly Native[]): Promise<ByteOffset> {
    try {
      const lines = natives.map((native) => this.#scribe.prepare(native));
      for (const { line } of lines) checkLine(this.#writer.path, line, LOG_LIMITS);
      const lineBytes = lines.reduce((sum, { line }) => sum + line.length + 1, 0);
      const bytes = lineBytes + spillBytes(lines);
      const { queueBytesMax } = LOG_LIMITS;
      // One alone is taken however much is to be spilled: there is nothing to wait for.
      if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > queueBytesMax) {
        throw queueFull(this.#writer.path, this.#waitingBytes, queueBytesMax);
      }
      return new Promise((resolve, reject) => {
        this.#waiting.push({ lines, lineBytes, bytes, resolve, reject });
        this.#waitingBytes += bytes;
        this.#draining ??= this.#drain();
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  async #drain(): Promise<void> {
    await null; // Into a microtask, wherever `append` was called (see callersHaveRun).
    let hasAppended = false;
    while (true) {
      await callersHaveRun();
      const taken = this.#takeGroup();
      if (taken.length === 0) break;
      hasAppended = true;
      const group = await this.#spill(taken);
      if (group.length > 0) await this.#commit(group);
      for (const { bytes } of taken) this.#waitingBytes -= bytes;
    }
    this.#draining = null;
    if (hasAppended && this.#scribe.sealing?.isSidecar) this.#restLater();
  }

  #restLater(): void {
    if (this.#restTimer) this.#restTimer.refresh();
    else this.#restTimer = setTimeout(() => this.#rest(), REST_MS).unref();
  }

  /** Nobody has appended for a while: what stands unsigned is signed, where that shows nobody. */
  #rest(): void {
    this.#restTimer = null;
    if (!this.#draining) this.#draining = this.sealEnd("batch").then(() => this.#drain());
  }

  /** As many as fit into one write, at least one; a checkpoint begins or ends one (sealing.ts). */
  #takeGroup(): Waiting[] {
    const { sealing } = this.#scribe;
    let length = 0;
    let count = 0;
    const beginsTurn = sealing?.turnsAhead() ?? (() => false);
    for (const { lines, lineBytes } of this.#waiting) {
      length += lineBytes;
      const [isFirstOfTurn = false] = lines.map(({ whole }) => beginsTurn(whole));
      const last = lines.at(-1)?.whole;
      if (count > 0 && length > LOG_LIMITS.batchBytesMax - RESERVED_BYTES) break;
      if (count > 0 && isFirstOfTurn) break;
      count++;
      if (last && sealing?.endsSession(last)) break;
    }
    const taken = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return taken;
  }

  /** Writes what is too long for lines (spill-files.ts, SF1); whom the disk refuses is told so. */
  async #spill(taken: readonly Waiting[]): Promise<readonly Waiting[]> {
    if (taken.every(({ lines }) => spillsOf(lines).length === 0)) return taken;
    const group: Waiting[] = [];
    for (const waiting of taken) {
      try {
        const spills = spillsOf(waiting.lines);
        if (spills.length > 0) await this.#inDirectory((at) => writeSpills(at, spills));
        group.push(waiting);
      } catch (error) {
        waiting.reject(error);
      }
    }
    return group;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const ends: number[] = [];
    const add = (draft: Draft) => {
      for (const { lines } of group) {
        let end = 0;
        for (const line of lines) end = draft.add(line);
        ends.push(end);
      }
    };
    try {
      const { sealing } = this.#scribe;
      const start = sealing
        ? await this.#appendSealed(sealing, group, add)
        : await this.#appendBare(add);
      for (const [n, { resolve }] of group.entries()) resolve(toByteOffset(start + (ends[n] ?? 0)));
    } catch (error) {
      const spills = group.flatMap(({ lines }) => spillsOf(lines));
      if (spills.length > 0 && standsNowhere(error)) await this.#removeSpills(spills);
      for (const { reject } of group) reject(error);
    }
  }

  async #appendBare(add: (draft: Draft) => void): Promise<number> {
    let draft: Draft | null = null;
    const start = await this.#writer.appendComposed(() => {
      draft = this.#scribe.draft();
      add(draft);
      return draft.lines;
    });
    (draft as Draft | null)?.commit(this.#writer.end);
    return start;
  }

  /** With the checkpoints that are due before, after and at the end of the session. */
  async #appendSealed(
    sealing: Sealing,
    group: readonly Waiting[],
    add: (draft: Draft) => void,
  ): Promise<number> {
    const first = group[0]?.lines[0]?.whole;
    const last = group.at(-1)?.lines.at(-1)?.whole;
    const before = () => sealing.dueBefore(first);
    if (sealing.isSidecar) await this.#sealApart(sealing, before);
    const compose = async (draft: Draft, sync: Sync) => {
      const due = sealing.isSidecar ? null : before();
      if (due) {
        await sync(); // sealing.ts, SL1
        await draft.seal(due);
      }
      add(draft);
    };
    const start = await this.#seal(sealing, compose, () => sealing.dueAfter());
    if (last && sealing.endsSession(last)) await this.sealEnd("final");
    return start;
  }

  /** Signs what stands unsigned, when the session ends. */
  async sealEnd(kind: "final" | "batch"): Promise<void> {
    const { sealing } = this.#scribe;
    if (this.#restTimer) clearTimeout(this.#restTimer);
    this.#restTimer = null;
    if (!sealing) return;
    await this.#sealApart(sealing, () => sealing.dueAtEnd(kind));
  }

  /**
   * A checkpoint by itself, when one is due, durable before it is remembered. That it fails is told
   * and fails nobody: the lines are there, and the next checkpoint covers them.
   */
  async #sealApart(sealing: Sealing, dueNow: () => Due | null): Promise<void> {
    try {
      if (dueNow()) {
        await this.#seal(sealing, async (draft, sync) => {
          const due = dueNow(); // Others may have appended, and signed, before we got the lock.
          if (!due) return;
          await sync();
          await draft.seal(due);
        });
      }
      if (!sealing.hasUnpinned) return;
      await this.#writer.flush();
      sealing.durable();
    } catch (error) {
      sealing.warn(error);
    }
  }

  /** Adds the checkpoints that somebody asks for, who may look at the log first: it is locked. */
  async sealNow(choose: (sealing: Sealing) => Promise<readonly Due[]>): Promise<void> {
    const { sealing } = this.#scribe;
    assert(sealing, "only a signed session has checkpoints");
    await this.#seal(sealing, async (draft, sync) => {
      const dues = await choose(sealing);
      if (dues.length > 0) await sync();
      for (const due of dues) await draft.seal(due);
    });
    await this.#writer.flush();
    sealing.durable();
  }

  /** One write, composed with the lock held; and the checkpoint that is due after it. */
  async #seal(
    sealing: Sealing,
    compose: (draft: Draft, sync: Sync) => Promise<void>,
    dueAfter: () => Due | null = () => null,
  ): Promise<number> {
    let draft: Draft | null = null;
    const start = await this.#writer.appendComposed(() => draft?.lines ?? NOTHING, {
      beforehand: async (sync) => {
        await sealing.settle(sync, () => this.#writer.end);
        const composed = this.#scribe.draft();
        await compose(composed, async () => {
          await sync();
          sealing.durable();
        });
        const { beside } = composed;
        if (beside.length > 0) await sealing.writeBeside(beside); // With it go no lines.
        draft = composed;
      },
      afterwards: async (sync, append) => {
        draft?.commit(this.#writer.end);
        await this.#sealAfter(sealing, dueAfter, sync, append);
        await this.#onSealed?.();
      },
    });
    if (this.#isDurable) sealing.durable();
    return start;
  }

  /**
   * The checkpoint over lines that were just written, with the lock still held. Not in their write:
   * of one write a power cut may leave the end and take the beginning, and then an honest checkpoint
   * stood after bytes that it does not sign. That it fails is told, as above.
   */
  async #sealAfter(
    sealing: Sealing,
    dueNow: () => Due | null,
    sync: Sync,
    append: AppendMore,
  ): Promise<void> {
    try {
      const due = dueNow();
      if (!due) return;
      await sync(); // sealing.ts, SL1
      sealing.durable();
      const draft = this.#scribe.draft();
      await draft.seal(due);
      if (sealing.isSidecar) await sealing.writeBeside(draft.beside);
      else await append(draft.lines);
      draft.commit(this.#writer.end);
    } catch (error) {
      sealing.warn(error);
    }
  }

  async #removeSpills(spills: readonly SpillFile[]): Promise<void> {
    try {
      await this.#inDirectory(async (at) => removeSpills(at, spills));
    } catch {
      // They are left; nothing refers to them. Why the append failed is told by the caller.
    }
  }

  async #inDirectory(work: (directory: Directory) => Promise<void>): Promise<void> {
    const directory = await this.#openDirectory();
    try {
      await work(directory);
    } finally {
      directory.close();
    }
  }
}

/**
 * Whether an append that was refused has left nothing in the log. After a failed sync nobody knows:
 * the line may be there when the log is opened again, and must find its files.
 */
function standsNowhere(error: unknown): boolean {
  return error instanceof VerbatimError && NOTHING_WRITTEN.includes(error.code);
}

function spillsOf(lines: readonly Prepared[]): readonly SpillFile[] {
  return lines.flatMap(({ spills }) => spills);
}

function spillBytes(lines: readonly Prepared[]): number {
  return spillsOf(lines).reduce((sum, { bytes }) => sum + bytes.length, 0);
}
