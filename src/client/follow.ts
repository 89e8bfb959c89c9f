/**
 * Follow: a session's entries as they come, over as many connections as needed.
 *
 * - Each entry is yielded once and in order. When a connection ends, as the server ends each after
 *   a while, or breaks, the next one resumes after the last complete event.
 * - A refusal is thrown, except one that says to retry later.
 */

import { VerbatimError } from "../core/base/errors.ts";
import { parseExactly } from "../core/base/exact-numbers.ts";
import type { Requester } from "./request.ts";
import type { EntryItem } from "./session-shapes.ts";

export interface TextEvent {
  readonly type: string;
  readonly data: string;
}

/**
 * Parses Server-Sent Events from text in chunks, by the HTML standard.
 *
 * Not `eventsource-parser`: it drops a block with an id and no data, which moves the position to
 * resume from (docs/decisions/0014-libraries.md).
 */
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

export type SessionEvent =
  | ({ readonly type: "entry" } & EntryItem)
  /** What was yielded from `to` on is no longer there; what replaces it follows. */
  | { readonly type: "rewound"; readonly to: number };

export interface SessionFollowOptions {
  /** An offset, or "end" for new entries only. Default: the start. */
  readonly from?: number | "end";
  readonly native?: boolean;
  /** Stops following, without an error. */
  readonly signal?: AbortSignal;
  /**
   * Called when the server answers, and when it fails to; not when it ends a connection normally.
   */
  readonly onConnection?: (isConnected: boolean) => void;
}

const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 5_000;

export async function* followEvents(
  requester: Requester,
  path: string,
  { from = 0, native, signal = new AbortController().signal, onConnection }: SessionFollowOptions,
): AsyncGenerator<SessionEvent> {
  let lastId = "";
  let retryMs = RETRY_MS_MIN;
  /** After a connection without events, wait before the next one. */
  const pause = async () => {
    await waited(retryMs, signal);
    retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
  };
  while (!signal.aborted) {
    const events = new EventText();
    const beganMs = performance.now();
    let isEmpty = true;
    try {
      const response = await requester.send(path, {
        query: { offset: from, native, exact: true },
        headers: lastId === "" ? {} : { "Last-Event-ID": lastId },
        signal,
      });
      onConnection?.(true);
      for await (const { type, data } of eventsOf(response, events)) {
        isEmpty = false;
        retryMs = RETRY_MS_MIN;
        if (type === "entry" || type === "rewound")
          yield { type, ...(parseExactly(data) as object) } as SessionEvent;
        if (signal.aborted) return;
      }
    } catch (cause) {
      if (signal.aborted) return;
      if (!isPassing(cause)) throw cause;
      onConnection?.(false);
    }
    // A quiet session is followed as closely as any: its connections end, too.
    if (performance.now() - beganMs > RETRY_MS_MAX) retryMs = RETRY_MS_MIN;
    // All complete events were yielded: a connection breaks where it is read, not before.
    lastId = events.lastId || lastId;
    if (isEmpty) await pause();
  }
}

async function* eventsOf(response: Response, events: EventText): AsyncGenerator<TextEvent> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* events.take(value);
    }
  } finally {
    await reader.cancel().catch(() => {}); // It broke already, which the read has thrown.
  }
}

/** Whether a retry may help: there was no answer, or a busy server. */
function isPassing(cause: unknown): boolean {
  if (!(cause instanceof VerbatimError)) return cause instanceof TypeError;
  const { details } = cause;
  return "status" in details && (details.status === 429 || details.status === 503);
}

function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
