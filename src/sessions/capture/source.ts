/**
 * Source: any kind of stream as one interface that returns the next event.
 *
 * Bytes and text are parsed as server-sent events; all other items are events already, and are
 * passed on as the same objects.
 *
 * Iteration begins at once, reading does not: an SDK's helper drops events that come before it has
 * a listener, and nothing may be read before it is asked for.
 */

import { badArgument } from "../../core/base/choice.ts";
import type { Provider } from "../../core/base/errors.ts";
import type { Part } from "../../core/model/entry.ts";
import type { CaptureBudget } from "./budget.ts";
import { SseReader } from "./sse.ts";
import { isObject, otherPart, providerError } from "./wire.ts";

/**
 * Events that capture did not understand. A refused event is kept as it came, in a
 * part at the end of the message; one that cannot be kept, or is only of an unknown type, is
 * counted.
 *
 * They never cost the message: they may use a share of its budget, and no more.
 */
export class UnknownEvents {
  readonly #budget: CaptureBudget;
  readonly #events: unknown[] = [];
  #count = 0;
  #notKept = 0;
  #why: Error | null = null;

  constructor(budget: CaptureBudget) {
    this.#budget = budget;
  }

  /** All of them, including those that are not kept. */
  get count(): number {
    return this.#count;
  }

  /** Why the first one was refused; null when none was. */
  get why(): Error | null {
    return this.#why;
  }

  /** Counts an event of an unknown type. */
  pass(): void {
    this.#count++;
  }

  /** Keeps an event that capture refused. */
  refuse(event: unknown, why: Error): void {
    this.#count++;
    this.#why ??= why;
    try {
      this.#events.push(this.#budget.copy(event));
    } catch {
      this.#notKept++; // Over its share, or not JSON.
    }
  }

  parts(): readonly Part[] {
    if (this.#why === null) return [];
    const notKept = this.#notKept === 0 ? {} : { not_kept: this.#notKept };
    return [otherPart({ type: "unknown_events", events: this.#events, ...notKept })];
  }
}

/** A body of bytes: of `fetch`, of `node:http`, of anything that iterates. */
export type ByteStream =
  | AsyncIterable<Uint8Array | string>
  /** A web stream. Not every version of TypeScript's library knows that it iterates. */
  | { getReader(): unknown }
  /** A `Response`; one that is not ok is refused with PROVIDER_ERROR. */
  | { readonly body: unknown; readonly ok: boolean; readonly status: number };

/** OpenAI's end of a stream. */
const DONE = "[DONE]";

export class CaptureSource {
  readonly #provider: Provider;
  readonly #source: object;
  readonly #items: AsyncIterator<unknown> | null;
  readonly #sse: SseReader;
  #isOver = false;

  constructor(provider: Provider, source: object, eventCharsMax: number) {
    this.#provider = provider;
    this.#source = source;
    this.#sse = new SseReader(provider, eventCharsMax);
    const hasNoBody = isResponse(source) && source.body === null;
    this.#items = hasNoBody ? null : iterate(isResponse(source) ? source.body : source);
  }

  /** The next event; null when there are no more. */
  async next(): Promise<{ readonly event: unknown } | null> {
    const source = this.#source;
    if (isResponse(source) && !source.ok) {
      throw providerError(this.#provider, `http_${source.status}`, source);
    }
    while (true) {
      const data = this.#sse.next();
      if (data === DONE) return null;
      if (data !== undefined && data !== "") return { event: this.#parse(data) };
      if (data === "") continue;
      if (this.#isOver) return null;
      const step = await this.#items?.next();
      if (!step || step.done) {
        this.#isOver = true;
        this.#sse.end();
      } else if (typeof step.value === "string" || ArrayBuffer.isView(step.value)) {
        this.#sse.feed(step.value as string | Uint8Array);
      } else {
        return { event: step.value };
      }
    }
  }

  /** Why there are no more events, when the SDK does not throw it; null when unknown. */
  async whyOver(): Promise<unknown> {
    const { ended, done, controller } = this.#source as SdkStream;
    if (ended === true && typeof done === "function") {
      try {
        await done.call(this.#source);
      } catch (error) {
        return error;
      }
    }
    const signal = controller?.signal;
    return signal?.aborted ? signal.reason : null;
  }

  /** Closes the connection. Its errors no longer matter. */
  async cancel(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      await this.#items?.return?.();
      // Closing an SDK's iterator before its first event leaves the connection open.
      (this.#source as SdkStream).controller?.abort?.();
    } catch {
      // The connection is gone either way, and what arrived is kept.
    }
  }

  /** Data that is not JSON is passed on as text: the consumer may know it. */
  #parse(data: string): unknown {
    try {
      return JSON.parse(data);
    } catch {
      return data;
    }
  }
}

/** Common parts of the SDKs' streams. Their iterators end silently when aborted. */
interface SdkStream {
  readonly controller?: { readonly signal?: AbortSignal; readonly abort?: () => void };
  readonly ended?: unknown;
  readonly done?: unknown;
}

function isResponse(source: object): source is { body: unknown; ok: boolean; status: number } {
  return isObject(source) && "body" in source && typeof source.ok === "boolean";
}

/** Refuses with BAD_SETTING a value that is not a stream, or one that is already being read. */
function iterate(body: unknown): AsyncIterator<unknown> {
  const stream = (body ?? {}) as Partial<AsyncIterable<unknown> & PromiseLike<unknown>>;
  let iterator: AsyncIterator<unknown> | undefined;
  try {
    iterator = stream[Symbol.asyncIterator]?.();
  } catch (cause) {
    throw badArgument("stream", "cannot be read; is it being read already?", cause);
  }
  if (iterator) return iterator;
  if (typeof stream.then === "function") {
    throw badArgument("stream", "is a promise of a stream; await it first");
  }
  throw badArgument("stream", "must be a stream: an async iterable, a body or a Response");
}
