/** Chat options: options and results of chats. */

import type { UIMessage, UIMessageChunk } from "ai";
import type { StoreOptions } from "../../sessions/store/store.ts";
import type { EmbeddedStreams, ServedStreams } from "./answer-streams.ts";

const encoder = new TextEncoder();
const DONE = encoder.encode("data: [DONE]\n\n");

/**
 * An answer's chunks as the AI SDK sends them to a browser, from any byte on.
 *
 * - The bytes are those of the SDK's own response (`createUIMessageStreamResponse`), and depend on
 *   the chunks only: a client that was cut off after n bytes gets the rest by asking for it from n.
 *
 * `from`: bytes to skip. `reading` is aborted when it is over, or from outside.
 */
export function bodyOf(
  chunks: AsyncIterable<readonly UIMessageChunk[]>,
  from: number,
  reading: AbortController,
): ReadableStream<Uint8Array> {
  const events = eventsOf(chunks, reading.signal);
  let skipped = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        while (true) {
          const { value, done } = await events.next();
          if (done) {
            reading.abort();
            return controller.close();
          }
          const rest = value.subarray(Math.min(value.length, from - skipped));
          skipped += value.length - rest.length;
          if (rest.length > 0) return controller.enqueue(rest);
        }
      },
      cancel: () => reading.abort(),
    },
    { highWaterMark: 0 },
  );
}

async function* eventsOf(
  chunks: AsyncIterable<readonly UIMessageChunk[]>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const together of chunks) {
    const text = together.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    yield encoder.encode(text);
  }
  if (!signal.aborted) yield DONE; // Otherwise the rest is unknown.
}

export interface VerbatimChatsOptions
  extends Pick<StoreOptions, "root" | "remember" | "durability" | "sign" | "onWarning"> {
  /**
   * Where answers go while they are generated: what `openStreams` gives, or `streams` of a `VerbatimClient`.
   */
  readonly streams: EmbeddedStreams | ServedStreams;
}

/** The arguments of the model call. */
export interface AnswerCall<M extends UIMessage> {
  /** The whole chat, including the user's new message. */
  readonly messages: M[];
  readonly messageId: string;
  /** Aborts when the answer is stopped: pass it to `streamText`. */
  readonly abortSignal: AbortSignal;
}

export interface RespondOptions<M extends UIMessage> {
  /** The new message. One whose id exists already replaces it, and all after it is undone. */
  readonly message?: M;
  /** Undoes this message and all after it first: `regenerate` of `useChat`. */
  readonly regenerate?: string;
  /** Calls the model: `streamText(…).toUIMessageStream()`, or any stream of chunks. */
  readonly answer: (
    call: AnswerCall<M>,
  ) => ReadableStream<UIMessageChunk> | Promise<ReadableStream<UIMessageChunk>>;
  /** The text of an error for readers. Default: a general one. */
  readonly onError?: (error: unknown) => string;
  /** For the id of the answer's message. Default: the SDK's own. */
  readonly generateId?: () => string;
  /**
   * Keeps a process alive until the answer has ended, on platforms that end it with the response.
   */
  readonly waitUntil?: (ended: Promise<void>) => void;
}

export interface ResumeAnswerOptions {
  /** The message, also if its answer has ended. Default: the one in progress. */
  readonly message?: string;
  /** Bytes of the body already received. Default: 0. */
  readonly from?: number;
}

export interface LoadedChat<M extends UIMessage> {
  readonly messages: M[];
  /** Messages whose answers were stopped, failed or lost their process, by id. */
  readonly brokenOff: readonly string[];
  /** The message of the answer in progress; null when there is none. */
  readonly answering: string | null;
}
