/**
 * Published streams: the state of each stream, as its readers and the next batch see it.
 *
 * The index has or will have all of them (lookup/index-backlog.ts); some are cached here: at most
 * `statesMax` states and as many producers, least recently written first out. A use of a stream
 * with a sliding lifetime is noted here first, and takes effect at once.
 */

import type { ProducerTurn } from "../stream-store.ts";
import { expiresAtMs, type StreamState } from "./stream-state.ts";

/** Looks up those that are not cached. */
export interface StateLookup {
  stream(path: string): StreamState | null;
  producer(path: string, id: string): ProducerTurn | null;
}

export class PublishedStreams {
  readonly #lookup: StateLookup;
  readonly #statesMax: number;
  readonly #states = new Map<string, StreamState>();
  /** By stream id and producer id. */
  readonly #producers = new Map<string, ProducerTurn>();
  readonly #touches = new Map<string, number>();

  constructor(lookup: StateLookup, statesMax: number) {
    this.#lookup = lookup;
    this.#statesMax = statesMax;
  }

  /** Null for a path that was never used. */
  get(path: string): StreamState | null {
    const known = this.#states.get(path);
    if (known !== undefined) return known;
    const state = this.#lookup.stream(path);
    if (state !== null) this.#keep(this.#states, path, state);
    return state;
  }

  set(state: StreamState): void {
    this.#keep(this.#states, state.path, state);
  }

  producer(state: StreamState, id: string): ProducerTurn | null {
    const key = producerKey(state, id);
    const known = this.#producers.get(key);
    if (known !== undefined) return known;
    const turn = this.#lookup.producer(state.path, id);
    if (turn !== null) this.#keep(this.#producers, key, turn);
    return turn;
  }

  setProducer(state: StreamState, turn: ProducerTurn): void {
    this.#keep(this.#producers, producerKey(state, turn.id), turn);
  }

  touch(path: string, atMs: number): void {
    if (this.get(path)?.lifetime.kind === "ttl") this.#touches.set(path, atMs);
  }

  /** Uses that are not written yet. */
  touches(): ReadonlyMap<string, number> {
    return new Map(this.#touches);
  }

  /** They are being written. Later uses still count. */
  touchesWritten(written: ReadonlyMap<string, number>): void {
    for (const [path, atMs] of written) {
      if (this.#touches.get(path) === atMs) this.#touches.delete(path);
    }
  }

  get hasTouches(): boolean {
    return this.#touches.size > 0;
  }

  isExpired(state: StreamState, nowMs: number): boolean {
    if (state.lifetime.kind === "forever") return false;
    const touchedAtMs = Math.max(state.touchedAtMs, this.#touches.get(state.path) ?? 0);
    const endsAtMs = expiresAtMs(state.lifetime, touchedAtMs);
    return endsAtMs !== null && endsAtMs <= nowMs;
  }

  #keep<T>(kept: Map<string, T>, key: string, value: T): void {
    kept.delete(key);
    kept.set(key, value);
    if (kept.size <= this.#statesMax) return;
    for (const oldest of kept.keys()) {
      kept.delete(oldest);
      return;
    }
  }
}

function producerKey(state: StreamState, id: string): string {
  return `${state.streamId}\0${id}`;
}
