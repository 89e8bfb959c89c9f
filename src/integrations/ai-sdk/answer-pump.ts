/**
 * Answer pump: moves one answer from the model into its stream, and from there into the chat.
 *
 *   model ──> pump ──> stream /chat/<id>/<message> ──> all readers
 *               └ stops when the stream is closed       └ fold ──> the message in the chat's log
 *
 * - The stream is authoritative: it has everything that a reader saw, and the message is made from
 *   it.
 * - Closing the stream ends the answer. `stop` closes it, from any process; the pump watches for
 *   that, and ends the model call.
 * - A reader that disconnects ends nothing.
 * - An answer that cannot continue is ended, if its stream still accepts that: its readers would
 *   wait forever.
 *
 * Chat log: one chat in its session: its messages, which answers were begun, and how they ended.
 *
 * - An answer begins with a line `answer` and ends with its `message`. No line of the chat is
 *   between the two, so an answer is open when the last line begins one.
 * - A message whose id exists already undoes that one and all after it, and replaces them: so the
 *   SDK edits, regenerates, and adds results of tools.
 */

import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { badOption } from "../../core/base/choice.ts";
import type { Session } from "../../sessions/store/session.ts";
import {
  appendTogether,
  countedLines,
  type HistoryLine,
  lastLines,
  linesBackward,
} from "../history/history.ts";
import type { AnswerStreams } from "./answer-streams.ts";

const TYPES = ["message", "answer", "pop", "clear"];
/** Queue limit before `add` waits for the stream; a longer chunk goes alone. */
const WAITING_CHARS_MAX = 1024 * 1024;

interface ChunkToKeep {
  readonly chunk: UIMessageChunk;
  /** Its length as JSON. */
  readonly chars: number;
}

/**
 * Appends chunks to a stream, in order; those that come during an append go together
 * in the next.
 *
 * - After a refusal or a failure nothing more is appended.
 */
class ChunkQueue {
  readonly #append: (chunks: readonly UIMessageChunk[]) => Promise<boolean>;
  #waiting: UIMessageChunk[] = [];
  #chars = 0;
  #draining: Promise<void> | null = null;
  #isRefused = false;
  #failure: { readonly error: unknown } | null = null;

  /** `append` returns false when the stream accepts no more. */
  constructor(append: (chunks: readonly UIMessageChunk[]) => Promise<boolean>) {
    this.#append = append;
  }

  /**
   * Resolves when there is room for more: false when the stream accepts none. Throws its failure.
   */
  async add({ chunk, chars }: ChunkToKeep): Promise<boolean> {
    this.#waiting.push(chunk);
    this.#chars += chars;
    this.#draining ??= this.#drain();
    if (this.#chars >= WAITING_CHARS_MAX) await this.#draining;
    return this.#takesMore();
  }

  /** Resolves like `add`, when the queue is empty. */
  async settled(): Promise<boolean> {
    await this.#draining;
    return this.#takesMore();
  }

  #takesMore(): boolean {
    if (this.#failure) throw this.#failure.error;
    return !this.#isRefused;
  }

  async #drain(): Promise<void> {
    await null; // Chunks added in one tick go together.
    try {
      while (this.#waiting.length > 0 && !this.#isRefused) {
        const chunks = this.#waiting;
        this.#waiting = [];
        this.#chars = 0;
        if (!(await this.#append(chunks))) this.#isRefused = true;
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#draining = null;
  }
}

/** Why an answer was ended, in its last chunk. */
export const STOPPED_CHUNK: UIMessageChunk = { type: "abort", reason: "stopped" };
export const INTERRUPTED_CHUNK: UIMessageChunk = { type: "abort", reason: "interrupted" };

export interface AnswerPump {
  readonly streams: AnswerStreams;
  readonly path: string;
  readonly messageId: string;
  /** Calls the model. */
  readonly start: (signal: AbortSignal) => Source | Promise<Source>;
  /** The text of an error for readers. */
  readonly errorText: (error: unknown) => string;
  /** Called before readers can know that the answer has ended. */
  readonly onEnd: () => void;
}

type Source = ReadableStream<UIMessageChunk>;

/**
 * Resolves when the stream is closed, by us or by another process. Throws errors of the stream's
 * store; then it is unknown whether it is closed.
 */
export async function pump(pumped: AnswerPump): Promise<void> {
  const { streams, path } = pumped;
  const model = new AbortController();
  const watching = new AbortController();
  const watch = watchForEnd(pumped, watching.signal, () => model.abort("stopped"));
  const queue = new ChunkQueue((chunks) => streams.append(path, chunks, false));
  try {
    const error = await intoQueue(pumped, queue, model);
    pumped.onEnd();
    if (!(await queue.settled())) return;
    await streams.append(path, error === null ? [] : [error], true);
  } catch (cause) {
    model.abort("failed"); // Its chunks cannot be stored.
    pumped.onEnd();
    await streams.append(path, [INTERRUPTED_CHUNK], true).catch(() => {}); // The first failure is thrown.
    throw cause;
  } finally {
    watching.abort();
    await watch;
  }
}

/** When it cannot be watched, the next append still fails. */
async function watchForEnd(
  { streams, path }: AnswerPump,
  signal: AbortSignal,
  onEnd: () => void,
): Promise<void> {
  try {
    for await (const _ of streams.follow(path, signal)) if (signal.aborted) return;
    if (!signal.aborted) onEnd();
  } catch {
    // The appends meet the same failure, and throw it.
  }
}

/** Queues the model's chunks until it ends or is stopped; returns the error text of a failure. */
async function intoQueue(
  { start, messageId, errorText }: AnswerPump,
  queue: ChunkQueue,
  model: AbortController,
): Promise<UIMessageChunk | null> {
  const { signal } = model;
  let source: AsyncIterator<UIMessageChunk> | null = null;
  let isQueueing = false;
  try {
    source = chunksOf(await start(signal), signal);
    while (true) {
      isQueueing = false;
      const { value, done } = await source.next();
      if (done) return null;
      const chunk = chunkToKeep(value, messageId);
      isQueueing = true;
      if (await queue.add(chunk)) continue;
      model.abort("stopped"); // The stream was closed before the watch noticed.
      return null;
    }
  } catch (error) {
    if (isQueueing) throw error; // The stream's failure, not the model's.
    return signal.aborted ? null : { type: "error", errorText: errorText(error) };
  } finally {
    await source?.return?.();
  }
}

/**
 * Throws for a chunk that cannot be kept, which is a failure of the model's stream or of a tool.
 */
function chunkToKeep(value: UIMessageChunk, messageId: string): ChunkToKeep {
  const chunk = value.type === "start" ? { ...value, messageId } : value;
  if (typeof chunk.type !== "string") throw noChunks();
  return { chunk, chars: JSON.stringify(chunk).length };
}

function noChunks() {
  return badOption("answer", "must return chunks, as streamText(…).toUIMessageStream() does");
}

/** The chunks of a call that may ignore its abort signal. */
async function* chunksOf(stream: Source, signal: AbortSignal): AsyncGenerator<UIMessageChunk> {
  if (typeof stream?.getReader !== "function") throw noChunks();
  const reader = stream.getReader();
  const ended = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
  try {
    while (true) {
      const next = await Promise.race([reader.read(), ended]);
      if (next === null || next.done) return;
      yield next.value;
    }
  } finally {
    reader.cancel().catch(() => {}); // It is over either way.
  }
}

/** The message made from an answer's chunks, and how it ended. */
export async function messageOf(
  chunks: readonly UIMessageChunk[],
  { messageId, before }: { readonly messageId: string; readonly before: UIMessage | null },
): Promise<{ readonly message: UIMessage; readonly state: ChatAnswerState }> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let message: UIMessage = before ?? { id: messageId, role: "assistant", parts: [] };
  let hasFailed = false;
  const read = readUIMessageStream({
    stream,
    ...(before ? { message: structuredClone(before) } : {}),
    // Called for an `error` chunk, and for one that the SDK cannot place, after which it accepts
    // none.
    onError: () => {
      hasFailed = true;
    },
  });
  for await (const grown of read) message = grown;
  return { message: { ...message, id: messageId }, state: stateOf(chunks, hasFailed) };
}

function stateOf(chunks: readonly UIMessageChunk[], hasFailed: boolean): ChatAnswerState {
  const abort = chunks.find(({ type }) => type === "abort");
  if (abort) return isSame(abort, INTERRUPTED_CHUNK) ? "interrupted" : "stopped";
  return hasFailed ? "failed" : "finished";
}

function isSame(one: UIMessageChunk, other: UIMessageChunk): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** How an answer ended: by itself, by `stop`, with an error, or with its process or stream. */
type ChatAnswerState = "finished" | "stopped" | "failed" | "interrupted";

export interface KeptMessage<M extends UIMessage> {
  readonly message: M;
  /** Null for a message that is not an answer. */
  readonly state: ChatAnswerState | null;
}

/** An answer that was begun. */
export interface BegunAnswer {
  readonly messageId: string;
  /** The stream of its chunks. */
  readonly path: string;
}

export async function keptMessages<M extends UIMessage>(
  session: Session,
): Promise<KeptMessage<M>[]> {
  const lines = await lastLines(session, { types: TYPES, type: "message" });
  return lines.map(({ message, state = null }) => ({
    message: message as M,
    state: state as ChatAnswerState | null,
  }));
}

/** The answer that has not ended; null when none is open. */
export async function openAnswer(session: Session): Promise<BegunAnswer | null> {
  for await (const line of countedLines(session, { types: TYPES })) return begunIn(line);
  return null;
}

/** The last answer begun for a message, ended or not. */
export async function lastAnswer(session: Session, messageId: string): Promise<BegunAnswer | null> {
  for await (const line of linesBackward(session, { types: ["answer"] })) {
    const begun = begunIn(line);
    if (begun?.messageId === messageId) return begun;
  }
  return null;
}

function begunIn({ type, message, stream }: HistoryLine): BegunAnswer | null {
  return type === "answer" ? { messageId: String(message), path: String(stream) } : null;
}

export async function beginAnswer(session: Session, answer: BegunAnswer): Promise<void> {
  const { messageId: message, path: stream } = answer;
  await session.appendLines([{ type: "answer", message, stream }]);
}

/** Adds a message after the existing ones, or instead of some of them. */
export async function addMessage(
  session: Session,
  kept: readonly KeptMessage<UIMessage>[],
  { message, state }: KeptMessage<UIMessage>,
): Promise<void> {
  const line = { type: "message", message, ...(state === null ? {} : { state }) };
  const count = countFrom(kept, message.id);
  await appendTogether(session, count === 0 ? [line] : [{ type: "pop", count }, line]);
}

/** Undoes a message and all after it; nothing when it does not exist. */
export async function takeBack(
  session: Session,
  kept: readonly KeptMessage<UIMessage>[],
  messageId: string,
): Promise<void> {
  const count = countFrom(kept, messageId);
  if (count > 0) await session.appendLines([{ type: "pop", count }]);
}

function countFrom(kept: readonly KeptMessage<UIMessage>[], messageId: string): number {
  const at = kept.findIndex(({ message }) => message.id === messageId);
  return at === -1 ? 0 : kept.length - at;
}
