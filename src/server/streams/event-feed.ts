/**
 * Event feeds: reads and encodes new data once for all readers that have caught up.
 *
 * Readers catch up on their own (`event-reader.ts`) and join when they are at the feed's offset. All
 * readers of a feed are at its offset: a frame goes to each of them, or the reader is disconnected.
 * So none misses or repeats a message. The feed watches before it reads and reads again after each
 * change, so it misses no append.
 *
 * Event frames: a chunk as Server-Sent Events, one `data` and the `control` that follows it.
 *
 * Stored data cannot end an event or begin another: each of its lines follows `data:`. (SSE has no
 * other line ends than LF, CR and CRLF, and delivers all three as LF.) A parser removes one space
 * after the colon, so a line that begins with one gets a second.
 */

import { setImmediate } from "node:timers/promises";
import { VerbatimError } from "../../core/base/errors.ts";
import { repeat, type Time } from "../../core/base/time.ts";
import type { OffsetToken } from "../../streams/files/offset-token.ts";
import type { Chunk, StreamHead, StreamStore } from "../../streams/files/stream-store.ts";
import { currentCursor } from "./cursor.ts";
import { isFinal, joinLines } from "./reads.ts";

const KEEP_ALIVE_MS = 15_000;

/** A reader that has caught up. */
export interface FeedReader {
  /** `shared`: the frame with the control event that most readers get. */
  send(frame: EventFrame, shared: Uint8Array): void;
  keepAlive(): void;
  end(): void;
  cut(): void;
  /** `work` is called once, after the last frame. */
  onOver(work: () => void): void;
}

export interface FeedOptions {
  readonly store: StreamStore;
  readonly chunkBytes: number;
  readonly time: Time;
  readonly onFault: (what: string, cause: unknown) => void;
}

export class EventFeeds {
  readonly #options: FeedOptions;
  readonly #feeds = new Map<string, EventFeed>();

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Streams with live readers. */
  get count(): number {
    return this.#feeds.size;
  }

  /** Whether the reader, which has read up to `at`, is served from here on. */
  join(path: string, reader: FeedReader, at: OffsetToken): boolean {
    let feed = this.#feeds.get(path);
    if (feed === undefined) {
      feed = new EventFeed(this.#options, path, at, () => this.#feeds.delete(path));
      this.#feeds.set(path, feed);
    }
    return feed.join(reader, at);
  }

  /**
   * Resolves when the feed has no read in progress. Never immediately: a caller that asks in a loop
   * must let the awaited change happen.
   */
  async settled(path: string): Promise<void> {
    await (this.#feeds.get(path)?.settled ?? setImmediate());
  }
}

/** The frame with the control event, for readers without a cursor of their own. */
export function sharedFrame(frame: EventFrame, nowMs: number): Uint8Array {
  const control = Buffer.from(controlEvent(frame, currentCursor(nowMs)));
  return frame.data.length === 0 ? control : Buffer.concat([frame.data, control]);
}

class EventFeed {
  readonly #options: FeedOptions;
  readonly #path: string;
  readonly #readers = new Set<FeedReader>();
  readonly #unwatch: () => void;
  readonly #stopKeepAlive: () => void;
  readonly #onEmpty: () => void;
  #at: OffsetToken;
  #hasChanged = false;
  #pumping: Promise<void> | null = null;

  constructor(options: FeedOptions, path: string, at: OffsetToken, onEmpty: () => void) {
    this.#options = options;
    this.#path = path;
    this.#at = at;
    this.#onEmpty = onEmpty;
    this.#unwatch = options.store.watch(path, () => this.#changed());
    this.#stopKeepAlive = repeat(options.time, KEEP_ALIVE_MS, () => {
      for (const reader of this.#readers) reader.keepAlive();
    });
    this.#changed(); // Read what came between the first reader's read and our watch.
  }

  get settled(): Promise<void> | null {
    return this.#pumping;
  }

  join(reader: FeedReader, at: OffsetToken): boolean {
    if (at !== this.#at) return false;
    this.#readers.add(reader);
    reader.onOver(() => this.#leave(reader));
    return true;
  }

  #leave(reader: FeedReader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    this.#stopKeepAlive();
    this.#unwatch();
    this.#onEmpty();
  }

  #changed(): void {
    this.#hasChanged = true;
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = null;
      if (this.#hasChanged && this.#readers.size > 0) this.#changed();
    });
  }

  async #pump(): Promise<void> {
    try {
      while (this.#hasChanged) {
        this.#hasChanged = false;
        while (!(await this.#sendNext()));
      }
    } catch (error) {
      // A reader that reconnects receives the error. Unless it has ended, it is reset first.
      const isOurs = error instanceof VerbatimError;
      if (!isOurs) this.#options.onFault(`events of ${this.#path}`, error);
      const isDeleted = isOurs && DELETED.has(error.code);
      for (const reader of this.#readers) isDeleted ? reader.end() : reader.cut();
    }
  }

  /** Whether everything was sent. */
  async #sendNext(): Promise<boolean> {
    const { store, chunkBytes, time } = this.#options;
    const chunk = await store.read(this.#path, this.#at, chunkBytes);
    const frame = eventFrame(chunk);
    this.#at = chunk.next;
    if (frame.data.length > 0 || frame.isFinal) {
      const shared = sharedFrame(frame, time.nowMs());
      for (const reader of this.#readers) reader.send(frame, shared);
    }
    return chunk.isAtEnd || this.#readers.size === 0;
  }
}

const DELETED: ReadonlySet<string> = new Set(["STREAM_NOT_FOUND", "STREAM_GONE", "OFFSET_GONE"]);

/** Encoded once and sent to many readers; only the cursor may differ. */
export interface EventFrame {
  /** Empty for an empty chunk: then there is only a control event. */
  readonly data: Uint8Array;
  readonly next: string;
  readonly isAtEnd: boolean;
  readonly isFinal: boolean;
}

/** Binary data is sent as base64; a header says so. */
export function isBase64(head: StreamHead): boolean {
  return !head.isJson && !/^\s*text\//i.test(head.contentType);
}

export function eventFrame(chunk: Chunk): EventFrame {
  return {
    data: chunk.bytes.length === 0 ? chunk.bytes : dataEvent(chunk),
    next: chunk.next,
    isAtEnd: chunk.isAtEnd,
    isFinal: isFinal(chunk),
  };
}

/** The reader's offset after the frame. */
export function controlEvent({ next, isAtEnd, isFinal }: EventFrame, cursor: number): string {
  const place = `event: control\ndata:{"streamNextOffset":"${next}"`;
  if (isFinal) return `${place},"upToDate":true,"streamClosed":true}\n\n`;
  const upToDate = isAtEnd ? ',"upToDate":true' : "";
  return `${place},"streamCursor":"${cursor}"${upToDate}}\n\n`;
}

function dataEvent({ bytes, head }: Chunk): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isBase64(head)) return Buffer.from(`event: data\ndata:${buffer.toString("base64")}\n\n`);
  if (head.isJson) {
    // JSON is one line once its separators are commas.
    return Buffer.concat([
      Buffer.from("event: data\ndata:["),
      joinLines(buffer),
      Buffer.from("]\n\n"),
    ]);
  }
  // As latin1 each byte is a character and back, so invalid UTF-8 is passed on unchanged.
  const lines = buffer.toString("latin1").split(/\r\n|\r|\n/);
  const marked = lines.map((line) => (line.startsWith(" ") ? `data: ${line}` : `data:${line}`));
  return Buffer.from(`event: data\n${marked.join("\n")}\n\n`, "latin1");
}
