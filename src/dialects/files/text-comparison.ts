/**
 * Text comparison: whether a file holds exactly a text that comes piece by piece, in constant
 * memory however long both are.
 */

import type { OpenFile } from "../../base/files.ts";

/** How much text is compared at once. */
const COMPARED_CHARS = 64 * 1024;

export class TextComparison {
  readonly #file: OpenFile;
  #pending = "";
  #at = 0;
  #differsAt: number | null = null;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  /** Whether what follows can still matter. */
  get hasDiffered(): boolean {
    return this.#differsAt !== null;
  }

  /** The next piece of the text; a promise when it is compared now and not later. */
  add(text: string): Promise<void> | undefined {
    if (this.hasDiffered) return undefined;
    this.#pending += text;
    return this.#pending.length >= COMPARED_CHARS ? this.#compare() : undefined;
  }

  /** Up to which byte the file is the text; null when it is all of it and nothing more. */
  async differsAt(): Promise<number | null> {
    if (this.#pending !== "") await this.#compare();
    const size = this.#file.size();
    if (this.#differsAt === null && size > this.#at) this.#differsAt = this.#at;
    return this.#differsAt;
  }

  async #compare(): Promise<void> {
    const expected = Buffer.from(this.#pending);
    this.#pending = "";
    const found = Buffer.alloc(expected.length);
    const count = await this.#file.read(found, this.#at);
    if (count === expected.length && found.equals(expected)) {
      this.#at += expected.length;
      return;
    }
    let same = 0;
    while (same < count && found[same] === expected[same]) same++;
    this.#differsAt = this.#at + same;
  }
}
