/** Text comparison: compares a file with a text that comes in pieces, in constant memory. */

import type { OpenFile } from "../../base/files.ts";

/** Characters compared at once. */
const COMPARED_CHARS = 64 * 1024;

export class TextComparison {
  readonly #file: OpenFile;
  #pending = "";
  #at = 0;
  #differsAt: number | null = null;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  /** Whether a difference was found, so the rest no longer matters. */
  get hasDiffered(): boolean {
    return this.#differsAt !== null;
  }

  /** Adds the next piece; returns a promise if it compares now. */
  add(text: string): Promise<void> | undefined {
    if (this.hasDiffered) return undefined;
    this.#pending += text;
    return this.#pending.length >= COMPARED_CHARS ? this.#compare() : undefined;
  }

  /** Offset of the first difference; null if the file is exactly the text. */
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
