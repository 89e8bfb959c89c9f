/**
 * Copy streams: from one store to another, and compares both afterwards.
 *
 * - Killed at any moment, the next run continues where the last durable part ended.
 * - The target becomes a store after everything in it was read again and equals the source.
 */

import { createHash } from "node:crypto";
import type { StreamState } from "../commit/stream-state.ts";
import type { ProducerTurn } from "../files/stream-store.ts";
import {
  type CopySource,
  type CopyTarget,
  copyRefused,
  PART_BYTES,
  PART_MESSAGES,
  type StreamPart,
  type Totals,
} from "./sides.ts";

const PARTS_TOGETHER = 1000;

export type OnCopyProgress = (done: "copied" | "checked", bytes: number, of: Totals) => void;

export interface StreamCopyReport extends Totals {
  readonly records: number;
  readonly isResumed: boolean;
}

export async function copyStreams(
  source: CopySource,
  target: CopyTarget,
  onProgress: OnCopyProgress,
): Promise<StreamCopyReport> {
  const totals = await source.totals();
  await new Copying(source, target, (bytes) => onProgress("copied", bytes, totals)).run();
  const records = await source.records();
  await target.putRecords(records);
  const copy = await target.asSource();
  try {
    await compare(source, copy, (bytes) => onProgress("checked", bytes, totals));
  } finally {
    await copy.close();
  }
  await target.finish();
  return { ...totals, records: records.size, isResumed: target.isResumed };
}

class Copying {
  readonly #source: CopySource;
  readonly #target: CopyTarget;
  readonly #onBytes: (bytes: number) => void;
  #parts: StreamPart[] = [];
  #waiting = 0;
  #messages = 0;
  #bytes = 0;

  constructor(source: CopySource, target: CopyTarget, onBytes: (bytes: number) => void) {
    this.#source = source;
    this.#target = target;
    this.#onBytes = onBytes;
  }

  async run(): Promise<void> {
    const { after } = this.#target;
    let isFirst = true;
    for await (const state of this.#source.streams(after)) {
      await this.#stream(state, isFirst ? await this.#target.endOf(state) : state.base);
      isFirst = false;
    }
    await this.#flush();
  }

  async #stream(state: StreamState, from: number): Promise<void> {
    if (from === state.base && state.status !== "deleted") await this.#checkpoints(state);
    const producers = await this.#source.producers(state);
    let at = from;
    if (state.status !== "deleted") {
      for await (const { pointers, bytes } of this.#source.messages(state, from)) {
        const isEnd = at + bytes.length === state.end;
        await this.#add({ state, from: at, pointers, bytes, producers: isEnd ? producers : [] });
        at += bytes.length;
      }
    }
    if (at === from) {
      await this.#add({ state, from: at, pointers: [], bytes: Buffer.alloc(0), producers });
    }
  }

  async #checkpoints(state: StreamState): Promise<void> {
    let at = 0;
    for await (const bytes of this.#source.checkpoints(state)) {
      await this.#target.putCheckpoints(state, at, bytes);
      at += bytes.length;
    }
  }

  async #add(part: StreamPart): Promise<void> {
    this.#parts.push(part);
    this.#waiting += part.bytes.length;
    this.#messages += part.pointers.length;
    const isFull = this.#waiting >= PART_BYTES || this.#messages >= PART_MESSAGES;
    if (isFull || this.#parts.length >= PARTS_TOGETHER) await this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#target.put(this.#parts);
    this.#bytes += this.#waiting;
    this.#parts = [];
    this.#waiting = 0;
    this.#messages = 0;
    this.#onBytes(this.#bytes);
  }
}

/** Throws COPY_REFUSED if two stores differ in anything that a client can see. */
async function compare(
  source: CopySource,
  copy: CopySource,
  onBytes: (bytes: number) => void,
): Promise<void> {
  let done = 0;
  const sourceStreams = source.streams("")[Symbol.asyncIterator]();
  for await (const copied of copy.streams("")) {
    const { value, done: isOver } = await sourceStreams.next();
    const state: StreamState | undefined = isOver ? undefined : value;
    if (state === undefined || described(state) !== described(copied)) {
      throw differs(copy, copied.path);
    }
    const [expected, found] = [await digest(source, state), await digest(copy, copied)];
    if (expected !== found) throw differs(copy, copied.path);
    if (state.status !== "deleted") done += state.end - state.base;
    onBytes(done);
  }
  const { value, done: isOver } = await sourceStreams.next();
  if (!isOver) throw differs(copy, (value as StreamState).path);
  const [records, copied] = [await source.records(), await copy.records()];
  const isSame =
    records.size === copied.size && [...records].every(([key, value]) => copied.get(key) === value);
  if (!isSame) throw copyRefused(copy.place, `its records differ from the source's${AGAIN}`);
}

const AGAIN = "; delete the copy and begin again";

function differs({ place }: CopySource, path: string): Error {
  return copyRefused(place, `${path} differs from the source${AGAIN}`);
}

/** Everything but the checksums of blocks, which depend on the store. */
function described({ blockStart: _, blockCrc: __, ...state }: StreamState): string {
  return JSON.stringify(state, Object.keys(state).sort().concat(NESTED));
}

/** Fields of `lifetime`, `fork` and `closedBy`. */
const NESTED = [
  "kind",
  "seconds",
  "atMs",
  "text",
  "source",
  "at",
  "subOffset",
  "id",
  "epoch",
  "seq",
];

/** Of everything that belongs to a stream. */
async function digest(source: CopySource, state: StreamState): Promise<string> {
  const hashes = { numbers: createHash("sha256"), bytes: createHash("sha256") };
  const checkpoints = createHash("sha256");
  if (state.status !== "deleted") {
    for await (const { pointers, bytes } of source.messages(state, state.base)) {
      const numbers = pointers.map(
        ({ end, timestamp, crc }) => `${end} ${timestamp} ${crc >>> 0},`,
      );
      hashes.numbers.update(numbers.join(""));
      hashes.bytes.update(bytes);
    }
    for await (const bytes of source.checkpoints(state)) checkpoints.update(bytes);
  }
  const all = [hashes.numbers, hashes.bytes, checkpoints].map((hash) => hash.digest("hex"));
  const producers = [...(await source.producers(state))].map(turnText).sort();
  return JSON.stringify([all, producers]);
}

function turnText({ id, epoch, seq }: ProducerTurn): string {
  return JSON.stringify([id, epoch, seq]);
}
