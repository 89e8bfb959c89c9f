/**
 * Write-back: moves the contents of the journal into the log files and `meta.jsonl`, so that old
 * segments can be deleted. In the background; appends continue in a new segment.
 *
 * - A segment is deleted only after the files it touched, their names and the lines about them are
 *   durable; and not during a backup, but by a later write-back (meta-file.ts, MF4).
 * - The lines of a write-back describe streams at its lsn: states are taken when the new segment
 *   begins, and never change. Messages are looked up in the index, which keeps them.
 * - A failed sync ends the store's writing; the segments stay. A full disk does not: the write-back
 *   is tried again later.
 */

import { setImmediate } from "node:timers/promises";
import { errnoOf, isNoSpace, VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import type { CommitBatch } from "../commit/batch.ts";
import type { MessagePointer, StreamState } from "../commit/stream-state.ts";
import type { IndexBacklog } from "../files/lookup/index-backlog.ts";
import type { StreamIndex } from "../files/lookup/stream-index.ts";
import type { HandlePool } from "../files/reading/handle-pool.ts";
import type { ProducerTurn } from "../files/stream-store.ts";
import type { CommitJournal, Segment } from "./journal.ts";
import type { Op } from "./journal-record.ts";
import { encodeMetaLine, type MetaFile, type StreamLine } from "./meta-file.ts";

/** What happened to one stream since the last write-back. */
interface Touched {
  /** Where its new messages begin. */
  from: number;
  isNew: boolean;
  /** Created when needed: most streams have none, and there may be very many streams. */
  producers: Set<string> | null;
}

/** The contents of one write-back. */
interface Snapshot {
  readonly lsn: number;
  readonly segments: readonly Segment[];
  readonly streams: ReadonlyMap<string, { readonly state: StreamState; readonly touched: Touched }>;
  readonly files: ReadonlySet<string>;
  readonly records: ReadonlyMap<string, string | null>;
  readonly removals: ReadonlyMap<string, number>;
}

export interface WriteBackParts {
  readonly journal: CommitJournal;
  readonly journals: Directory;
  readonly logs: Directory;
  readonly meta: MetaFile;
  readonly pool: HandlePool;
  readonly index: StreamIndex;
  readonly backlog: IndexBacklog;
  stateOf(path: string): StreamState | null;
}

const MESSAGES_PER_LINE = 200;

/** Looking up so many takes about a tenth of a millisecond, during which nothing else runs. */
const MESSAGES_PER_LOOK = 40;

/** Node has four threads for blocking calls. */
const SYNCS_AT_ONCE = 3;

export class WriteBack {
  readonly #parts: WriteBackParts;
  #streams = new Map<string, Touched>();
  #files = new Set<string>();
  #records = new Map<string, string | null>();
  #removals = new Map<string, number>();
  /** Complete segments that no write-back covers yet. */
  #segments: Segment[] = [];
  #finishedBytes = 0;
  /** Segments that a write-back covers, but that a backup may still be copying. */
  #spent: Segment[] = [];
  #unfinished: Snapshot | null = null;

  constructor(parts: WriteBackParts, segments: readonly Segment[], bytes: number) {
    this.#parts = parts;
    this.#segments = [...segments];
    this.#finishedBytes = bytes;
  }

  /** Bytes of the journal that a restart would have to read. */
  get journalBytes(): number {
    return this.#finishedBytes + this.#parts.journal.bytes;
  }

  /** Whether there is anything to write. */
  get isDue(): boolean {
    return (
      this.#streams.size > 0 ||
      this.#files.size > 0 ||
      this.#records.size > 0 ||
      this.#unfinished !== null ||
      this.#segments.length > 0
    );
  }

  /** Remembers the changes of a batch. */
  note(batch: CommitBatch): void {
    for (const [path, change] of batch.changes) {
      const touched = this.#touched(path, change.from, change.dropsContents);
      for (const id of change.producers.keys()) addProducer(touched, id);
      if (change.bytes.length > 0) this.#files.add(change.state.file);
    }
    for (const file of batch.sidecars.keys()) this.#files.add(file);
    for (const [key, value] of batch.records) this.#records.set(key, value);
    for (const [file, atMs] of batch.removals) this.#removals.set(file, atMs);
  }

  /** The same for a journal record that is already in the index. */
  noteRecord(op: Op): void {
    if (op.op === "record") {
      this.#records.set(op.key, op.value);
      return;
    }
    if (op.op === "sign") {
      this.#files.add(op.file);
      return;
    }
    if (op.op === "delete") {
      const paths = [op.path, ...op.ended, ...(op.released === null ? [] : [op.released])];
      for (const path of paths) this.#touched(path, Infinity, false);
      for (const file of op.files) this.#removals.set(file, op.at);
      return;
    }
    const touched = this.#touched(op.path, op.from, op.op === "create");
    if (op.op === "append" && op.producer !== null) addProducer(touched, op.producer.id);
    if (op.op === "create" && op.fork !== null) this.#touched(op.fork.source, Infinity, false);
    if (op.bytes.length > 0) this.#files.add(op.file);
  }

  /** Whether the journal still has records about this file. */
  isAbout(file: string): boolean {
    return (
      this.#files.has(file) ||
      this.#removals.has(file) ||
      this.#unfinished?.files.has(file) === true ||
      this.#unfinished?.removals.has(file) === true
    );
  }

  /** Begins a new segment and takes all states; called between batches. */
  async begin(lastLsn: number): Promise<void> {
    if (this.#unfinished !== null) return;
    const { journal, backlog } = this.#parts;
    backlog.write(); // The lines of this write-back are looked up in the index.
    const bytes = journal.bytes;
    const finished = await journal.rotate(lastLsn + 1);
    const streams = new Map<string, { state: StreamState; touched: Touched }>();
    for (const [path, touched] of this.#streams) {
      const state = this.#parts.stateOf(path);
      if (state !== null) streams.set(path, { state, touched });
    }
    this.#unfinished = {
      lsn: lastLsn,
      segments: finished === null ? this.#segments : [...this.#segments, finished],
      streams,
      files: this.#files,
      records: this.#records,
      removals: this.#removals,
    };
    this.#streams = new Map();
    this.#files = new Set();
    this.#records = new Map();
    this.#removals = new Map();
    this.#segments = [];
    if (finished !== null) this.#finishedBytes += bytes;
  }

  /** Finishes what `begin` began; returns whether it could. */
  async finish(): Promise<boolean> {
    const snapshot = this.#unfinished;
    if (snapshot === null) return true;
    const { meta, index, journals, logs } = this.#parts;
    const bytes = this.#finishedBytes;
    await this.#syncFiles(snapshot.files);
    if (snapshot.files.size > 0) await logs.sync();
    try {
      await meta.append(this.#lines(snapshot), snapshot.lsn);
    } catch (cause) {
      if (isNoSpace(cause)) return false;
      throw cause;
    }
    index.transaction(() => {
      const { lsn } = index.applied();
      index.setApplied({ lsn, metaBytes: meta.end, storeId: meta.storeId });
    });
    this.#spent.push(...snapshot.segments);
    const isRemoved = meta.unlessHeld(() => {
      for (const { name } of this.#spent) removeIfThere(journals, name);
    });
    if (isRemoved) this.#spent = [];
    this.#finishedBytes -= bytes;
    this.#unfinished = null;
    return true;
  }

  #touched(path: string, from: number, isNew: boolean): Touched {
    let touched = this.#streams.get(path);
    if (touched === undefined || isNew) {
      touched = { from, isNew, producers: null };
      this.#streams.set(path, touched);
    } else if (from < touched.from) touched.from = from;
    return touched;
  }

  /** A few at a time: the disk does them together, and the journal still gets a thread. */
  async #syncFiles(files: ReadonlySet<string>): Promise<void> {
    const left = files.values();
    const syncSome = async () => {
      for (const file of left) await this.#syncFile(file);
    };
    await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, syncSome));
  }

  async #syncFile(file: string): Promise<void> {
    try {
      await this.#parts.pool.use(file, (log) => log.sync());
    } catch (cause) {
      // Its stream was deleted and its file removed.
      if (cause instanceof VerbatimError && errnoOf(cause.cause) === "ENOENT") return;
      throw cause;
    }
  }

  async *#lines(snapshot: Snapshot): AsyncGenerator<Uint8Array> {
    for (const { state, touched } of snapshot.streams.values()) {
      for await (const line of this.#streamLines(state, touched)) {
        yield encodeMetaLine(line);
        await setImmediate(); // Appends and reads go first.
      }
    }
    for (const [key, value] of snapshot.records)
      yield encodeMetaLine({ kind: "record", key, value });
    for (const [file, deletedAtMs] of snapshot.removals) {
      yield encodeMetaLine({ kind: "removal", file, deletedAtMs });
    }
  }

  async *#streamLines(state: StreamState, touched: Touched): AsyncGenerator<StreamLine> {
    const { index } = this.#parts;
    const { isNew } = touched;
    const producers = [...(touched.producers ?? [])]
      .map((id) => index.producer(state.path, id))
      .filter((turn): turn is ProducerTurn => turn !== null);
    const hasMessages = state.status !== "deleted" && touched.from < state.end;
    const start = hasMessages ? touched.from : state.end;
    const blocks = hasMessages ? index.blocks(state.path, blockBefore(start), state.end) : [];
    const line = { kind: "stream", state } as const;
    let from = start;
    let isFirst = true;
    do {
      const pointers = hasMessages ? await this.#pointers(state, from) : [];
      yield {
        ...line,
        isNew: isNew && isFirst,
        from,
        messages: flattened(pointers),
        blocks: isFirst ? blocks : [],
        producers: isFirst ? producers : [],
      };
      isFirst = false;
      from = pointers.at(-1)?.end ?? state.end;
    } while (from < state.end);
  }

  /** The messages of one line. */
  async #pointers(state: StreamState, from: number): Promise<MessagePointer[]> {
    const { index } = this.#parts;
    const pointers: MessagePointer[] = [];
    while (pointers.length < MESSAGES_PER_LINE) {
      const after = pointers.at(-1)?.end ?? from;
      const some = index.messages(state, after, state.end, MESSAGES_PER_LOOK);
      pointers.push(...some);
      if (some.length < MESSAGES_PER_LOOK) break;
      await setImmediate(); // Appends and reads go first.
    }
    return pointers;
  }
}

function addProducer(touched: Touched, id: string): void {
  touched.producers ??= new Set();
  touched.producers.add(id);
}

/** A block may begin before the messages that filled it, by less than the longest message. */
function blockBefore(start: number): number {
  return Math.max(0, start - 64 * 1024);
}

function flattened(pointers: readonly MessagePointer[]): number[] {
  const numbers: number[] = [];
  let before = 0;
  for (const { length, timestamp, crc } of pointers) {
    numbers.push(length, timestamp - before, crc);
    before = timestamp;
  }
  return numbers;
}

function removeIfThere(directory: Directory, name: string): void {
  try {
    directory.remove(name);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  }
}
