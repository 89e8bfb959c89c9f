/**
 * Responses: splits the bytes of several consecutive responses of a provider into a stream of
 * events for each, ready to be captured.
 *
 * - A response ends where the next one begins, at `[DONE]`, or with the input. One without its own
 *   end was cut; capturing it reports so.
 * - After data that is not JSON, events are skipped until another response begins.
 * - Data of several lines is a cut event plus the first event of the next response: a provider's
 *   own data is one line.
 */

import type { Provider } from "../../core/base/errors.ts";
import { CAPTURE_LIMITS } from "../../core/base/limits.ts";
import { SseReader } from "./sse.ts";
import { badStream, isObject, type JsonObject } from "./wire.ts";

const DONE = "[DONE]";

export class Responses {
  readonly #provider: Provider;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #sse: SseReader;
  #isOver = false;
  #hasFailed = false;
  /** The first event of the next response, already read. */
  #next: JsonObject | null = null;
  /** The current response cannot be continued. */
  #isBroken = false;
  /** Whether the current response is a chat completion, and its id once a chunk has one. */
  #isChat = false;
  #chatId: string | null = null;

  constructor(provider: Provider, chunks: AsyncIterable<Uint8Array>) {
    this.#provider = provider;
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#sse = new SseReader(provider, CAPTURE_LIMITS.eventCharsMax);
  }

  /** The events of the next response, to be read before the one after it; null at the end. */
  async next(): Promise<AsyncIterable<JsonObject> | null> {
    for (;;) {
      const event = this.#next ?? (await this.#readOrSkip());
      this.#next = null;
      if (event === null) return null;
      if (event === DONE) this.#isBroken = false;
      if (event === DONE || !this.#mayBegin(event)) continue;
      this.#isBroken = false;
      this.#isChat = isChunk(event);
      this.#chatId = chatIdOf(event);
      return this.#events(event);
    }
  }

  async *#events(first: JsonObject): AsyncGenerator<JsonObject> {
    let isEnded = false;
    try {
      yield first;
      for (;;) {
        const event = await this.#read();
        isEnded = event === null || event === DONE || this.#beginsAnother(event);
        if (event === null || event === DONE) return;
        if (isEnded) {
          this.#next = event;
          return;
        }
        yield event;
      }
    } finally {
      this.#isBroken = !isEnded;
    }
  }

  #mayBegin(event: JsonObject): boolean {
    return this.#isBroken ? begins(event) : event.type !== "ping";
  }

  #beginsAnother(event: JsonObject): boolean {
    if (!isChunk(event)) return begins(event);
    if (!this.#isChat) return true;
    const id = chatIdOf(event);
    const isAnother = begins(event) && this.#chatId !== null && id !== this.#chatId;
    this.#chatId ??= id;
    return isAnother;
  }

  /** Like `#read`. Data that is not JSON between responses is refused once, and then skipped. */
  async #readOrSkip(): Promise<JsonObject | typeof DONE | null> {
    for (;;) {
      try {
        return await this.#read();
      } catch (error) {
        if (this.#isBroken) continue;
        this.#isBroken = true;
        throw error;
      }
    }
  }

  async #read(): Promise<JsonObject | typeof DONE | null> {
    for (;;) {
      if (this.#hasFailed) return null;
      const data = this.#nextData();
      if (data === DONE) return DONE;
      if (data) return this.#parse(data);
      if (data === "") continue;
      if (this.#isOver) return null;
      const { done, value } = await this.#chunks.next();
      if (done) {
        this.#isOver = true;
        this.#sse.end();
      } else {
        this.#sse.feed(value);
      }
    }
  }

  /** A too large event ends everything: nothing that follows can be told from it. */
  #nextData(): string | undefined {
    try {
      return this.#sse.next();
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  #parse(data: string): JsonObject {
    const last = data.slice(data.lastIndexOf("\n") + 1);
    const event = eventIn(data) ?? (last === data ? null : eventIn(last)); // A cut event before it.
    if (event === null) throw badStream(this.#provider, "an event's data is not a JSON object");
    return event;
  }
}

function eventIn(data: string): JsonObject | null {
  try {
    const event: unknown = JSON.parse(data);
    return isObject(event) ? event : null;
  } catch {
    return null;
  }
}

/** Whether a response begins with it, in any of the three protocols. */
function begins({ type, choices }: JsonObject): boolean {
  if (typeof type === "string") return type === "message_start" || type === "response.created";
  const first: unknown = Array.isArray(choices) ? choices[0] : null;
  return isObject(first) && isObject(first.delta) && typeof first.delta.role === "string";
}

/** Chat completions are the one protocol whose events have no type. */
function isChunk({ type, choices }: JsonObject): boolean {
  return typeof type !== "string" && Array.isArray(choices);
}

/** The id of a chunk's chat completion; null when it has none. */
function chatIdOf({ id }: JsonObject): string | null {
  return typeof id === "string" && id !== "" ? id : null;
}
