/** Chat options: what chats are told and asked, and what they tell. */

import type { UIMessage, UIMessageChunk } from "ai";
import type { StoreOptions } from "../../store/store.ts";
import type { EmbeddedStreams, ServedStreams } from "./answer-streams.ts";

export interface VerbatimChatsOptions
  extends Pick<StoreOptions, "root" | "durability" | "sign" | "onWarning"> {
  /** Where answers go while they come: a `JsonlEngine`, or `streams` of a `VerbatimClient`. */
  readonly streams: EmbeddedStreams | ServedStreams;
}

/** What the model is called with. */
export interface AnswerCall<M extends UIMessage> {
  /** The whole chat, what the user said now included. */
  readonly messages: M[];
  readonly messageId: string;
  /** Aborts when the answer is stopped: give it to `streamText`. */
  readonly abortSignal: AbortSignal;
}

export interface RespondOptions<M extends UIMessage> {
  /** What is said now. One whose id is there already takes its place, and all after it is taken back. */
  readonly message?: M;
  /** Takes back this message and all after it first: `regenerate` of `useChat`. */
  readonly regenerate?: string;
  /** Calls the model: `streamText(…).toUIMessageStream()`, or any stream of chunks. */
  readonly answer: (
    call: AnswerCall<M>,
  ) => ReadableStream<UIMessageChunk> | Promise<ReadableStream<UIMessageChunk>>;
  /** What readers are told of an error. Default: that there was one. */
  readonly onError?: (error: unknown) => string;
  /** Of the answer's message. Default: the SDK's own. */
  readonly generateId?: () => string;
  /** Keeps a process alive until the answer has ended, where platforms end it with the response. */
  readonly waitUntil?: (ended: Promise<void>) => void;
}

export interface ResumeAnswerOptions {
  /** Of which message; also when its answer has ended. Default: of the one under way. */
  readonly message?: string;
  /** So many bytes of the body were received. Default: 0, all of it again. */
  readonly from?: number;
}

export interface LoadedChat<M extends UIMessage> {
  readonly messages: M[];
  /** Messages whose answers were stopped, failed or lost their process, by id. */
  readonly brokenOff: readonly string[];
  /** The message of the answer under way; null when there is none. */
  readonly answering: string | null;
}
