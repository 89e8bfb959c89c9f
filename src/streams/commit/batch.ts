/**
 * Batch: the changes that become durable together, computed on drafts before anything is written.
 *
 * Applies records, both of new requests and of a journal that is replayed: one piece of code, so
 * that a stream is the same after a crash. `decide.ts` says what a request may do.
 *
 * A batch changes only itself. If it is dropped, it leaves no trace; published states are never
 * written to.
 */

import type { ProducerTurn } from "../files/stream-store.ts";
import type { AppendOp, CreateOp, DeleteOp, Op, SignOp } from "../journal/journal-record.ts";
import { crcOf } from "../journal/journal-record.ts";
import {
  draftOf,
  type MessageBlock,
  type MessagePointer,
  type StreamDraft,
  type StreamState,
} from "./stream-state.ts";

/** How long a run of messages grows before it becomes a block. */
export const BLOCK_BYTES = 64 * 1024;

/** What a batch changes in one stream. */
export interface StreamChange {
  state: StreamDraft;
  /** The index rows of this path belong to another stream, or there are none. */
  dropsContents: boolean;
  /** Bytes for its file, from `filePos` on. */
  readonly bytes: Uint8Array[];
  filePos: number;
  /** The offset of the first new message. */
  from: number;
  readonly pointers: MessagePointer[];
  readonly blocks: MessageBlock[];
  readonly producers: Map<string, ProducerTurn>;
}

/** The state before the batch. */
export interface PublishedState {
  get(path: string): StreamState | null;
  producer(state: StreamState, id: string): ProducerTurn | null;
}

export class CommitBatch {
  readonly changes = new Map<string, StreamChange>();
  readonly records = new Map<string, string | null>();
  /** Files of deleted streams, and since when. */
  readonly removals = new Map<string, number>();
  /** Checkpoints for sidecar files, by file. */
  readonly sidecars = new Map<string, SignOp>();
  readonly ops: Op[] = [];
  readonly #published: PublishedState;

  constructor(published: PublishedState) {
    this.#published = published;
  }

  /** The state once this batch is published; null for a path that was never used. */
  state(path: string): StreamState | null {
    return this.changes.get(path)?.state ?? this.#published.get(path);
  }

  producer(state: StreamState, id: string): ProducerTurn | null {
    const change = this.changes.get(state.path);
    const turn = change?.producers.get(id);
    if (turn !== undefined) return turn;
    return change?.dropsContents === true ? null : this.#published.producer(state, id);
  }

  /** The effects of deleting a stream, including sources held only for it. */
  deletion(stream: StreamState, at: number): DeleteOp {
    const ended: string[] = [];
    const files: string[] = [];
    let released: string | null = null;
    for (let dying = stream.forks === 0 ? stream : null; dying !== null; ) {
      ended.push(dying.path);
      // A fork without a byte of its own may still have a checkpoint.
      if (dying.end > dying.base || dying.base > 0) files.push(dying.file);
      const source: StreamState | null = dying.fork === null ? null : this.state(dying.fork.source);
      const isLast = source?.status === "held" && source.forks === 1;
      if (!isLast) released = source?.path ?? null;
      dying = isLast ? source : null;
    }
    return { op: "delete", path: stream.path, at, ended, files, released };
  }

  add(op: Op): void {
    this.ops.push(op);
    this.carryOut(op);
  }

  /** The same for a record that is already in the journal. */
  carryOut(op: Op): void {
    if (op.op === "append") this.#append(op);
    else if (op.op === "create") this.#create(op);
    else if (op.op === "delete") this.#delete(op);
    else if (op.op === "sign") this.sidecars.set(op.file, op);
    else this.records.set(op.key, op.value);
  }

  /** Notes that a stream was used; written along with the rest. */
  touch(path: string, atMs: number): void {
    const { state } = this.#change(path);
    if (atMs > state.touchedAtMs) state.touchedAtMs = atMs;
  }

  #append(op: AppendOp): void {
    const change = this.#change(op.path);
    const { state } = change;
    addContent(change, op);
    if (op.producer !== null) change.producers.set(op.producer.id, op.producer);
    if (op.streamSeq !== null) state.streamSeq = op.streamSeq;
    if (op.close) {
      state.isClosed = true;
      state.closedBy = op.producer;
    }
    state.touchedAtMs = op.at;
  }

  #create(op: CreateOp): void {
    const change: StreamChange = {
      state: newState(op),
      dropsContents: true,
      bytes: [],
      filePos: op.pos,
      from: op.from,
      pointers: [],
      blocks: [],
      producers: new Map(),
    };
    this.changes.set(op.path, change);
    if (op.fork !== null) this.#change(op.fork.source).state.forks++;
    addContent(change, op);
  }

  #delete({ path, at, ended, files, released }: DeleteOp): void {
    const { state } = this.#change(path);
    state.deletedAtMs = at;
    state.status = "held";
    for (const dead of ended) this.#bury(this.#change(dead));
    for (const file of files) this.removals.set(file, at);
    if (released !== null) this.#change(released).state.forks--;
  }

  #bury(change: StreamChange): void {
    change.state.status = "deleted";
    change.state.forks = 0;
    change.dropsContents = true;
    change.bytes.length = 0;
    change.pointers.length = 0;
    change.blocks.length = 0;
    change.producers.clear();
  }

  #change(path: string): StreamChange {
    let change = this.changes.get(path);
    if (change === undefined) {
      const published = this.#published.get(path);
      if (published === null) throw new TypeError("a record about a stream that never was");
      change = {
        state: draftOf(published),
        dropsContents: false,
        bytes: [],
        filePos: published.end - published.base,
        from: published.end,
        pointers: [],
        blocks: [],
        producers: new Map(),
      };
      this.changes.set(path, change);
    }
    return change;
  }
}

function newState(op: CreateOp): StreamDraft {
  const base = op.from - op.pos;
  return {
    path: op.path,
    streamId: op.streamId,
    status: "live",
    readSeq: op.readSeq,
    file: op.file,
    contentType: op.contentType,
    isJson: op.isJson,
    lifetime: op.lifetime,
    inheritsLifetime: op.inheritsLifetime,
    base,
    end: base,
    isClosed: op.close,
    closedBy: null,
    streamSeq: null,
    createdAtMs: op.at,
    touchedAtMs: op.at,
    deletedAtMs: null,
    fork: op.fork,
    forks: 0,
    blockStart: base,
    blockCrc: 0,
  };
}

/** New messages: their pointers, and the blocks that they fill. */
function addContent(change: StreamChange, { bytes, lengths, at }: AppendOp | CreateOp): void {
  if (bytes.length === 0) return;
  const { state } = change;
  change.bytes.push(bytes);
  let position = 0;
  let runStart = 0;
  for (const length of lengths) {
    const crc = crcOf(bytes.subarray(position, position + length));
    position += length;
    state.end += length;
    change.pointers.push({ end: state.end, length, timestamp: at, crc });
    if (state.end - state.blockStart < BLOCK_BYTES) continue;
    const blockCrc = crcOf(bytes.subarray(runStart, position), state.blockCrc);
    change.blocks.push({ start: state.blockStart, end: state.end, crc: blockCrc });
    state.blockStart = state.end;
    state.blockCrc = 0;
    runStart = position;
  }
  if (runStart < position) {
    state.blockCrc = crcOf(bytes.subarray(runStart, position), state.blockCrc);
  }
}
