/**
 * Call: the bytes of one call to a provider, collected while they pass: once its request is whole,
 * and once its answer has ended, a message goes to the recorder.
 *
 * - Nothing waits: chunks are collected as they are, and those who pass them on never ask again.
 * - The bytes of all calls together have a limit (`CallRoom`). What is over it is passed on and not
 *   recorded, and the recorder learns that.
 */

import { BODY_BYTES_MAX, type Headers } from "./body.ts";
import { apiOf, type ProviderApi } from "./provider-api.ts";

export interface CallHead {
  readonly method: string;
  /** Path and query, which may have a key. */
  readonly target: string;
  readonly headers: Headers;
}

export interface CallRequest extends CallHead {
  readonly type: "request";
  readonly call: number;
  readonly api: ProviderApi;
  readonly atMs: number;
  /** Null: too large. */
  readonly body: Uint8Array | null;
}

/** How an answer ended: the caller or the provider broke off, or there was none. */
export type CallEnd = "whole" | "cancelled" | "cut" | "unreachable";

export interface CallAnswer {
  readonly type: "answer";
  readonly call: number;
  readonly atMs: number;
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array | null;
  readonly end: CallEnd;
  /** Since the beginning of the request; null: no byte came. */
  readonly firstByteMs: number | null;
  readonly durationMs: number;
}

export type CallMessage = CallRequest | CallAnswer;

/** Resolves when the message is recorded, or has failed: its bytes are free. */
export type CallSink = (message: CallMessage) => Promise<void>;

/** How many bytes calls may hold until they are recorded. */
export class CallRoom {
  bytesLeft = 2 * BODY_BYTES_MAX;
}

class Collected {
  readonly #room: CallRoom;
  #chunks: Uint8Array[] | null = [];
  #bytes = 0;

  constructor(room: CallRoom) {
    this.#room = room;
  }

  add(chunk: Uint8Array): void {
    if (this.#chunks === null) return;
    const { length } = chunk;
    if (this.#bytes + length > BODY_BYTES_MAX || length > this.#room.bytesLeft) {
      this.drop();
      return;
    }
    this.#chunks.push(chunk);
    this.#bytes += length;
    this.#room.bytesLeft -= length;
  }

  drop(): void {
    this.#chunks = null;
    this.#room.bytesLeft += this.#bytes;
    this.#bytes = 0;
  }

  /** In memory of its own, which can be handed to another thread. Its room stays taken. */
  bytes(): Uint8Array<ArrayBuffer> | null {
    if (this.#chunks === null) return null;
    // Not filled with zeros first, and in no memory that is shared: each byte is set below.
    const bytes = Buffer.allocUnsafeSlow(this.#bytes);
    let at = 0;
    for (const chunk of this.#chunks.splice(0)) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return bytes;
  }
}

let calls = 0;

/** One call that is recorded. */
export class Call {
  readonly #head: CallHead & { readonly api: ProviderApi };
  readonly #sink: CallSink;
  readonly #call = ++calls;
  readonly #atMs = Date.now();
  readonly #startMs = performance.now();
  readonly #request: Collected;
  readonly #answer: Collected;
  #answerHead: Pick<CallAnswer, "status" | "headers"> = { status: 0, headers: {} };
  #firstByteMs: number | null = null;
  #isSent = false;
  #isEnded = false;

  /** Null: not a call to a model. */
  static begin(head: CallHead, sink: CallSink, room: CallRoom): Call | null {
    const api = apiOf(head.method, head.target);
    return api === null ? null : new Call({ ...head, api }, sink, room);
  }

  private constructor(head: CallHead & { api: ProviderApi }, sink: CallSink, room: CallRoom) {
    this.#head = head;
    this.#sink = sink;
    this.#request = new Collected(room);
    this.#answer = new Collected(room);
  }

  request(chunk: Uint8Array): void {
    this.#request.add(chunk);
  }

  requestEnd(): void {
    if (this.#isSent) return;
    this.#isSent = true;
    const about = { call: this.#call, atMs: this.#atMs, body: this.#request.bytes() };
    this.#send({ type: "request", ...this.#head, ...about }, this.#request);
  }

  answer(status: number, headers: Headers): void {
    this.#answerHead = { status, headers };
  }

  data(chunk: Uint8Array): void {
    this.#firstByteMs ??= performance.now() - this.#startMs;
    this.#answer.add(chunk);
  }

  /** The first call counts. */
  end(end: CallEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.requestEnd();
    const durationMs = performance.now() - this.#startMs;
    const times = { atMs: Date.now(), firstByteMs: this.#firstByteMs, durationMs };
    const about = { call: this.#call, body: this.#answer.bytes(), end, ...times };
    this.#send({ type: "answer", ...this.#answerHead, ...about }, this.#answer);
  }

  #send(message: CallMessage, collected: Collected): void {
    void this.#sink(message).finally(() => collected.drop());
  }
}
