/**
 * Event feeds: reads and encodes new data once for all readers that have caught up.
 *
 * Readers catch up on their own (`event-reader.ts`) and join when they are at the feed's offset. All
 * readers of a feed are at its offset: a frame goes to each of them, or the reader is disconnected.
 * So none misses or repeats a message. The feed watches before it reads and reads again after each
 * change, so it misses no append.
 */

import { setImmediate } from "node:timers/promises";
import { VerbatimError } from "../../core/base/errors.ts";
import { repeat, type Time } from "../../core/base/time.ts";
import type { OffsetToken } from "../../streams/files/offset-token.ts";
import type { StreamStore } from "../../streams/files/stream-store.ts";
import { currentCursor } from "./cursor.ts";
import { controlEvent, type EventFrame, eventFrame } from "./event-frame.ts";

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
