/**
 * Follow: a session's entries as they come, over as many connections as needed.
 *
 * - Each entry is yielded once and in order. When a connection ends, as the server ends each after
 *   a while, or breaks, the next one resumes after the last complete event.
 * - A refusal is thrown, except one that says to retry later.
 */

import { VerbatimError } from "../base/errors.ts";
import { EventText, type TextEvent } from "./event-text.ts";
import type { Requester } from "./request.ts";
import type { EntryItem } from "./session-shapes.ts";

export type SessionEvent =
  | ({ readonly type: "entry" } & EntryItem)
  /** What was yielded from `to` on is no longer there; what replaces it follows. */
  | { readonly type: "rewound"; readonly to: number };

export interface FollowOptions {
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
  { from = 0, native, signal = new AbortController().signal, onConnection }: FollowOptions,
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
        query: { offset: from, native },
        headers: lastId === "" ? {} : { "Last-Event-ID": lastId },
        signal,
      });
      onConnection?.(true);
      for await (const { type, data } of eventsOf(response, events)) {
        isEmpty = false;
        retryMs = RETRY_MS_MIN;
        if (type === "entry" || type === "rewound") yield { type, ...JSON.parse(data) };
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
