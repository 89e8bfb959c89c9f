/**
 * Markdown file: a text that grows with its log, and is mended from it.
 *
 * Its owner holds the log's lock and renders the text; this file does not interpret it.
 *
 * The file is exactly the rendering of the log's lines up to some end. Text that differs is cut at
 * the first difference and written again. If the text is not just cut short but different or
 * longer, it may be a person's: the owner decides first, and may keep it.
 */

import type { Directory, OpenFile } from "../../../core/base/files.ts";

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

  /** End of the text that is known to be right. */
  get size(): number {
    return this.#size;
  }

  append(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#file.write(bytes) !== bytes.length) throw new Error("the disk is full");
    this.#size += bytes.length;
  }

  /** Makes the text after `from` equal to `chunks`, and writes only what differs. */
  async mend(
    from: number,
    chunks: AsyncIterable<string>,
    mayReplace: () => Promise<boolean>,
  ): Promise<void> {
    this.#size = Math.min(from, this.#file.size());
    // Shorter than the text that was known to be right: another program replaced it.
    if (this.#size < from && !(await mayReplace())) return;
    let isSame = true;
    for await (const chunk of chunks) {
      if (isSame && (await this.#holds(chunk))) {
        this.#size += Buffer.byteLength(chunk);
        continue;
      }
      if (isSame && !(await this.#isCutShort(chunk)) && !(await mayReplace())) return this.#keep();
      if (isSame) this.#file.truncate(this.#size);
      isSame = false;
      this.append(chunk);
    }
    if (!isSame || this.#file.size() === this.#size) return;
    if (!(await mayReplace())) return this.#keep();
    this.#file.truncate(this.#size);
  }

  /** Takes the whole text for right: the next event is added at its end. */
  #keep(): void {
    this.#size = this.#file.size();
  }

  /** Whether the file ends with this text. */
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

  /** The first bytes of the file. */
  async beginning(bytes: number): Promise<string> {
    const found = Buffer.alloc(bytes);
    return found.toString("utf8", 0, await this.#file.read(found, 0));
  }

  /** Whether the file is exactly this text. */
  async is(chunks: AsyncIterable<string>): Promise<boolean> {
    let at = 0;
    for await (const chunk of chunks) {
      if (!(await this.#holds(chunk, at))) return false;
      at += Buffer.byteLength(chunk);
    }
    return at === this.#file.size();
  }

  close(): void {
    this.#file.close();
  }

  async #holds(chunk: string, at = this.#size): Promise<boolean> {
    const bytes = Buffer.from(chunk);
    const found = Buffer.alloc(bytes.length);
    const count = await this.#file.read(found, at);
    return count === bytes.length && found.equals(bytes);
  }

  /** Whether the file ends within the chunk and is equal up to there, as after a crash. */
  async #isCutShort(chunk: string): Promise<boolean> {
    const rest = this.#file.size() - this.#size;
    const bytes = Buffer.from(chunk);
    if (rest >= bytes.length) return false;
    const found = Buffer.alloc(rest);
    const count = await this.#file.read(found, this.#size);
    return count === rest && found.equals(bytes.subarray(0, rest));
  }
}
