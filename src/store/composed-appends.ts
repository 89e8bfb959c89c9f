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

import { assert, type ErrorCode, VerbatimError } from "../base/errors.ts";
import type { Directory } from "../base/files.ts";
import { callersHaveRun } from "../base/in-flight.ts";
import { LOG_LIMITS } from "../base/limits.ts";
import { type ByteOffset, toByteOffset } from "../base/offset.ts";
import type { Native, SpillFile } from "../dialects/dialect.ts";
import { removeSpills, writeSpills } from "../dialects/files/spill-files.ts";
import { queueFull } from "../log/admission.ts";
import { checkLine } from "../log/framing.ts";
import type { LogWriter } from "../log/writer.ts";
import type { Due, Sealing } from "../signing/writing/sealing.ts";
import type { Draft, Prepared, Scribe } from "./scribe.ts";
import { SealedAppends, type SealedParts } from "./sealed-appends.ts";

/** Room in a write for lines that grow when they are linked, and for lines that are put in. */
const RESERVED_BYTES = 64 * 1024;
/** What lines of one write may have together. One alone may have more. */
export const WRITE_BYTES_MAX = LOG_LIMITS.batchBytesMax - RESERVED_BYTES;

/** After so long without an append a session whose checkpoints lie beside it is signed. */
const REST_MS = 1000;

const nobody = () => {};

/** Refusals after which the log is as it was. */
const NOTHING_WRITTEN: readonly ErrorCode[] = ["NO_SPACE", "LOG_LOCKED", "LOG_CLOSED"];

interface Waiting {
  readonly lines: readonly Prepared[];
  readonly lineBytes: number;
  readonly spills: readonly SpillFile[];
  /** What it holds in memory, spill files included. */
  readonly bytes: number;
  readonly resolve: (end: ByteOffset) => void;
  readonly reject: (error: unknown) => void;
}

export interface ComposedParts extends SealedParts {
  /** Where spill files go. Asked for when the first one comes. */
  readonly openDirectory: () => Promise<Directory>;
}

export class ComposedAppends {
  readonly #writer: LogWriter;
  readonly #scribe: Scribe;
  /** Null when the session is not signed. */
  readonly #sealed: SealedAppends | null;
  readonly #openDirectory: () => Promise<Directory>;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #draining: Promise<void> | null = null;
  /** There was one in the last group. */
  #isAlone = true;
  #restTimer: NodeJS.Timeout | null = null;

  constructor(writer: LogWriter, scribe: Scribe, parts: ComposedParts) {
    this.#writer = writer;
    this.#scribe = scribe;
    this.#openDirectory = parts.openDirectory;
    const { sealing } = scribe;
    this.#sealed = sealing && new SealedAppends(writer, scribe, sealing, parts);
  }

  /** Appends completed entries, all of them or none; resolves to the offset after the last. */
  append(natives: readonly Native[]): Promise<ByteOffset> {
    try {
      const lines = natives.map((native) => this.#scribe.prepare(native));
      for (const { line } of lines) checkLine(this.#writer.path, line, LOG_LIMITS);
      const lineBytes = lines.reduce((sum, { line }) => sum + line.length + 1, 0);
      const spills = lines.flatMap((line) => line.spills);
      const bytes = spills.reduce((sum, file) => sum + file.bytes.length, lineBytes);
      const { queueBytesMax } = LOG_LIMITS;
      // One alone is taken however much is to be spilled: there is nothing to wait for.
      if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > queueBytesMax) {
        throw queueFull(this.#writer.path, this.#waitingBytes, queueBytesMax);
      }
      return new Promise((resolve, reject) => {
        this.#waiting.push({ lines, lineBytes, spills, bytes, resolve, reject });
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
    // Whoever came alone the last time likely does again: there is nobody to wait for.
    if (!this.#isAlone) {
      await null; // Into a microtask, wherever `append` was called (see callersHaveRun).
      await callersHaveRun();
    }
    const hasWork = this.#waiting.length > 0;
    let tell = nobody;
    while (this.#waiting.length > 0) {
      const taken = this.#takeGroup();
      this.#isAlone = taken.length === 1;
      const group = taken.some(({ spills }) => spills.length > 0)
        ? await this.#spill(taken)
        : taken;
      tell = group.length > 0 ? await this.#commit(group) : nobody;
      for (const { bytes } of taken) this.#waitingBytes -= bytes;
      if (this.#waiting.length === 0) break;
      tell();
      await callersHaveRun(); // Those who were told may have more.
    }
    this.#draining = null;
    tell();
    if (hasWork && this.#scribe.sealing?.isSidecar) this.#restLater();
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
  #takeGroup(): readonly Waiting[] {
    const { sealing } = this.#scribe;
    // Where each append has a checkpoint of its own, none shares a write with another.
    if (this.#waiting.length === 1 || sealing?.isEveryAppend) return this.#waiting.splice(0, 1);
    let length = 0;
    let count = 0;
    const turns = sealing?.turnsAhead();
    for (const { lines, lineBytes } of this.#waiting) {
      length += lineBytes;
      const [isFirstOfTurn = false] = lines.map(({ mark }) => turns?.note(mark) ?? false);
      if (count > 0 && length > WRITE_BYTES_MAX) break;
      if (count > 0 && isFirstOfTurn) break;
      count++;
      if (lines.at(-1)?.mark === "ends") break;
    }
    const taken = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return taken;
  }

  /** Writes what is too long for lines (spill-files.ts, SF1); whom the disk refuses is told so. */
  async #spill(taken: readonly Waiting[]): Promise<readonly Waiting[]> {
    const group: Waiting[] = [];
    for (const waiting of taken) {
      const { spills } = waiting;
      try {
        if (spills.length > 0) await this.#inDirectory((at) => writeSpills(at, spills));
        group.push(waiting);
      } catch (error) {
        waiting.reject(error);
      }
    }
    return group;
  }

  /** Answers how to tell everybody in the group what came of it. */
  async #commit(group: readonly Waiting[]): Promise<() => void> {
    const ends: number[] = [];
    const add = (draft: Draft) => {
      for (const { lines } of group) {
        let end = 0;
        for (const line of lines) end = draft.add(line);
        ends.push(end);
      }
    };
    try {
      const lines = group.flatMap((waiting) => waiting.lines);
      const start = this.#sealed
        ? await this.#sealed.append(lines, add)
        : await this.#appendBare(add);
      return () => {
        for (const [n, { resolve }] of group.entries())
          resolve(toByteOffset(start + (ends[n] ?? 0)));
      };
    } catch (error) {
      const spills = group.flatMap((waiting) => waiting.spills);
      if (spills.length > 0 && standsNowhere(error)) await this.#removeSpills(spills);
      return () => {
        for (const { reject } of group) reject(error);
      };
    }
  }

  async #appendBare(add: (draft: Draft) => void): Promise<number> {
    let draft: Draft | null = null;
    const compose = () => {
      draft = this.#scribe.draft();
      add(draft);
      return draft.lines;
    };
    const scribe = this.#scribe;
    const start = await (scribe.writesOnce
      ? this.#writer.appendComposed(compose, { beforehand: () => scribe.learn() })
      : this.#writer.appendComposed(compose));
    (draft as Draft | null)?.commit(this.#writer.end);
    return start;
  }

  /** Signs what stands unsigned, when the session ends. */
  async sealEnd(kind: "final" | "batch"): Promise<void> {
    if (this.#restTimer) clearTimeout(this.#restTimer);
    this.#restTimer = null;
    await this.#sealed?.sealEnd(kind);
  }

  /** Resolves when the session's heads are remembered durably. Never rejects. */
  async pinned(): Promise<void> {
    await this.#scribe.sealing?.pinned();
  }

  /** Adds the checkpoints that somebody asks for, who may look at the log first: it is locked. */
  async sealNow(choose: (sealing: Sealing) => Promise<readonly Due[]>): Promise<void> {
    assert(this.#sealed, "only a signed session has checkpoints");
    await this.#sealed.sealNow(choose);
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
