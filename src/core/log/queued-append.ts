/**
 * Queued append: an append in the writer's queue whose lines are built with the lock held, by the log's
 * companion; or any other work in the order of the appends.
 */

import type { ByteOffset } from "../base/offset.ts";
import type { Turn } from "./turn.ts";

export class Waiting<T = unknown> {
  /** What the companion makes lines of. */
  readonly content: T;
  /** What it holds in memory, counted against the queue's limit. */
  readonly bytes: number;
  /** Instead of the companion's `append`; null: the companion's. */
  readonly work: ((turn: Turn) => Promise<void>) | null;
  /** The offset after its lines; set before it is resolved. */
  end = 0 as ByteOffset;
  readonly done: Promise<ByteOffset>;
  #resolve!: (end: ByteOffset) => void;
  #reject!: (error: unknown) => void;

  constructor(content: T, bytes: number, work: Waiting["work"] = null) {
    this.content = content;
    this.bytes = bytes;
    this.work = work;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(): void {
    this.#resolve(this.end);
  }

  /** Also by the companion, for one among others: what follows does not change that. */
  reject(error: unknown): void {
    this.#reject(error);
  }
}
