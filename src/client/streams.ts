/**
 * Streams: the everyday part of the Durable Streams protocol: create, append, read, wait for more.
 * For exactly-once producers, forks and subscriptions use a client of the whole protocol.
 *
 * An append without a response may have been written or not: it is never sent again from here.
 */

import { badArgument, checkKind, checkOptions, type OptionKinds } from "../core/base/choice.ts";
import { badStreamPath, VerbatimError } from "../core/base/errors.ts";
import { parseExactly } from "../core/base/exact-numbers.ts";
import type { Requester } from "./request.ts";

export interface StreamChunk {
  /** As appended; of a JSON stream, an array of messages. */
  readonly bytes: Uint8Array;
  /** Where the next read begins. */
  readonly next: string;
  /** There was no more at that time. */
  readonly isAtEnd: boolean;
  /** There never will be more. */
  readonly isClosed: boolean;
}

export interface LiveOptions {
  /** Where to begin: "-1" for the start, "now", or `next` of a chunk. Default: the start. */
  readonly offset?: string;
  /** Ends the waiting, without an error. */
  readonly signal?: AbortSignal;
}

const LIVE: OptionKinds<LiveOptions> = { offset: "text", signal: "object" };
const ROOT = "/v1/stream";
const START = "-1";
const JSON_TYPE = "application/json";

export class StreamsClient {
  readonly #requester: Requester;

  /** @internal */
  constructor(requester: Requester) {
    this.#requester = requester;
  }

  /**
   * Creates a stream, or accepts an existing one with the same settings. Default: of JSON messages.
   */
  async create(path: string, contentType: string = JSON_TYPE): Promise<void> {
    checkKind("contentType", contentType, "text");
    await this.#send(path, { method: "PUT", headers: { "Content-Type": contentType } });
  }

  /** Appends one message to a stream of JSON; resolves when it is on the server's disk. */
  append(path: string, message: unknown): Promise<string> {
    // The protocol splits an array into messages: wrapped in another one, an array is one message.
    return this.appendBytes(path, JSON.stringify([message]), JSON_TYPE);
  }

  /**
   * Appends messages to a stream of JSON in one atomic request, and closes it after them on
   * request. Resolves to false, with nothing changed, when it was closed before.
   */
  async appendAll(
    path: string,
    messages: readonly unknown[],
    options: { readonly closes?: boolean } = {},
  ): Promise<boolean> {
    if (!Array.isArray(messages)) throw badArgument("appendAll", "takes its messages as a list");
    checkOptions("appendAll", options, { closes: "boolean" });
    const { closes = false } = options;
    const body = messages.length === 0 ? {} : { body: JSON.stringify(messages) };
    const headers = {
      ...(messages.length === 0 ? {} : { "Content-Type": JSON_TYPE }),
      ...(closes ? { "Stream-Closed": "true" } : {}),
    };
    try {
      await this.#send(path, { method: "POST", headers, ...body });
      return true;
    } catch (cause) {
      if (isRefusal(cause, "STREAM_CLOSED")) return false;
      throw cause;
    }
  }

  /** Appends bytes of the stream's own type unchanged; resolves to the end after them. */
  async appendBytes(
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    contentType: string,
  ): Promise<string> {
    checkKind("contentType", contentType, "text");
    const headers = { "Content-Type": contentType };
    const response = await this.#send(path, { method: "POST", headers, body });
    return nextOf(response);
  }

  /** One chunk from an offset on. */
  async read(path: string, offset: string = START): Promise<StreamChunk> {
    checkKind("offset", offset, "text");
    return chunkOf(await this.#send(path, { query: { offset } }));
  }

  /**
   * The messages of a chunk of JSON. An integer that a double cannot represent is a string of its
   * digits.
   */
  async readJson(
    path: string,
    offset: string = START,
  ): Promise<Omit<StreamChunk, "bytes"> & { readonly messages: unknown[] }> {
    const { bytes, ...place } = await this.read(path, offset);
    const messages = bytes.length === 0 ? [] : (parseExactly(decoder.decode(bytes)) as unknown[]);
    return { ...place, messages };
  }

  /** Existing chunks and then new ones, until the stream is closed. */
  async *live(path: string, options: LiveOptions = {}): AsyncGenerator<StreamChunk> {
    checkOptions("live", options, LIVE);
    const { signal = new AbortController().signal } = options;
    let offset = options.offset ?? START;
    let cursor: string | undefined;
    let isAtEnd = false;
    while (!signal.aborted) {
      const live = isAtEnd || offset === "now" ? "long-poll" : undefined;
      let response: Response;
      try {
        response = await this.#send(path, { query: { offset, live, cursor }, signal });
      } catch (cause) {
        if (signal.aborted) return;
        throw cause;
      }
      cursor = response.headers.get("Stream-Cursor") ?? cursor;
      const chunk = await chunkOf(response);
      offset = chunk.next;
      isAtEnd = chunk.isAtEnd;
      if (chunk.bytes.length > 0) yield chunk;
      if (chunk.isClosed && isAtEnd) return;
    }
  }

  async #send(path: string, asking: Parameters<Requester["send"]>[1]): Promise<Response> {
    return this.#requester.send(`${ROOT}/${encodedPath(path)}`, asking);
  }
}

/** Refuses a path that `fetch` would change; the server judges the rest. */
function encodedPath(path: string): string {
  checkKind("path", path, "text");
  const segments = path.replace(/^\//, "").split("/");
  if (!path.isWellFormed()) throw badStreamPath(path, "it is not well-formed Unicode");
  if (segments.some((segment) => segment === "." || segment === "..")) {
    throw badStreamPath(path, "a segment of it is . or ..");
  }
  return segments.map(encodeURIComponent).join("/");
}

const decoder = new TextDecoder();

async function chunkOf(response: Response): Promise<StreamChunk> {
  const { headers } = response;
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    next: nextOf(response),
    isAtEnd: headers.get("Stream-Up-To-Date") === "true",
    isClosed: headers.get("Stream-Closed") === "true",
  };
}

/** Whether the server refused, with this code. */
function isRefusal(cause: unknown, code: string): boolean {
  if (!(cause instanceof VerbatimError) || cause.code !== "REQUEST_REFUSED") return false;
  return (cause as VerbatimError<"REQUEST_REFUSED">).details.code === code;
}

function nextOf({ headers }: Response): string {
  return headers.get("Stream-Next-Offset") ?? "";
}
