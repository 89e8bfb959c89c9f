/**
 * Answering: one answer on its way from the model into its stream, and from there into the chat.
 *
 *   model ──> pump ──> stream /chat/<id>/<message> ──> everybody who reads it
 *               └ stops when the stream is closed       └ fold ──> the message in the chat's log
 *
 * AN1  The stream is the truth: what a reader saw stands in it, and the message is made of it.
 * AN2  Who closes the stream ends the answer. Stopping is closing it, from whatever process; the pump
 *      watches for that, and ends the call of the model.
 * AN3  A reader who goes away ends nothing.
 * AN4  An answer that cannot go on is ended, as long as its stream takes that: who reads it would wait
 *      for ever.
 */

import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import type { AnswerStreams } from "./answer-streams.ts";
import type { AnswerState } from "./chat-log.ts";
import { ChunkQueue, type ChunkToKeep } from "./chunk-queue.ts";

/** Why an answer ended that did not end by itself, in its last chunk. */
export const STOPPED: UIMessageChunk = { type: "abort", reason: "stopped" };
export const INTERRUPTED: UIMessageChunk = { type: "abort", reason: "interrupted" };

export interface Pumped {
  readonly streams: AnswerStreams;
  readonly path: string;
  readonly messageId: string;
  /** Calls the model. */
  readonly start: (signal: AbortSignal) => Source | Promise<Source>;
  /** What readers are told of an error. */
  readonly errorText: (error: unknown) => string;
  /** Told before readers can know that the answer has ended. */
  readonly onEnd: () => void;
}

type Source = ReadableStream<UIMessageChunk>;

/**
 * Resolves when the stream is closed, by us or by somebody else. Throws what the stream's store
 * throws; then nobody knows whether it is.
 */
export async function pump(pumped: Pumped): Promise<void> {
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
    model.abort("failed"); // What it says has no place to go to.
    pumped.onEnd();
    await streams.append(path, [INTERRUPTED], true).catch(() => {}); // AN4; what failed is thrown.
    throw cause;
  } finally {
    watching.abort();
    await watch;
  }
}

/** AN2. When it cannot be watched, the next append still tells. */
async function watchForEnd(
  { streams, path }: Pumped,
  signal: AbortSignal,
  onEnd: () => void,
): Promise<void> {
  try {
    for await (const _ of streams.follow(path, signal)) if (signal.aborted) return;
    if (!signal.aborted) onEnd();
  } catch {
    // The appends meet the same trouble, and tell it.
  }
}

/** Takes what the model says, until it ends or is ended; answers what is said of its failure. */
async function intoQueue(
  { start, messageId, errorText }: Pumped,
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
      model.abort("stopped"); // The stream told it before the watch did.
      return null;
    }
  } catch (error) {
    if (isQueueing) throw error; // The stream's failure, not the model's.
    return signal.aborted ? null : { type: "error", errorText: errorText(error) };
  } finally {
    await source?.return?.();
  }
}

/** Throws when it is none that can be kept, which is the model's failure: its stream's, or a tool's. */
function chunkToKeep(value: UIMessageChunk, messageId: string): ChunkToKeep {
  const chunk = value.type === "start" ? { ...value, messageId } : value;
  if (typeof chunk.type !== "string") throw new TypeError("a chunk of the answer has no type");
  return { chunk, chars: JSON.stringify(chunk).length };
}

/** The chunks of a call, which may not hear that it is to end. */
async function* chunksOf(stream: Source, signal: AbortSignal): AsyncGenerator<UIMessageChunk> {
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
    reader.cancel().catch(() => {}); // However it ended, it is over.
  }
}

/** The message that the chunks of an answer make, and how it ended. */
export async function messageOf(
  chunks: readonly UIMessageChunk[],
  { messageId, before }: { readonly messageId: string; readonly before: UIMessage | null },
): Promise<{ readonly message: UIMessage; readonly state: AnswerState }> {
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
    // Told of a chunk `error`, and of one that the SDK cannot place, after which it takes none.
    onError: () => {
      hasFailed = true;
    },
  });
  for await (const grown of read) message = grown;
  return { message: { ...message, id: messageId }, state: stateOf(chunks, hasFailed) };
}

function stateOf(chunks: readonly UIMessageChunk[], hasFailed: boolean): AnswerState {
  const abort = chunks.find(({ type }) => type === "abort");
  if (abort) return isSame(abort, INTERRUPTED) ? "interrupted" : "stopped";
  return hasFailed ? "failed" : "finished";
}

function isSame(one: UIMessageChunk, other: UIMessageChunk): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
