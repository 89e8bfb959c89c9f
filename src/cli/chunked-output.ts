/** Chunked output: many short texts in few writes, since a write for each costs more than the text. */

import type { Io } from "./command.ts";

const CHUNK_CHARS = 64 * 1024;

export class ChunkedOutput {
  readonly #io: Io;
  #text = "";

  constructor(io: Io) {
    this.#io = io;
  }

  /** Prints the text, now or with what follows. */
  async add(text: string): Promise<void> {
    this.#text += text;
    if (this.#text.length >= CHUNK_CHARS) await this.flush();
  }

  async flush(): Promise<void> {
    const text = this.#text;
    this.#text = "";
    if (text !== "") await this.#io.print(text);
  }
}
