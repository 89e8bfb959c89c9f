/**
 * Sealed appends: the writes of a signed session: lines, and the checkpoints before, between and
 * after them. Which are due is `sealing.ts`, what shares a write `composed-appends.ts`.
 *
 *   [checkpoint] lines ──> written ──> synced ──> [checkpoint after them, synced] ──> acknowledged
 *                             └ meanwhile hashed; the coming checkpoint made, where one can tell
 *
 * One write at a time: its caller waits for it.
 */

import { callersHaveRun } from "../base/in-flight.ts";
import { toByteOffset } from "../base/offset.ts";
import type { Beside } from "../dialects/files/beside.ts";
import { type More, type Sync, Unsettled } from "../log/composed.ts";
import type { LogWriter } from "../log/writer.ts";
import type { TurnMark } from "../model/turns.ts";
import type { Due, Sealing } from "../signing/writing/sealing.ts";
import type { Head } from "../signing/writing/signer-state.ts";
import type { Draft, Prepared, Scribe } from "./scribe.ts";

const NOTHING = new Uint8Array(0);

export interface SealedParts {
  /** What the log acknowledges is on the disk. */
  readonly isDurable: boolean;
  /** What was written stands, and the lock is still held (beside.ts). */
  readonly onSealed?: Beside["sealed"];
}

export class SealedAppends {
  readonly #writer: LogWriter;
  readonly #scribe: Scribe;
  readonly #sealing: Sealing;
  readonly #parts: SealedParts;

  constructor(writer: LogWriter, scribe: Scribe, sealing: Sealing, parts: SealedParts) {
    this.#writer = writer;
    this.#scribe = scribe;
    this.#sealing = sealing;
    this.#parts = parts;
  }

  /**
   * Appends lines, which `add` puts into the draft, with the checkpoints that are due before, after
   * and at the end of the session; resolves to where the draft starts.
   */
  async append(lines: readonly Prepared[], add: (draft: Draft) => void): Promise<number> {
    const sealing = this.#sealing;
    const marks = lines.map(({ mark }) => mark);
    const before = () => sealing.duesBefore(marks[0] ?? null);
    if (sealing.isSidecar) await (sealing.isBeginning ? this.#begin() : this.#sealApart(before));
    const compose = async (draft: Draft, sync: Sync) => {
      const dues = sealing.isSidecar ? [] : before();
      if (dues.length > 0) await sync(); // sealing.ts, SL1
      for (const due of dues) await draft.seal(due);
      add(draft);
    };
    const ends = marks.at(-1) === "ends";
    const start = await (sealing.isCalm(marks)
      ? this.#appendCalmly(add, ends)
      : this.#seal(compose, (added) => sealing.dueAfter(added)));
    if (ends) await this.sealEnd("final");
    return start;
  }

  /** Beside a log the genesis is durable before the first line is written (sealing.ts, SL4). */
  async #begin(): Promise<void> {
    await this.#seal(async (draft, sync) => {
      if (!this.#sealing.isBeginning) return; // Others may have begun before we got the lock.
      await sync();
      await draft.seal("batch");
    });
    this.#sealing.durable();
  }

  /** Lines alone, as nearly all are: there is nothing to be made before them, or after. */
  #appendCalmly(add: (draft: Draft) => void, ends: boolean): Promise<number> {
    let draft: Draft | null = null;
    let end = 0;
    const composeAt = (at: number) => {
      draft = this.#scribe.draft();
      add(draft);
      end = at + draft.length;
      return draft.lines;
    };
    return this.#writer.appendComposed(composeAt, {
      meanwhile: () => draft?.commit(toByteOffset(end)),
      afterwards: async (sync) =>
        this.#parts.onSealed?.(sync, ends ? () => this.#scribe.foreseeEnd() : undefined),
    });
  }

  /** Signs what stands unsigned, when the session ends. */
  async sealEnd(kind: "final" | "batch"): Promise<void> {
    await this.#sealApart(() => this.#sealing.duesAtEnd(kind));
  }

  /**
   * Checkpoints by themselves, when some are due, durable before they are remembered. A failure is
   * reported and fails no append: the lines are there, and the next checkpoint covers them.
   */
  async #sealApart(duesNow: () => readonly Due[]): Promise<void> {
    const sealing = this.#sealing;
    try {
      if (duesNow().length > 0) {
        await this.#seal(async (draft, sync) => {
          const dues = duesNow(); // Others may have appended, and signed, before we got the lock.
          if (dues.length > 0) await sync();
          for (const due of dues) await draft.seal(due);
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
    await this.#seal(async (draft, sync) => {
      const dues = await choose(this.#sealing);
      if (dues.length > 0) await sync();
      for (const due of dues) await draft.seal(due);
      // After what a person vouches for: that is stated first (sealing.ts, duesBefore).
      if (dues.length > 0 && this.#sealing.mustRotate) await draft.seal("rotate");
    });
    await this.#writer.flush();
    this.#sealing.durable();
  }

  /** One append, composed with the lock held, and the checkpoint that is due at its end. */
  async #seal(
    compose: (draft: Draft, sync: Sync) => Promise<void>,
    dueAfter: (marks: readonly TurnMark[]) => Due | null = () => null,
  ): Promise<number> {
    const sealing = this.#sealing;
    let draft: Draft | null = null;
    let after: Due | null = null;
    let at = 0;
    let begins = false;
    const composeAt = (standing: number) => {
      at = standing;
      return draft?.lines ?? NOTHING;
    };
    const start = await this.#writer.appendComposed(composeAt, {
      beforehand: async (sync) => {
        if (sealing.isSidecar) await sealing.settle(sync, () => this.#writer.end);
        if (this.#scribe.writesOnce) await this.#scribe.learn();
        const composed = this.#scribe.draft();
        await compose(composed, async () => {
          await sync();
          sealing.durable();
        });
        const { beside, added } = composed;
        if (beside.length > 0) await sealing.writeBeside(beside); // With it go no lines.
        // Where all lines stood already, nothing is new to be signed.
        after = added.length > 0 ? dueAfter(added.map(({ mark }) => mark)) : null;
        begins = sealing.isBeginning;
        draft = composed;
      },
      more: () => (draft && after ? this.#checkpointAfter(draft, after) : null),
      meanwhile: () => draft?.commit(toByteOffset(at + draft.length)),
      afterwards: async (sync) => {
        if (begins) await sync(); // Also with `os` (sealing.ts, SL4).
        await this.#parts.onSealed?.(sync);
      },
    });
    if (this.#parts.isDurable) this.#pinSoon(sealing.head);
    return start;
  }

  /** Once the caller has gone on: its next lines are on their way to the disk then. */
  #pinSoon(head: Head | null): void {
    void callersHaveRun().then(() => this.#sealing.durable(head));
  }

  /**
   * The checkpoint that ends an append, made while the disk is at work on the lines. Not in their
   * write: of one write a power cut may leave the end and take the beginning, and then an honest
   * checkpoint stood after bytes that it does not sign. Where it cannot be written, the append is
   * refused and its lines are taken back (sealing.ts, SL4).
   */
  #checkpointAfter(draft: Draft, due: Due): More {
    const sealing = this.#sealing;
    return async (durable) => {
      const [made] = await Promise.allSettled([draft.seal(due), durable]);
      await durable; // sealing.ts, SL1
      if (made.status === "rejected") throw made.reason;
      if (!sealing.isSidecar) return made.value;
      try {
        await sealing.writeBeside(draft.beside);
      } catch (error) {
        throw sealing.isUnsettled ? new Unsettled(error) : error;
      }
      return NOTHING;
    };
  }
}
