/**
 * Server-Sent Events as the HTML standard has a client read them, independent of the server's code.
 */

export interface ServerSentEvent {
  readonly type: string;
  readonly data: string;
}

/** Takes bytes as they arrive; `events` are those that a blank line has ended. */
export class EventParser {
  readonly events: ServerSentEvent[] = [];
  readonly #decoder = new TextDecoder();
  #rest = "";
  #type = "";
  #data: string[] = [];

  take(bytes: Uint8Array): void {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    // The last line may be incomplete, and a CR at the end may be the first half of a CRLF.
    const lines = text.split(/\r\n|\r(?!$)|\n/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (line === "") {
      const type = this.#type || "message";
      if (this.#data.length > 0) this.events.push({ type, data: this.#data.join("\n") });
      this.#type = "";
      this.#data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#type = value;
    if (field === "data") this.#data.push(value);
  }
}

/** The events of a complete stream. */
export function parseEvents(bytes: Uint8Array): ServerSentEvent[] {
  const parser = new EventParser();
  parser.take(bytes);
  return parser.events;
}
