/**
 * Stream model: what a store must answer, as simply as possible, in memory.
 *
 * Written from the protocol and `stream-store.ts`, not from any store's code.
 */

import { formatOffset, type OffsetToken } from "../../../src/streams/files/offset-token.ts";
import type { ProducerTurn } from "../../../src/streams/files/stream-store.ts";

export interface ModelAppend {
  /** JSON values as texts; none to only close. */
  readonly values: readonly string[];
  readonly producer?: ProducerTurn;
  readonly streamSeq?: string;
  readonly close: boolean;
}

interface ModelStream {
  readonly lines: string[];
  readonly readSeq: number;
  readonly fork: ModelFork | null;
  /** How many live or retained streams fork from it. */
  forks: number;
  /** Deleted, but forks still read from it. */
  isHeld: boolean;
  isClosed: boolean;
  closedBy: ProducerTurn | null;
  streamSeq: string | null;
  readonly producers: Map<string, ProducerTurn>;
}

interface ModelFork {
  readonly source: string;
  readonly at: string;
}

export class StreamModel {
  readonly #streams = new Map<string, ModelStream>();
  readonly #lastReadSeq = new Map<string, number>();

  create(path: string, values: readonly string[]): string {
    const taken = this.#answerTaken(path, null);
    if (taken !== null) return taken;
    this.#begin(path, [...values], 0, null);
    return "new";
  }

  /** A fork after the first `count` messages of the source. */
  fork(path: string, source: string, count: number, values: readonly string[]): string {
    const fork = { source, at: this.placeAfter(source, count) };
    const taken = this.#answerTaken(path, fork);
    if (taken !== null) return taken;
    const from = this.#streams.get(source);
    if (from === undefined) return "STREAM_NOT_FOUND";
    if (from.isHeld) return "STREAM_CONFLICT";
    from.forks++;
    this.#begin(path, [...from.lines.slice(0, count), ...values], from.readSeq, fork);
    return "new";
  }

  /** The offset after the first `count` messages, or after all. */
  placeAfter(path: string, count: number): OffsetToken {
    const { lines, readSeq } = this.#streams.get(path) ?? { lines: [], readSeq: 0 };
    return formatOffset(readSeq, Buffer.byteLength(textOf(lines.slice(0, count))));
  }

  append(path: string, { values, producer, streamSeq, close }: ModelAppend): string {
    const stream = this.#streams.get(path);
    if (stream === undefined) return "STREAM_NOT_FOUND";
    if (stream.isHeld) return "STREAM_GONE";
    if (stream.isClosed) {
      const isRetry = JSON.stringify(producer) === JSON.stringify(stream.closedBy);
      if (producer !== undefined) return isRetry ? `duplicate ${producer.seq}` : "closed";
      return close && values.length === 0 ? "duplicate" : "closed";
    }
    const refused = producer === undefined ? null : refusedTurn(stream, producer);
    if (refused !== null) return refused;
    if (streamSeq !== undefined && stream.streamSeq !== null && streamSeq <= stream.streamSeq) {
      return "seq-not-greater";
    }
    if (values.length === 0 && !close) return "BAD_MESSAGE";
    stream.lines.push(...values);
    if (producer !== undefined) stream.producers.set(producer.id, producer);
    if (streamSeq !== undefined) stream.streamSeq = streamSeq;
    if (close) stream.isClosed = true;
    if (close) stream.closedBy = producer ?? null;
    return producer === undefined ? "appended" : `appended ${producer.seq}`;
  }

  remove(path: string): string {
    const stream = this.#streams.get(path);
    if (stream === undefined) return "STREAM_NOT_FOUND";
    if (stream.isHeld) return "STREAM_GONE";
    stream.isHeld = true;
    this.#bury(path);
    return "removed";
  }

  /** Every live stream: its content, its end, whether it is closed. */
  contents(): Map<string, { text: string; end: string; isClosed: boolean }> {
    const contents = new Map<string, { text: string; end: string; isClosed: boolean }>();
    for (const [path, { lines, readSeq, isClosed, isHeld }] of [...this.#streams].sort()) {
      const text = textOf(lines);
      const end = formatOffset(readSeq, Buffer.byteLength(text));
      if (!isHeld) contents.set(path, { text, end, isClosed });
    }
    return contents;
  }

  /** Null when the path is free. */
  #answerTaken(path: string, fork: ModelFork | null): string | null {
    const stream = this.#streams.get(path);
    if (stream === undefined) return null;
    const isSame = stream.fork?.source === fork?.source && stream.fork?.at === fork?.at;
    return isSame && !stream.isHeld && !stream.isClosed ? "there already" : "STREAM_CONFLICT";
  }

  #begin(path: string, lines: string[], readSeqMin: number, fork: ModelFork | null): void {
    const readSeq = Math.max((this.#lastReadSeq.get(path) ?? -1) + 1, readSeqMin);
    this.#lastReadSeq.set(path, readSeq);
    this.#streams.set(path, {
      lines,
      readSeq,
      fork,
      forks: 0,
      isHeld: false,
      isClosed: false,
      closedBy: null,
      streamSeq: null,
      producers: new Map(),
    });
  }

  /**
   * Removes a deleted stream when no fork of it is left, and then its own sources that were kept
   * for it.
   */
  #bury(path: string): void {
    const stream = this.#streams.get(path);
    if (stream === undefined || !stream.isHeld || stream.forks > 0) return;
    this.#streams.delete(path);
    if (stream.fork === null) return;
    const source = this.#streams.get(stream.fork.source);
    if (source !== undefined) source.forks--;
    this.#bury(stream.fork.source);
  }
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function refusedTurn({ producers }: ModelStream, turn: ProducerTurn): string | null {
  const last = producers.get(turn.id);
  if (last === undefined) return turn.seq === 0 ? null : "gap 0";
  if (turn.epoch < last.epoch) return `stale-epoch ${last.epoch}`;
  if (turn.epoch > last.epoch) return turn.seq === 0 ? null : "new-epoch-not-at-0";
  if (turn.seq <= last.seq) return `duplicate ${last.seq}`;
  return turn.seq === last.seq + 1 ? null : `gap ${last.seq + 1}`;
}
