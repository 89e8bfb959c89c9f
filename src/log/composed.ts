/**
 * Composed: lines that are built with the lock held, right before they are written.
 *
 * For lines that depend on the log before them: a chain of ids, a signature over everything before.
 * Takes the place of a batch in the writer's queue, and is never merged with one.
 */

import type { ByteOffset } from "../base/offset.ts";

/** Returns whole lines, each with its LF, to be written at `end`; may return none. */
export type Compose = (end: ByteOffset) => Uint8Array;

/** Makes the whole log durable, also with `os`. */
export type Sync = () => Promise<void>;

/**
 * Builds the lines that end an append, after its first lines are written. They are written once
 * those are durable (`durable`), also with `os`. If it throws, the append is refused and its lines
 * are cut off; an `Unsettled` ends the writer instead.
 */
export type More = (durable: Promise<void>) => Promise<Uint8Array>;

/** It is unknown whether the lines were written, and no further write can tell. */
export class Unsettled {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/** Steps around the write, with the lock held. */
export interface Around {
  /** Before composing, for work that takes time. */
  readonly beforehand?: (sync: Sync) => Promise<void>;
  /** Called when the lines are composed; null when nothing follows them. */
  readonly more?: () => More | null;
  /** After the write; with `disk` during the sync. Synchronous; never throws. */
  readonly meanwhile?: () => void;
  /** Once the lines are as durable as the log's setting. */
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
  /** What the composer threw: the caller's error, not the disk's. */
  #refusal: { readonly error: unknown } | null = null;
  #resolve!: (start: ByteOffset) => void;
  #reject!: (error: unknown) => void;

  /** `check` refuses lines that may not be written. */
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

  /** Runs `beforehand`; its failure is the caller's. */
  async prepare(sync: Sync): Promise<void> {
    try {
      await this.around?.beforehand?.(sync);
    } catch (error) {
      this.#refusal = { error };
      throw error;
    }
  }

  /** Builds the lines, now that their offset is known. */
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

  /** A step of the caller's own append failed: the error is the caller's. */
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
