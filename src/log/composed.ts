/**
 * Composed: lines that get their last shape with the lock held, right before they are written.
 *
 * For whoever must know what stands before its lines: a chain of ids, a signature over all that
 * came before. Takes the place of a batch in the writer's queue, and is never merged with one.
 */

import type { ByteOffset } from "../base/offset.ts";

/** Whole lines, each with its LF, that are to stand at `end`; none when there is nothing to say. */
export type Compose = (end: ByteOffset) => Uint8Array;

/** Makes everything that stands in the log durable, also with `os`. */
export type Sync = () => Promise<void>;

/**
 * Makes whole lines that end an append, over lines of it that are written: they are written when
 * those are durable (`durable`), which is so also with `os`. When it throws, the append is refused
 * and nothing of it stays in the log; an `Unsettled` ends the writer instead.
 */
export type More = (durable: Promise<void>) => Promise<Uint8Array>;

/** What follows the lines may be there or not, and no write can find out. */
export class Unsettled {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/** What is done around the write, with the lock held. */
export interface Around {
  /** Before the lines are composed: what they say of the log may take its time to make. */
  readonly beforehand?: (sync: Sync) => Promise<void>;
  /** Asked when the lines are composed; null when nothing is to follow them. */
  readonly more?: () => More | null;
  /** When the lines stand, with `disk` while they are made durable. Synchronous; never throws. */
  readonly meanwhile?: () => void;
  /** Once the lines are as safe as the log's durability says. */
  readonly afterwards?: (sync: Sync) => Promise<void>;
}

const NOTHING = new Uint8Array(0);

export class Composed {
  /** Where the lines start. */
  readonly start: Promise<ByteOffset>;
  readonly around: Around | null;
  readonly #compose: Compose;
  readonly #check: (lines: Uint8Array) => void;
  #bytes: Uint8Array = NOTHING;
  /** What the composer itself threw: its caller's own error, and none of the disk's. */
  #refusal: { readonly error: unknown } | null = null;
  #resolve!: (start: ByteOffset) => void;
  #reject!: (error: unknown) => void;

  /** `check` refuses what may not be written. */
  constructor(compose: Compose, check: (lines: Uint8Array) => void, around: Around | null = null) {
    this.#compose = compose;
    this.#check = check;
    this.around = around;
    this.start = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** Runs what comes before composing; its failure is the caller's own. */
  async prepare(sync: Sync): Promise<void> {
    try {
      await this.around?.beforehand?.(sync);
    } catch (error) {
      this.#refusal = { error };
      throw error;
    }
  }

  /** Gives the lines their last shape, now that they are to stand at `end`. */
  composeAt(end: ByteOffset): void {
    try {
      const lines = this.#compose(end);
      if (lines.length > 0) this.#check(lines);
      this.#bytes = lines;
    } catch (error) {
      this.#refusal = { error };
      throw error;
    }
  }

  /** What the caller made of its own append failed: the error is its own. */
  refuse(error: unknown): void {
    this.#refusal = { error };
  }

  resolve(start: ByteOffset): void {
    this.#resolve(start);
  }

  reject(error: unknown): void {
    this.#reject(this.#refusal ? this.#refusal.error : error);
  }
}
