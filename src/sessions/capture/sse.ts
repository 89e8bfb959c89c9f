/**
 * SSE: bytes in any chunks to the `data` of server-sent events. A library parses the grammar.
 *
 * Bytes that are not UTF-8 become replacement characters, as the SSE standard says and every client
 * does. Chunk boundaries never change the result; only size is refused here.
 */

import { createParser } from "eventsource-parser";
import { type Provider, VerbatimError } from "../../core/base/errors.ts";

/** Room for field names around an event of the largest size. */
const FIELD_CHARS = 1024;

export class SseReader {
  readonly #provider: Provider;
  readonly #charsMax: number;
  readonly #decoder = new TextDecoder();
  #waiting: string[] = [];
  #nextAt = 0;
  readonly #parser;
  #isTooLarge = false;
  #isAtStart = true;
  #endsInCr = false;

  constructor(provider: Provider, charsMax: number) {
    this.#provider = provider;
    this.#charsMax = charsMax;
    this.#parser = createParser({
      maxBufferSize: charsMax + FIELD_CHARS,
      onEvent: ({ data }) => this.#waiting.push(data),
      onError: ({ type }) => {
        // The other errors are fields that the standard says to ignore.
        if (type === "max-buffer-size-exceeded") this.#isTooLarge = true;
      },
    });
  }

  feed(chunk: Uint8Array | string): void {
    if (this.#isTooLarge) return;
    const text = typeof chunk === "string" ? chunk : this.#decoder.decode(chunk, { stream: true });
    if (text === "") return;
    this.#endsInCr = text.endsWith("\r");
    // Decoding removes a byte order mark; text that was decoded elsewhere may still have it.
    this.#parser.feed(this.#isAtStart && text.startsWith("\ufeff") ? text.slice(1) : text);
    this.#isAtStart = false;
  }

  /** No more bytes come: a CR at the very end ends its line, which the parser could not know. */
  end(): void {
    if (this.#endsInCr) this.feed("\n");
    this.#endsInCr = false;
  }

  /** The next event's data; undefined when more bytes are needed. Events come before refusals. */
  next(): string | undefined {
    const data = this.#waiting[this.#nextAt++];
    if (data === undefined) {
      this.#waiting = [];
      this.#nextAt = 0;
    }
    if (data === undefined && this.#isTooLarge) throw this.#tooLarge();
    if (data !== undefined && data.length > this.#charsMax) throw this.#tooLarge();
    return data;
  }

  #tooLarge(): VerbatimError {
    const max = this.#charsMax;
    return new VerbatimError(
      "STREAM_TOO_LARGE",
      `an event of ${this.#provider} is over ${max} characters; what came before is kept as partial`,
      { provider: this.#provider, what: "event", max },
    );
  }
}
