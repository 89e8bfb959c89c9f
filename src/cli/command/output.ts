/**
 * Output: prints many short texts in few writes, because a write costs more than the text; prints
 * whole documents, or writes them to a file; and values as lines of JSON.
 */

import { jsonText, safeText } from "../../sessions/render/text.ts";
import type { Io } from "./command.ts";

const CHUNK_CHARS = 64 * 1024;

export class ChunkedOutput {
  readonly #io: Io;
  #text = "";

  constructor(io: Io) {
    this.#io = io;
  }

  /** Prints the text, now or together with later ones. */
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

export interface DocumentTarget {
  readonly io: Io;
  /** Undefined prints the document. */
  readonly file: string | undefined;
  /** The logs of the document, which are never overwritten. */
  readonly logPaths: readonly string[];
  /** Formats a piece for printing. */
  readonly shown?: (piece: string) => string;
}

export async function giveDocument(
  pieces: AsyncIterable<string> | readonly string[],
  { io, file, logPaths, shown = (piece) => piece }: DocumentTarget,
): Promise<void> {
  if (file !== undefined) {
    const { writeOutput } = await import("./output-file.ts");
    return writeOutput(file, pieces, logPaths);
  }
  const printed = new ChunkedOutput(io);
  try {
    for await (const piece of pieces) await printed.add(shown(piece));
  } finally {
    await printed.flush(); // Also if reading fails: print the pieces before that.
  }
}

export function jsonLine(value: unknown): string {
  return `${safeText(jsonText(value))}\n`;
}
