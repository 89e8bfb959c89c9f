/**
 * Sealed appends: the writes of a signed session: lines, and the checkpoints before, between and
 * after them. Which are due is `sealing.ts`, what shares a write `composed-appends.ts`.
 *
 *   [checkpoint] lines ──> written ──> synced ──────────────> [checkpoint after them] ──> told
 *                             └ meanwhile hashed; the coming checkpoint made, where one can tell
 *
 * One write at a time: its caller waits for it.
 */

import { callersHaveRun } from "../base/callers.ts";
import { toByteOffset } from "../base/offset.ts";
import type { AppendMore, Sync } from "../log/composed.ts";
import type { LogWriter } from "../log/writer.ts";
import type { Head } from "../signing/checkpoint-draft.ts";
import type { Beside } from "./beside.ts";
import type { Draft, Prepared, Scribe } from "./scribe.ts";
import type { Due, Sealing } from "./sealing.ts";

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
    const before = () => sealing.dueBefore(lines[0]?.mark ?? null);
    if (sealing.isSidecar) await this.#sealApart(before);
    const compose = async (draft: Draft, sync: Sync) => {
      const due = sealing.isSidecar ? null : before();
      if (due) {
        await sync(); // sealing.ts, SL1
        await draft.seal(due);
      }
      add(draft);
    };
    const ends = lines.at(-1)?.mark === "ends";
    const start = await (sealing.isCalm(lines[0]?.mark ?? null)
      ? this.#appendCalmly(add, ends)
      : this.#seal(compose, () => sealing.dueAfter()));
    if (ends) await this.sealEnd("final");
    return start;
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
    await this.#sealApart(() => this.#sealing.dueAtEnd(kind));
  }

  /**
   * A checkpoint by itself, when one is due, durable before it is remembered. That it fails is told
   * and fails nobody: the lines are there, and the next checkpoint covers them.
   */
  async #sealApart(dueNow: () => Due | null): Promise<void> {
    const sealing = this.#sealing;
    try {
      if (dueNow()) {
        await this.#seal(async (draft, sync) => {
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
    await this.#seal(async (draft, sync) => {
      const dues = await choose(this.#sealing);
      if (dues.length > 0) await sync();
      for (const due of dues) await draft.seal(due);
    });
    await this.#writer.flush();
    this.#sealing.durable();
  }

  /** One write, composed with the lock held; and the checkpoint that is due after it. */
  async #seal(
    compose: (draft: Draft, sync: Sync) => Promise<void>,
    dueAfter: () => Due | null = () => null,
  ): Promise<number> {
    const sealing = this.#sealing;
    let draft: Draft | null = null;
    let at = 0;
    let end = 0;
    const composeAt = (standing: number) => {
      at = standing;
      end = at + (draft?.length ?? 0);
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
        const { beside } = composed;
        if (beside.length > 0) await sealing.writeBeside(beside); // With it go no lines.
        draft = composed;
      },
      meanwhile: () => draft?.commit(toByteOffset(end)),
      afterwards: async (sync, append) => {
        // Where all lines stood already, nothing is new to be signed.
        if (end > at) await this.#sealAfter(dueAfter, sync, append);
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
   * The checkpoint over lines that were just written, with the lock still held. Not in their write:
   * of one write a power cut may leave the end and take the beginning, and then an honest checkpoint
   * stood after bytes that it does not sign. That it fails is told, as above.
   */
  async #sealAfter(dueNow: () => Due | null, sync: Sync, append: AppendMore): Promise<void> {
    const sealing = this.#sealing;
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
}
