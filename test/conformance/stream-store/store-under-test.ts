/** What the suite needs of a store, and how its tests use it. */

import assert from "node:assert/strict";
import { onTestFinished } from "vitest";
import type { OffsetToken } from "../../../src/streams/files/offset-token.ts";
import type {
  Appended,
  AppendRequest,
  Created,
  CreateRequest,
  ReadFrom,
  StreamHead,
  StreamStore,
} from "../../../src/streams/files/stream-store.ts";

export interface StoreUnderTest {
  readonly name: string;
  /** A new place to keep streams in, which may be opened any number of times, once at a time. */
  newPlace(): StorePlace;
  /** How many random scripts are run; fewer where opening a store is slow. */
  readonly scripts?: number;
}

export interface StorePlace {
  /** `now` is the store's time. */
  open(now: () => number): Promise<StreamStore>;
}

export const JSON_TYPE = "application/json";
export const BINARY_TYPE = "application/octet-stream";

/** Enough for everything in one read. */
export const ALL = 64 * 1024 * 1024;

/** One store in one test, with the protocol's verbs: put, post. Closed when the test is over. */
export class TestStore {
  nowMs = 1_763_200_000_000;
  readonly #place: StorePlace;
  #store: StreamStore | null = null;

  private constructor(place: StorePlace) {
    this.#place = place;
  }

  static async open(under: StoreUnderTest): Promise<TestStore> {
    const streams = new TestStore(under.newPlace());
    onTestFinished(() => streams.#store?.close());
    await streams.restart();
    return streams;
  }

  get store(): StreamStore {
    assert.ok(this.#store);
    return this.#store;
  }

  /** Closes the store and opens it again. */
  async restart(): Promise<void> {
    await this.#store?.close();
    this.#store = await this.#place.open(() => this.nowMs);
  }

  put(path: string, request: Partial<CreateRequest> & { text?: string } = {}): Promise<Created> {
    const { text = "", ...rest } = request;
    const body = Buffer.from(text);
    const isFork = request.fork !== undefined;
    const type = isFork ? {} : { contentType: JSON_TYPE };
    return this.store.create(path, { body, isClosed: false, ...type, ...rest });
  }

  post(
    path: string,
    body: string | Uint8Array,
    request: Partial<AppendRequest> = {},
  ): Promise<Appended> {
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    return this.store.append(path, { body: bytes, close: false, ...request });
  }

  head(path: string): Promise<StreamHead> {
    return this.store.head(path);
  }

  /** The bytes from an offset to the end, read in pieces. */
  async bytes(path: string, from: ReadFrom = "start", bytesMax = ALL): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for (let at = from; ; ) {
      const chunk = await this.store.read(path, at, bytesMax);
      if (at !== "start") assert.equal(chunk.from, at);
      pieces.push(chunk.bytes);
      at = chunk.next;
      if (chunk.isAtEnd) break;
      assert.ok(chunk.bytes.length > 0, "a read before the end gives something");
    }
    return Buffer.concat(pieces);
  }

  async text(path: string, from: ReadFrom = "start", bytesMax = ALL): Promise<string> {
    return (await this.bytes(path, from, bytesMax)).toString("utf8");
  }

  /** The stream's messages as texts, with the offset after each. */
  async messages(path: string, from: ReadFrom = "start"): Promise<[string, OffsetToken][]> {
    const found: [string, OffsetToken][] = [];
    for await (const { data, offset } of this.store.messages(path, from)) {
      found.push([Buffer.from(data).toString("utf8"), offset]);
    }
    return found;
  }
}

/** The outcome, and the fact that belongs to it. */
export function outcomeOf(appended: Appended): string {
  switch (appended.outcome) {
    case "stale-epoch":
      return `stale-epoch ${appended.epoch}`;
    case "gap":
      return `gap ${appended.expected}`;
    case "appended":
    case "duplicate":
      return appended.lastSeq === null
        ? appended.outcome
        : `${appended.outcome} ${appended.lastSeq}`;
    default:
      return appended.outcome;
  }
}
