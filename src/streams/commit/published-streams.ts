/**
 * Published streams: the state of each stream, as its readers and the next batch see it.
 *
 * The index has or will have all of them (lookup/index-backlog.ts); some are cached here: at most
 * `statesMax` states and as many producers, least recently written first out. A use of a stream
 * with a sliding lifetime is noted here first, and takes effect at once.
 */

import type { StreamIndex, StreamKey } from "../files/lookup/stream-index.ts";
import type { ProducerTurn, StreamHead } from "../files/stream-store.ts";
import type { CommitBatch } from "./batch.ts";
import { expiresAtMs, headOf, type MessagePointer, type StreamState } from "./stream-state.ts";

type OnChange = (head: StreamHead | null) => void;
export type OnAnyChange = (path: string, head: StreamHead | null) => void;
export type OnRemoved = (path: string) => void;

/** Callbacks for changes of streams. */
export class Watchers {
  readonly #ofOne = new Map<string, Set<OnChange>>();
  readonly #ofPrefix = new Map<OnAnyChange, string>();
  readonly #ofRemoved = new Map<OnRemoved, string>();

  watch(path: string, onChange: OnChange): () => void {
    const watching = this.#ofOne.get(path) ?? new Set();
    // A new function, so that the same callback may watch twice.
    const listener: OnChange = (head) => onChange(head);
    watching.add(listener);
    this.#ofOne.set(path, watching);
    return () => {
      watching.delete(listener);
      if (watching.size === 0 && this.#ofOne.get(path) === watching) this.#ofOne.delete(path);
    };
  }

  watchPrefix(prefix: string, onChange: OnAnyChange): () => void {
    const listener: OnAnyChange = (path, head) => onChange(path, head);
    this.#ofPrefix.set(listener, prefix);
    return () => {
      this.#ofPrefix.delete(listener);
    };
  }

  watchRemoved(prefix: string, onRemoved: OnRemoved): () => void {
    const listener: OnRemoved = (path) => onRemoved(path);
    this.#ofRemoved.set(listener, prefix);
    return () => {
      this.#ofRemoved.delete(listener);
    };
  }

  /** The paths and prefixes whose changes are waited for. */
  get watched(): { readonly paths: readonly string[]; readonly prefixes: readonly string[] } {
    return { paths: [...this.#ofOne.keys()], prefixes: [...new Set(this.#ofPrefix.values())] };
  }

  get removalPrefixes(): readonly string[] {
    return [...new Set(this.#ofRemoved.values())];
  }

  get isWatching(): boolean {
    return this.#ofOne.size > 0 || this.#ofPrefix.size > 0;
  }

  isWatched(path: string): boolean {
    if (this.#ofOne.has(path)) return true;
    for (const prefix of this.#ofPrefix.values()) if (path.startsWith(prefix)) return true;
    return false;
  }

  /** A stream is as it says now, and may have changed. */
  note(state: StreamState): void {
    if (state.status !== "live") this.tell(state.path, null);
    else if (this.isWatched(state.path)) this.tell(state.path, headOf(state));
  }

  tell(path: string, head: StreamHead | null): void {
    for (const onChange of [...(this.#ofOne.get(path) ?? [])]) undisturbed(() => onChange(head));
    for (const [onChange, prefix] of [...this.#ofPrefix]) {
      if (path.startsWith(prefix)) undisturbed(() => onChange(path, head));
    }
    if (head === null) this.tellRemoved(path);
  }

  tellRemoved(path: string): void {
    for (const [onRemoved, prefix] of [...this.#ofRemoved]) {
      if (path.startsWith(prefix)) undisturbed(() => onRemoved(path));
    }
  }
}

/** A watcher's error becomes an uncaught exception and does not stop other work. */
function undisturbed(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

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
    const newest = this.#states.get(path);
    if (newest !== undefined) return newest;
    const state = this.#lookup.stream(path);
    if (state !== null) this.#keep(this.#states, path, state);
    return state;
  }

  set(state: StreamState): void {
    this.#keep(this.#states, state.path, state);
  }

  producer(state: StreamState, id: string): ProducerTurn | null {
    const key = producerKey(state, id);
    const newestTurn = this.#producers.get(key);
    if (newestTurn !== undefined) return newestTurn;
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

  #keep<T>(entries: Map<string, T>, key: string, value: T): void {
    entries.delete(key);
    entries.set(key, value);
    if (entries.size <= this.#statesMax) return;
    for (const oldest of entries.keys()) {
      entries.delete(oldest);
      return;
    }
  }
}

function producerKey(state: StreamState, id: string): string {
  return `${state.streamId}\0${id}`;
}

export type MessageLookup = Pick<StreamIndex, "messages" | "lastEnd">;

/**
 * Where messages end, including those of a batch that is not written yet: a fork
 * may begin in a message of its own batch.
 */
export function lookupIn(index: MessageLookup, batch: CommitBatch): MessageLookup {
  return {
    messages(stream, after, upTo, limit) {
      const written = isReplaced(stream) ? [] : index.messages(stream, after, upTo, limit);
      const found = [...written, ...pending(stream, after, upTo)];
      return limit === undefined ? found : found.slice(0, limit);
    },
    lastEnd(stream, after, upTo) {
      const last = pending(stream, after, upTo).at(-1)?.end;
      return last ?? (isReplaced(stream) ? null : index.lastEnd(stream, after, upTo));
    },
  };

  function pending({ path }: StreamKey, after: number, upTo: number): readonly MessagePointer[] {
    const pointers = batch.changes.get(path)?.pointers ?? [];
    return pointers.filter(({ end }) => end > after && end <= upTo);
  }

  /** The index rows of this path belong to another stream. */
  function isReplaced({ path }: StreamKey): boolean {
    return batch.changes.get(path)?.dropsContents === true;
  }
}
