/**
 * Markdown file: a text that grows as its log grows, and is mended from it.
 *
 * Its owner holds the log's lock. Knows nothing of what the text says: the owner renders.
 *
 * M1  The file is the rendering of the log's lines up to some end, nothing else. Whatever
 *     does not match is cut at the first difference and written again.
 */

import type { Directory, OpenFile } from "../base/files.ts";

export class MarkdownFile {
  readonly #file: OpenFile;
  #size: number;

  private constructor(file: OpenFile, size: number) {
    this.#file = file;
    this.#size = size;
  }

  static open(directory: Directory, name: string): MarkdownFile {
    const file = directory.open(name, "append");
    return new MarkdownFile(file, file.size());
  }

  /** Up to where the text is known to be right. */
  get size(): number {
    return this.#size;
  }

  append(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#file.write(bytes) !== bytes.length) throw new Error("the disk is full");
    this.#size += bytes.length;
  }

  /** Makes the text after `from` what `chunks` say, writing only what differs (M1). */
  async mend(from: number, chunks: AsyncIterable<string>): Promise<void> {
    this.#size = Math.min(from, this.#file.size());
    let isSame = this.#size === from;
    for await (const chunk of chunks) {
      if (isSame && (await this.#holds(chunk))) {
        this.#size += Buffer.byteLength(chunk);
        continue;
      }
      if (isSame) this.#file.truncate(this.#size);
      isSame = false;
      this.append(chunk);
    }
    if (this.#file.size() > this.#size) this.#file.truncate(this.#size);
  }

  /** Whether the file ends in this text. */
  async endsWith(text: string): Promise<boolean> {
    const bytes = Buffer.from(text);
    const size = this.#file.size();
    if (size < bytes.length) return false;
    const found = Buffer.alloc(bytes.length);
    await this.#file.read(found, size - bytes.length);
    if (!found.equals(bytes)) return false;
    this.#size = size;
    return true;
  }

  close(): void {
    this.#file.close();
  }

  async #holds(chunk: string): Promise<boolean> {
    const bytes = Buffer.from(chunk);
    const found = Buffer.alloc(bytes.length);
    const count = await this.#file.read(found, this.#size);
    return count === bytes.length && found.equals(bytes);
  }
}
