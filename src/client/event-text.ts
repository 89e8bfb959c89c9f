/**
 * Event text: parses Server-Sent Events from text in chunks, by the HTML standard.
 *
 * Not `eventsource-parser`: it drops a block with an id and no data, which moves the position to
 * resume from (docs/decisions/0014-libraries.md).
 */

export interface TextEvent {
  readonly type: string;
  readonly data: string;
}

export class EventText {
  #rest = "";
  #type = "";
  #data: string[] = [];
  #idGiven = "";
  #lastId = "";

  /** The last complete id, with an event or alone: where to resume. */
  get lastId(): string {
    return this.#lastId;
  }

  /** The events that this piece completes. */
  take(text: string): TextEvent[] {
    const events: TextEvent[] = [];
    // The last line may continue, and a CR at the end may be the first half of a CRLF.
    const lines = (this.#rest + text).split(/\r\n|\r(?!$)|\n/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") {
        this.#field(line);
        continue;
      }
      this.#lastId = this.#idGiven;
      if (this.#data.length > 0) {
        events.push({ type: this.#type || "message", data: this.#data.join("\n") });
      }
      this.#type = "";
      this.#data = [];
    }
    return events;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#type = value;
    else if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) this.#idGiven = value;
  }
}
