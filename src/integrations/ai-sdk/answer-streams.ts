/**
 * Answer streams: where the chunks of an answer go while it is generated: streams in this process
 * (`verbatim-log/streams`), or a server's (`verbatim-log/client`). Both are structural types, so
 * that neither is loaded here.
 */

import type { UIMessageChunk } from "ai";
import { VerbatimError } from "../../core/base/errors.ts";

/** The part of what `openStreams` gives that is used. */
export interface EmbeddedStreams {
  createStream(path: string): Promise<unknown>;
  appendAll(
    path: string,
    messages: readonly unknown[],
    options: { readonly closes: boolean },
  ): Promise<boolean>;
  follow(
    path: string,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<{ readonly data: Uint8Array }>;
  getStream(path: string): Promise<{ readonly isClosed: boolean } | null>;
  messages(path: string): AsyncIterable<{ readonly data: Uint8Array }>;
}

/** The part of `new VerbatimClient({ url }).streams` that is used. */
export interface ServedStreams {
  create(path: string): Promise<void>;
  appendAll(
    path: string,
    messages: readonly unknown[],
    options: { readonly closes: boolean },
  ): Promise<boolean>;
  live(
    path: string,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<{ readonly bytes: Uint8Array }>;
  readJson(
    path: string,
    offset?: string,
  ): Promise<{
    readonly messages: readonly unknown[];
    readonly next: string;
    readonly isAtEnd: boolean;
  }>;
}

export interface AnswerStreams {
  create(path: string): Promise<void>;
  /** Atomic. Returns false, with nothing changed, when the stream was closed before. */
  append(path: string, chunks: readonly UIMessageChunk[], closes: boolean): Promise<boolean>;
  /** Existing chunks and then new ones, until the stream is closed or `signal` aborts. */
  follow(path: string, signal: AbortSignal): AsyncIterable<readonly UIMessageChunk[]>;
  /** The current chunks; null when there is no such stream. */
  read(path: string): Promise<readonly UIMessageChunk[] | null>;
}

export function isStreams(given: unknown): boolean {
  const { createStream, create } = (given ?? {}) as { createStream?: unknown; create?: unknown };
  return typeof createStream === "function" || typeof create === "function";
}

export function answerStreams(streams: EmbeddedStreams | ServedStreams): AnswerStreams {
  return "createStream" in streams ? embedded(streams) : served(streams);
}

const decoder = new TextDecoder();

function chunkIn({ data }: { readonly data: Uint8Array }): UIMessageChunk {
  return JSON.parse(decoder.decode(data)) as UIMessageChunk;
}

function embedded(engine: EmbeddedStreams): AnswerStreams {
  return {
    async create(path) {
      await engine.createStream(path);
    },
    append: (path, chunks, closes) => engine.appendAll(path, chunks, { closes }),
    async *follow(path, signal) {
      for await (const message of engine.follow(path, { signal })) yield [chunkIn(message)];
    },
    async read(path) {
      if ((await engine.getStream(path)) === null) return null;
      const chunks: UIMessageChunk[] = [];
      for await (const message of engine.messages(path)) chunks.push(chunkIn(message));
      return chunks;
    },
  };
}

function served(client: ServedStreams): AnswerStreams {
  return {
    create: (path) => client.create(path),
    append: (path, chunks, closes) => client.appendAll(path, chunks, { closes }),
    async *follow(path, signal) {
      for await (const { bytes } of client.live(path, { signal })) {
        yield JSON.parse(decoder.decode(bytes)) as UIMessageChunk[];
      }
    },
    async read(path) {
      const chunks: UIMessageChunk[] = [];
      try {
        for (let offset: string | undefined; ; ) {
          const { messages, next, isAtEnd } = await client.readJson(path, offset);
          chunks.push(...(messages as UIMessageChunk[]));
          if (isAtEnd) return chunks;
          offset = next;
        }
      } catch (cause) {
        if (isMissing(cause)) return null;
        throw cause;
      }
    },
  };
}

function isMissing(cause: unknown): boolean {
  if (!(cause instanceof VerbatimError) || cause.code !== "REQUEST_REFUSED") return false;
  const { status } = (cause as VerbatimError<"REQUEST_REFUSED">).details;
  return status === 404 || status === 410;
}
