/**
 * Freshen index: brings the search index up to date with the logs of stores, reading only what is new.
 *
 * - A session that grew is continued where indexing ended, if the bytes up to there look unchanged;
 *   one that was rewritten is indexed again. Compared are its beginning and the end of the indexed
 *   part: a log only grows, and a user who edits one by hand rebuilds the index. A session of a
 *   program that rewrites its sessions, or keeps rows, is always indexed again.
 * - Works in pieces: between two of them other work can run, and finished pieces are kept.
 * - Oldest first, over all stores, so that later index entries are the more recent ones, judging by
 *   when a log last changed (sessions/search/index-table.ts, IT1).
 */

import { existsSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { listedAside } from "../../dialects/facets/reading.ts";
import { iterateLogs, type Unreadable } from "../../dialects/find.ts";
import type { FoundLog } from "../../dialects/session-row.ts";
import type { FreshenProgress } from "../catalog/catalog.ts";
import type { LogState } from "../catalog/table.ts";
import type { FoundStore } from "../list/find-stores.ts";
import { markOf, SessionWindow } from "../list/session-window.ts";
import type { Session } from "../store/session.ts";
import { Store } from "../store/store.ts";
import { repeatedRows } from "../summary/summary-lines.ts";
import { IndexFold } from "./index-fold.ts";
import type { IndexedPlace, IndexedSession } from "./index-table.ts";
import { isIndexed, type NewPiece, type SearchIndex } from "./search-index.ts";

/** How much is done per piece. */
export interface IndexPace {
  /**
   * Lines, and their bytes, that are read and written before other work can run; at least one line.
   */
  readonly lines: number;
  readonly bytes: number;
  /** Pages of the index that are merged after each piece. */
  readonly mergePages: number;
}

/** For a command that a user waits for. */
export const HURRIED: IndexPace = { lines: 8_192, bytes: 2 ** 22, mergePages: 256 };
/** For a server with other work to do: a piece takes a few milliseconds. */
export const PATIENT: IndexPace = { lines: 32, bytes: 2 ** 15, mergePages: 4 };

export interface IndexOptions {
  readonly pace: IndexPace;
  readonly signal?: AbortSignal;
  /** Sessions read so far, of those that have changed, and bytes of a long one that is read. */
  readonly onProgress?: FreshenProgress;
  /** A session, or a path, that cannot be read; it is retried the next time. */
  readonly onFailure: (id: string, cause: unknown) => void;
  /** Warnings of the stores. */
  readonly onWarning?: (warning: string) => void;
  /** Each log, in the order in which they are found, and whether the index has it as it is. */
  readonly onLog?: (log: FoundLog, isIndexed: boolean) => void;
}

/** Logs that are checked before other work can run. */
const LOOKED_AT = 128;
const REMOVED_AT_ONCE = 256;
/** Retries for a session that another process indexes at the same time. */
const ATTEMPTS_MAX = 8;
const READ_AGAIN_BYTES = 2 ** 20;

/** Returns whether it finished. */
export async function freshenIndex(
  host: Host,
  index: SearchIndex,
  places: readonly FoundStore[],
  options: IndexOptions,
): Promise<boolean> {
  const { signal, onProgress = () => {}, onFailure, onWarning = () => {} } = options;
  const stale: { store: Store; log: FoundLog }[] = [];
  for (const { dialect, root } of places) {
    const store = new Store(host, { dialect, root, onWarning });
    const changed = await changes(index, store, options);
    if (changed.isNew) await forgetGonePlaces(index);
    for (const id of changed.gone) {
      if (signal?.aborted) return false;
      await removeSession(index, store, id);
    }
    for (const log of changed.stale) stale.push({ store, log });
  }
  stale.sort((a, b) => a.log.mtimeMs - b.log.mtimeMs);
  const batch = new PieceBatch(index, options.pace);
  for (const [done, { store, log }] of stale.entries()) {
    if (signal?.aborted) break;
    onProgress(done, stale.length);
    try {
      const onBytes = (bytes: number) => onProgress(done, stale.length, [bytes, log.size]);
      await indexSession(host, batch, store, log, { signal, onBytes });
    } catch (cause) {
      if (signal?.aborted) break;
      if (!isOfSession(cause)) throw cause;
      onFailure(log.id, cause);
    }
  }
  await batch.flush();
  if (signal?.aborted) return false;
  if (stale.length > 0) onProgress(stale.length, stale.length);
  return true;
}

/** The logs that differ from the index, and the indexed sessions that have no log any more. */
async function changes(
  index: SearchIndex,
  { dialect, root }: Store,
  { onFailure, onLog, signal }: IndexOptions,
): Promise<{ stale: FoundLog[]; gone: Iterable<string>; isNew: boolean }> {
  const onUnreadable = ({ id, path, cause }: Unreadable) => onFailure(id ?? path, cause);
  const states = new Map<string, LogState>();
  for await (const piece of index.known({ dialect, root })) {
    for (const [id, state] of piece) states.set(id, state);
    await nextTurn();
  }
  const isNew = states.size === 0;
  const stale: FoundLog[] = [];
  let looked = 0;
  for (const log of iterateLogs(root, dialectNamed(dialect).naming.layout, { onUnreadable })) {
    const isKnown = isIndexed(states.get(log.id), log);
    if (!isKnown) stale.push(log);
    onLog?.(log, isKnown);
    states.delete(log.id);
    if (++looked % LOOKED_AT === 0) await nextTurn();
    if (signal?.aborted) return { stale: [], gone: [], isNew: false };
  }
  return { stale, gone: states.keys(), isNew };
}

/**
 * Runs when a place is added: forgets places that are gone, so that the index grows only with the
 * disk.
 */
async function forgetGonePlaces(index: SearchIndex): Promise<void> {
  for (const place of await index.places()) {
    if (existsSync(place.root)) continue;
    for await (const state of index.known(place)) {
      for (const id of state.keys()) await removeSession(index, place, id);
    }
    await index.removePlace(place);
  }
}

/** Brings one session up to date, unless another process does (SI2). */
async function indexSession(
  host: Host,
  batch: PieceBatch,
  store: Store,
  log: FoundLog,
  reading: PieceReading,
): Promise<void> {
  const { index } = batch;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const session = store.session(log.id);
    const window = await SessionWindow.open(host, session);
    try {
      const indexed = await index.session(store, log.id);
      if (indexed !== null && isIndexed(indexed, log)) return; // Another process has done it.
      // Lines that were indexed may have changed.
      const isRewritten = (session.dialect.program?.changes ?? "grows") !== "grows";
      const isSame = indexed !== null && !isRewritten && (await isGrown(window, indexed, log));
      if (indexed !== null && !isSame) await removeSession(index, store, log.id);
      const open = { store, session, window };
      if (await indexFrom(batch, open, isSame ? indexed : null, log, reading)) return;
    } finally {
      window.close();
      await session.release();
    }
  }
}

interface PieceReading {
  readonly signal: AbortSignal | undefined;
  /** Hears how far a session is indexed that takes several pieces. */
  readonly onBytes: (bytes: number) => void;
}

interface Indexed {
  readonly store: Store;
  readonly session: Session;
  readonly window: SessionWindow;
}

/** True if done or given up; false if another process was faster. */
async function indexFrom(
  batch: PieceBatch,
  { store, session, window }: Indexed,
  from: IndexedSession | null,
  log: FoundLog,
  { signal, onBytes }: PieceReading,
): Promise<boolean> {
  const { pace } = batch;
  let before = from;
  let indexedTo = from?.indexedTo ?? 0;
  const fold = new IndexFold(from?.state ?? undefined);
  const memory = session.dialect.reading.remembers?.(from?.state?.memory);
  const isRepeated = repeatedRows(session.dialect, store.root, log.id);
  const limits = { entriesMax: pace.lines, bytesMax: pace.bytes, signal };
  for (;;) {
    const start = indexedTo;
    const lines = start < window.end ? await window.after(start, limits, memory) : [];
    for (const { entry, start: at, end } of lines) {
      if (entry !== null && !isRepeated(entry.native)) {
        const { reading } = session.dialect;
        const aside = listedAside(reading, entry.native, log.id);
        fold.add(entry, at, aside, reading.agentSaidIn?.(entry.native) ?? null);
      }
      indexedTo = end;
    }
    const isDone = indexedTo >= window.end || lines.length === 0;
    const state = { ...fold.state(), ...(memory && { memory: memory.state() }) };
    const progress = {
      indexedTo,
      mark: await markOf(window.log, indexedTo),
      agent: isDone ? await store.summaries().agent(log.id, state.agent) : null,
      state,
      log: isDone ? log : null,
    };
    const piece = { place: store, id: log.id, before, piece: fold.take(), progress };
    if (isDone) {
      // Written together with pieces of others: most sessions are short.
      await batch.add(piece, indexedTo - start);
      return true;
    }
    before = await batch.addNow(piece);
    if (before === null) return false;
    onBytes(indexedTo);
    if (signal?.aborted) return true;
  }
}

/**
 * Pieces of several sessions that are written together. A piece that another process has overtaken
 * is dropped: its session has changed or is in the index; if not, the next update finds it (SI2).
 */
class PieceBatch {
  readonly index: SearchIndex;
  readonly pace: IndexPace;
  #pieces: NewPiece[] = [];
  #bytes = 0;

  constructor(index: SearchIndex, pace: IndexPace) {
    this.index = index;
    this.pace = pace;
  }

  async add(piece: NewPiece, bytes: number): Promise<void> {
    this.#pieces.push(piece);
    this.#bytes += bytes;
    const isFull = this.#bytes >= this.pace.bytes || this.#pieces.length >= this.pace.lines;
    if (isFull) await this.flush();
  }

  /** Returns the session's new state; null if another process was faster. */
  async addNow(piece: NewPiece): Promise<IndexedSession | null> {
    this.#pieces.push(piece);
    return (await this.flush()).at(-1) ?? null;
  }

  async flush(): Promise<(IndexedSession | null)[]> {
    if (this.#pieces.length === 0) return [];
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    const results = await this.index.add(pieces);
    await this.index.merge(this.pace.mergePages);
    await nextTurn();
    return results;
  }
}

async function removeSession(index: SearchIndex, place: IndexedPlace, id: string): Promise<void> {
  while (!(await index.remove(place, id, REMOVED_AT_ONCE))) await nextTurn();
}

/**
 * Whether the indexed part looks unchanged. A short log that changed without growing is indexed
 * again. A long one is not: opening it to append changes it without growth, too.
 */
async function isGrown(
  window: SessionWindow,
  { indexedTo, mark, size }: IndexedSession,
  log: FoundLog,
): Promise<boolean> {
  if (indexedTo > window.end || mark === "") return false;
  if (log.size === size && size <= READ_AGAIN_BYTES) return false;
  return (await markOf(window.log, indexedTo)) === mark;
}

function isOfSession(cause: unknown): boolean {
  return cause instanceof VerbatimError && cause.code !== "CATALOG_UNAVAILABLE";
}
