/**
 * Stream reader: bytes from the log files, checked against what was appended.
 *
 * Every returned byte was part of a run whose crc32 was right: a block, the run after the last
 * block, or single messages where a read begins or ends inside a block.
 *
 * What to read is determined before the first wait, on one state of the stream; the bytes
 * before a published end never change.
 */

import { errnoOf, VerbatimError } from "../../../core/base/errors.ts";
import type { MessageBlock, MessagePointer, StreamState } from "../../commit/stream-state.ts";
import { crcOf } from "../../journal/journal-record.ts";
import type { StreamIndex } from "../lookup/stream-index.ts";
import { formatOffset, type OffsetToken } from "../offset-token.ts";
import type { StreamMessage } from "../stream-store.ts";
import { badOffset, type LookUpState, ownerAt } from "./forks.ts";
import type { HandlePool } from "./handle-pool.ts";

/** Reads at least one message from `from` on, then up to `bytesMax`. */
type ReadStream = (stream: StreamState, from: number, bytesMax: number) => Promise<Buffer>;

const PLACES_MAX = 8;

/**
 * A reader that catches up asks for chunk after chunk. While one is being sent, the
 * next is read and checked.
 *
 * - Only for reads that continue where another chunk ended, and only before the stream's end:
 *   single reads and readers at the end cost nothing more. At most `PLACES_MAX` are remembered.
 * - A chunk is returned once: it belongs to its caller. The bytes before a published end never
 *   change, so it equals one that is read now; a failed read is tried again
 *   when it is requested.
 */
export class ReadAhead {
  readonly #read: ReadStream;
  /** Where chunks ended, newest last; with the next chunk, if it was read already. */
  readonly #places = new Map<string, Promise<Buffer | null> | null>();

  constructor(read: ReadStream) {
    this.#read = read;
  }

  async read(stream: StreamState, from: number, bytesMax: number): Promise<Buffer> {
    const place = placeOf(stream, from, bytesMax);
    const ahead = this.#places.get(place);
    this.#places.delete(place);
    const bytes = (await ahead) ?? (await this.#read(stream, from, bytesMax));
    const next = from + bytes.length;
    if (next < stream.end) this.#remember(stream, next, bytesMax, ahead !== undefined);
    return bytes;
  }

  #remember(stream: StreamState, next: number, bytesMax: number, goesOn: boolean): void {
    const ahead = goesOn ? this.#read(stream, next, bytesMax).catch(() => null) : null;
    this.#places.set(placeOf(stream, next, bytesMax), ahead);
    if (this.#places.size <= PLACES_MAX) return;
    for (const oldest of this.#places.keys()) {
      this.#places.delete(oldest);
      return;
    }
  }
}

function placeOf({ streamId }: StreamState, from: number, bytesMax: number): string {
  return `${streamId} ${from} ${bytesMax}`;
}

/** Consecutive runs of one file, and which part of them was requested. */
interface Plan {
  readonly owner: StreamState;
  readonly runs: readonly MessageBlock[];
  readonly from: number;
  readonly to: number;
  /** The last bytes of this file: what follows is in another. */
  readonly isToTheEnd: boolean;
}

/** A message, or that the bytes in its place are damaged. */
export type FoundMessage =
  | (StreamMessage & { readonly damage: null })
  | { readonly offset: OffsetToken; readonly damage: VerbatimError<"STREAM_DAMAGED"> };

const MESSAGES_TOGETHER = 256;
const MESSAGE_BYTES_TOGETHER = 1024 * 1024;

export class StreamReader {
  readonly #index: StreamIndex;
  readonly #pool: HandlePool;
  readonly #directoryPath: string;
  readonly #stateOf: LookUpState;

  constructor(index: StreamIndex, pool: HandlePool, directoryPath: string, stateOf: LookUpState) {
    this.#index = index;
    this.#pool = pool;
    this.#directoryPath = directoryPath;
    this.#stateOf = stateOf;
  }

  /** At least one message from `from` on, if there is one, then up to `bytesMax`. */
  async read(stream: StreamState, from: number, bytesMax: number): Promise<Buffer> {
    const plans: Plan[] = [];
    let place = from;
    while (place < stream.end) {
      const room = bytesMax - (place - from);
      const plan = this.#plan(stream, place, room, plans.length === 0);
      if (plan === null) break;
      plans.push(plan);
      place = plan.to;
      // The rest is smaller than a block: filling it with single messages would cost more than
      // everything else, here and at the start of the next read.
      if (!plan.isToTheEnd) break;
    }
    const [first, ...rest] = plans;
    if (first === undefined) return Buffer.alloc(0);
    const bytes = await this.#readPlan(stream, first);
    if (rest.length === 0) return bytes;
    const parts = await Promise.all(rest.map((plan) => this.#readPlan(stream, plan)));
    return Buffer.concat([bytes, ...parts]);
  }

  /** The messages from `from` on that fit into a moderate amount of memory, at least one. */
  async messages(stream: StreamState, from: number): Promise<FoundMessage[]> {
    const { state: owner, upTo } = ownerAt(this.#stateOf, stream, from);
    const pointers = this.#fitting(this.#index.messages(owner, from, owner.end, MESSAGES_TOGETHER));
    const [first] = pointers;
    const last = pointers.at(-1);
    if (first === undefined || last === undefined) throw this.#damaged(stream, owner, from);
    this.#refuseInsideMessage(stream, from, first);
    const start = first.end - first.length;
    const bytes = await this.#readFile(stream, owner, start, last.end);
    const found: FoundMessage[] = [];
    for (const { end, length, timestamp, crc } of pointers) {
      const place = Math.max(end - length, from);
      if (place >= upTo) break; // The fork left its source before.
      const stop = Math.min(end, upTo);
      const offset = formatOffset(stream.readSeq, stop);
      if (crcOf(bytes.subarray(end - length - start, end - start)) !== crc) {
        found.push({ offset, damage: this.#damaged(stream, owner, end - length) });
        continue;
      }
      const data = bytes.subarray(place - start, (stream.isJson ? stop - 1 : stop) - start);
      found.push({ data, offset, timestamp, damage: null });
    }
    return found;
  }

  /** How many messages there are, including those of its sources. */
  count(stream: StreamState): number {
    let count = 0;
    for (let place = 0; place < stream.end; ) {
      const { state, upTo } = ownerAt(this.#stateOf, stream, place);
      count += this.#index.countMessages(state, place, upTo);
      // A fork that begins inside a message has its first part.
      if (this.#index.lastEnd(state, place, upTo) !== upTo) count++;
      place = upTo;
    }
    return count;
  }

  /** Null when nothing more fits. */
  #plan(stream: StreamState, from: number, room: number, mustTake: boolean): Plan | null {
    const { state: owner, upTo } = ownerAt(this.#stateOf, stream, from);
    const last = Math.min(upTo, from + room);
    const runs = room > 0 ? this.#runs(owner, from, last, upTo) : [];
    if (runs.length === 0 && mustTake) {
      const [message] = this.#index.messages(owner, from, owner.end, 1);
      if (message === undefined) throw this.#damaged(stream, owner, from);
      runs.push(runOf(message));
    }
    const [first] = runs;
    const end = runs.at(-1)?.end;
    if (first === undefined || end === undefined) return null;
    if (stream.isJson && first.start !== from) {
      throw badOffset(stream.path, formatOffset(stream.readSeq, from), "it is inside a message");
    }
    return { owner, runs, from, to: Math.min(end, upTo), isToTheEnd: end >= upTo };
  }

  /** Runs that cover `from` and end by `last`, as few as possible. */
  #runs(owner: StreamState, from: number, last: number, upTo: number): MessageBlock[] {
    const runs: MessageBlock[] = [];
    if (from < owner.blockStart) {
      const blocks = this.#index.blocks(owner.path, from, last);
      const firstStart = blocks[0]?.start ?? Math.min(last, owner.blockStart);
      if (firstStart > from) {
        runs.push(...this.#index.messages(owner, from, firstStart).map(runOf));
      }
      runs.push(...blocks);
    }
    const place = runs.at(-1)?.end ?? from;
    if (place >= last) return runs;
    if (place === owner.blockStart && upTo === owner.end && owner.end <= last) {
      runs.push({ start: place, end: owner.end, crc: owner.blockCrc });
    } else if (runs.length === 0 || place >= owner.blockStart) {
      runs.push(...this.#index.messages(owner, place, last).map(runOf));
    }
    return this.#withCutMessage(owner, runs, place, last, upTo);
  }

  /** If a fork left its source inside a message, that message is needed completely. */
  #withCutMessage(
    owner: StreamState,
    runs: MessageBlock[],
    from: number,
    last: number,
    upTo: number,
  ): MessageBlock[] {
    const place = runs.at(-1)?.end ?? from;
    if (upTo === owner.end || last < upTo || place >= upTo) return runs;
    const [message] = this.#index.messages(owner, place, owner.end, 1);
    if (message !== undefined && message.end > upTo) runs.push(runOf(message));
    return runs;
  }

  async #readPlan(stream: StreamState, { owner, runs, from, to }: Plan): Promise<Buffer> {
    const start = runs[0]?.start ?? from;
    const end = runs.at(-1)?.end ?? to;
    const bytes = await this.#readFile(stream, owner, start, end);
    for (const run of runs) {
      if (crcOf(bytes.subarray(run.start - start, run.end - start)) === run.crc) continue;
      throw this.#damaged(stream, owner, run.start);
    }
    return bytes.subarray(from - start, to - start);
  }

  async #readFile(
    stream: StreamState,
    owner: StreamState,
    start: number,
    end: number,
  ): Promise<Buffer> {
    try {
      return await this.#pool.use(owner.file, (log) => log.readAt(start - owner.base, end - start));
    } catch (cause) {
      const isShort = cause instanceof VerbatimError && cause.code === "OUT_OF_RANGE";
      const errno = cause instanceof VerbatimError ? errnoOf(cause.cause) : errnoOf(cause);
      if (!isShort && errno !== "ENOENT") throw cause;
      throw this.#damaged(stream, owner, start, cause);
    }
  }

  #fitting(pointers: readonly MessagePointer[]): MessagePointer[] {
    let bytes = 0;
    const isOver = ({ length }: MessagePointer) => {
      bytes += length;
      return bytes > MESSAGE_BYTES_TOGETHER;
    };
    const over = pointers.findIndex(isOver);
    return over === -1 ? [...pointers] : pointers.slice(0, Math.max(1, over));
  }

  #refuseInsideMessage(stream: StreamState, from: number, first: MessagePointer): void {
    if (!stream.isJson || first.end - first.length === from) return;
    throw badOffset(stream.path, formatOffset(stream.readSeq, from), "it is inside a message");
  }

  #damaged(
    stream: StreamState,
    owner: StreamState,
    at: number,
    cause?: unknown,
  ): VerbatimError<"STREAM_DAMAGED"> {
    const path = `${this.#directoryPath}/${owner.file}`;
    const offset = at - owner.base;
    return new VerbatimError(
      "STREAM_DAMAGED",
      `${path} is damaged: it differs from what was appended to ${stream.path}, at byte ${offset} or after; ` +
        "restore the file from a backup",
      { stream: stream.path, offset, path },
      { cause },
    );
  }
}

function runOf({ end, length, crc }: MessagePointer): MessageBlock {
  return { start: end - length, end, crc };
}
