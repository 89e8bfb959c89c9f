/**
 * Event reader: one connection that receives events.
 *
 * The buffer of a reader is bounded: one with more than the limit waiting when the next frame comes
 * is disconnected; it reconnects and continues at its last offset.
 *
 * ER2  A connection cut inside an event is reset, not ended, so that no client takes half an event
 *      for a complete one.
 */

import type { ServerResponse } from "node:http";
import type { Chunk, ReadFrom, StreamHead } from "../../streams/files/stream-store.ts";
import type { Admission } from "../auth/gate.ts";
import type { ServerContext } from "../context.ts";
import { badRequest, newHeaders } from "../http/answer.ts";
import type { ReadQuery } from "../http/target.ts";
import { currentCursor, cursorAfter } from "./cursor.ts";
import {
  controlEvent,
  type EventFrame,
  eventFrame,
  type FeedReader,
  isBase64,
  sharedFrame,
} from "./event-feed.ts";
import { keepTouched } from "./live-wait.ts";
import { readChunk, readFrom } from "./reads.ts";

const LIFETIME_SPREAD = 0.1;

export class EventReader implements FeedReader {
  readonly #context: ServerContext;
  readonly #response: ServerResponse;
  /** Cursors must be greater than the client's own. */
  readonly #cursorMin: number;
  readonly #cleanup: (() => void)[] = [];
  #onDrain: () => void = () => {};
  #isOver = false;

  constructor(
    context: ServerContext,
    response: ServerResponse,
    cursor: string | undefined,
    pass: Admission | null,
  ) {
    this.#context = context;
    this.#response = response;
    this.#cursorMin = cursorAfter(cursor, context.time.nowMs(), context.random);
    this.#cleanup.push(context.readers.add(() => this.end(), pass));
    response.on("close", () => this.#finish());
    if (response.destroyed) this.#finish(); // It left before we listened.
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  onOver(work: () => void): void {
    if (this.#isOver) work();
    else this.#cleanup.push(work);
  }

  begin(head: StreamHead): void {
    if (this.#isOver) return; // There would be nothing to stop the timers.
    const { settings, random, store, readers, time } = this.#context;
    const headers = newHeaders();
    headers.push("Content-Type", "text/event-stream", "Cache-Control", "no-cache, no-transform");
    if (isBase64(head)) headers.push("Stream-SSE-Data-Encoding", "base64");
    this.#response.writeHead(200, headers);
    // Spread out: readers that came together should not reconnect together.
    const spread = 1 + LIFETIME_SPREAD * (2 * random() - 1);
    const cancel = time.setTimer(settings.eventStreamMs * spread, () => this.end());
    this.#cleanup.push(cancel, keepTouched(store, head, time));
    if (readers.isStopping) this.end();
  }

  send(frame: EventFrame, shared: Uint8Array): void {
    if (this.#isOver) return;
    const response = this.#response;
    if (response.writableLength > this.#context.settings.readerBufferBytesMax) {
      this.cut();
      return;
    }
    if (this.#cursorMin <= currentCursor(this.#context.time.nowMs())) {
      response.write(shared);
    } else {
      response.cork();
      if (frame.data.length > 0) response.write(frame.data);
      response.write(controlEvent(frame, this.#cursorMin));
      response.uncork();
    }
    if (frame.isFinal) this.end();
  }

  /** A comment line, so that no proxy closes a silent connection. */
  keepAlive(): void {
    if (!this.#isOver && this.#response.writableLength === 0) this.#response.write(":\n\n");
  }

  /** Resolves when everything was sent, or never will be. */
  async drained(): Promise<void> {
    const response = this.#response;
    if (this.#isOver || !response.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      this.#onDrain = resolve;
      response.once("drain", resolve);
    });
  }

  end(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#response.end();
  }

  cut(): void {
    this.#finish();
    this.#response.destroy();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const work of this.#cleanup.splice(0)) work();
    this.#onDrain();
  }
}

/**
 * `GET` with `live=sse`. Sends the existing data chunk by chunk, then new data, until the
 * stream is closed, the reader leaves or loses its permission, or its time is over.
 */
export async function streamEvents(
  context: ServerContext,
  path: string,
  query: ReadQuery,
  response: ServerResponse,
  pass: Admission | null,
): Promise<void> {
  if (query.offset === undefined) throw badRequest("offset", "is missing; a live read needs one");
  const asked = readFrom(query.offset);
  const from = asked === "now" ? (await context.store.head(path)).end : asked;
  // Before the head is written, so that a failed read gets an error status.
  const first = await heldChunk(context, path, from, response);
  const reader = new EventReader(context, response, query.cursor, pass);
  reader.begin(first.chunk.head);
  try {
    await catchUp(context, path, reader, response, first);
  } catch (error) {
    reader.cut();
    throw error;
  }
}

/** A chunk that counts as a held answer until it is released. */
interface HeldChunk {
  readonly chunk: Chunk;
  readonly letGo: () => void;
}

async function heldChunk(
  context: ServerContext,
  path: string,
  from: ReadFrom,
  response: ServerResponse,
): Promise<HeldChunk> {
  const chunk = await readChunk(context, path, from);
  return { chunk, letGo: context.answers.hold(response, chunk.bytes.length) };
}

async function catchUp(
  context: ServerContext,
  path: string,
  reader: EventReader,
  response: ServerResponse,
  first: HeldChunk,
): Promise<void> {
  const { feeds } = context;
  let held = first;
  for (;;) {
    const { chunk, letGo } = held;
    const frame = eventFrame(chunk);
    if (held === first || frame.data.length > 0 || frame.isFinal) {
      reader.send(frame, sharedFrame(frame, context.time.nowMs()));
    }
    // A slow reader holds one chunk at a time.
    await reader.drained();
    letGo();
    if (reader.isOver) return;
    if (chunk.isAtEnd) {
      if (feeds.join(path, reader, chunk.next)) return;
      await feeds.settled(path); // The feed is behind us, or there is more to read.
    }
    held = await heldChunk(context, path, chunk.next, response);
  }
}
