/**
 * Local reads: the state, bytes and messages of the streams of a local store.
 *
 * Every answer is of a stream that lives, and whose history is the one that was signed.
 */

import type { VerbatimError } from "../../core/base/errors.ts";
import { livingStream, streamNotFound } from "../commit/decide.ts";
import type { PublishedStreams } from "../commit/published-streams.ts";
import { headOf, type StreamState } from "../commit/stream-state.ts";
import type { SignedHistory } from "../signing/signed-history.ts";
import type { StreamIndex } from "./lookup/stream-index.ts";
import { formatOffset, type OffsetToken } from "./offset-token.ts";
import { placeIn } from "./reading/forks.ts";
import { ReadAhead, type StreamReader } from "./reading/stream-reader.ts";
import type { Chunk, ReadFrom, StreamHead, StreamMessage } from "./stream-store.ts";

const FORKS_TOGETHER = 64;

interface Parts {
  readonly index: StreamIndex;
  readonly reader: StreamReader;
  readonly history: SignedHistory;
  readonly published: PublishedStreams;
  readonly now: () => number;
}

export class LocalReads {
  readonly #parts: Parts;
  readonly #ahead: ReadAhead;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#ahead = new ReadAhead((stream, from, max) => parts.reader.read(stream, from, max));
  }

  async head(path: string): Promise<StreamHead> {
    const state = this.living(path);
    await this.#parts.history.check(state);
    return headOf(state);
  }

  async read(path: string, from: ReadFrom, bytesMax: number): Promise<Chunk> {
    const state = this.living(path);
    await this.#parts.history.check(state);
    const start = from === "start" ? 0 : placeIn(state, from);
    const bytes = await this.#ahead.read(state, start, bytesMax).catch((error: unknown) => {
      throw this.#isSame(state) ? error : streamNotFound(path); // It was deleted during the read.
    });
    const next = start + bytes.length;
    return {
      head: headOf(state),
      bytes,
      from: formatOffset(state.readSeq, start),
      next: formatOffset(state.readSeq, next),
      isAtEnd: next === state.end,
    };
  }

  /** With `onDamaged`, damaged messages are reported there and skipped; without, they throw. */
  async *messages(
    path: string,
    from: ReadFrom,
    onDamaged?: (offset: OffsetToken) => void,
  ): AsyncGenerator<StreamMessage> {
    const stream = this.living(path);
    await this.#parts.history.check(stream);
    let place = from === "start" ? 0 : placeIn(stream, from);
    while (place < stream.end) {
      if (!this.#isSame(stream)) throw streamNotFound(path);
      const messages = await this.#parts.reader.messages(stream, place);
      for (const message of messages) {
        if (message.damage === null) yield message;
        else if (onDamaged === undefined) throw message.damage;
        else onDamaged(message.offset);
      }
      place = placeIn(stream, messages.at(-1)?.offset ?? "");
    }
  }

  /** How many messages a stream has. */
  async messageCount(path: string): Promise<number> {
    return this.#parts.reader.count(this.living(path));
  }

  /** Why forks are not served: their history is not the one that was signed. */
  refusedForks(): Promise<VerbatimError[]> {
    return this.#parts.history.refused(this.#forks());
  }

  async *#forks(): AsyncGenerator<readonly StreamState[]> {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const forks = this.#parts.index.forkedStreams(after, FORKS_TOGETHER);
      yield forks;
      after = forks.at(-1)?.path;
    }
  }

  async list(request: { after?: string | undefined; limit: number }): Promise<StreamHead[]> {
    const heads: StreamHead[] = [];
    for (let after = request.after ?? ""; heads.length < request.limit; ) {
      const states = this.#parts.index.liveStreams(after, request.limit - heads.length);
      const last = states.at(-1);
      if (last === undefined) break;
      for (const state of states) if (!this.#isExpired(state)) heads.push(headOf(state));
      after = last.path;
    }
    return heads;
  }

  /** Throws if the path has no stream, or none any more. */
  living(path: string): StreamState {
    return livingStream(path, this.#parts.published.get(path), (state) => this.#isExpired(state));
  }

  #isExpired(state: StreamState): boolean {
    return this.#parts.published.isExpired(state, this.#parts.now());
  }

  #isSame({ path, streamId }: StreamState): boolean {
    const state = this.#parts.published.get(path);
    return state?.streamId === streamId && state.status === "live";
  }
}
