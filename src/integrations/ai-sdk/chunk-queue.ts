/**
 * Chunk queue: appends chunks to a stream, in order; those that come during an append go together
 * in the next.
 *
 * - After a refusal or a failure nothing more is appended.
 */

import type { UIMessageChunk } from "ai";

/** Queue limit before `add` waits for the stream; a longer chunk goes alone. */
const WAITING_CHARS_MAX = 1024 * 1024;

export interface ChunkToKeep {
  readonly chunk: UIMessageChunk;
  /** Its length as JSON. */
  readonly chars: number;
}

export class ChunkQueue {
  readonly #append: (chunks: readonly UIMessageChunk[]) => Promise<boolean>;
  #waiting: UIMessageChunk[] = [];
  #chars = 0;
  #draining: Promise<void> | null = null;
  #isRefused = false;
  #failure: { readonly error: unknown } | null = null;

  /** `append` returns false when the stream accepts no more. */
  constructor(append: (chunks: readonly UIMessageChunk[]) => Promise<boolean>) {
    this.#append = append;
  }

  /**
   * Resolves when there is room for more: false when the stream accepts none. Throws its failure.
   */
  async add({ chunk, chars }: ChunkToKeep): Promise<boolean> {
    this.#waiting.push(chunk);
    this.#chars += chars;
    this.#draining ??= this.#drain();
    if (this.#chars >= WAITING_CHARS_MAX) await this.#draining;
    return this.#takesMore();
  }

  /** Resolves like `add`, when the queue is empty. */
  async settled(): Promise<boolean> {
    await this.#draining;
    return this.#takesMore();
  }

  #takesMore(): boolean {
    if (this.#failure) throw this.#failure.error;
    return !this.#isRefused;
  }

  async #drain(): Promise<void> {
    await null; // Chunks added in one tick go together.
    try {
      while (this.#waiting.length > 0 && !this.#isRefused) {
        const chunks = this.#waiting;
        [this.#waiting, this.#chars] = [[], 0];
        if (!(await this.#append(chunks))) this.#isRefused = true;
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#draining = null;
  }
}
