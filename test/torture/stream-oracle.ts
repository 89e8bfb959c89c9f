/**
 * Stream oracle: what streams must contain and answer, as a simple model in memory.
 *
 * Written from the protocol and `stream-store.ts`; shares no code with any store. Answers are
 * strings. For a refused creation the string is only "no": torture checks what crashes do, not
 * which error is reported.
 */

export interface OracleTurn {
  readonly id: string;
  readonly epoch: number;
  readonly seq: number;
}

/** A request to the store. `at`: the time of day. */
export type Operation = { readonly path: string; readonly at: number } & (
  | {
      readonly kind: "create";
      readonly isJson: boolean;
      readonly values: readonly string[];
      readonly isClosed: boolean;
      readonly untilMs: number | null;
    }
  | {
      readonly kind: "fork";
      readonly source: string;
      /** An offset in the source; null for its end. */
      readonly from: string | null;
      /** How far past `from`: in messages for a JSON stream, in bytes for any other. */
      readonly past: number;
    }
  | {
      readonly kind: "append";
      readonly isJson: boolean;
      readonly values: readonly string[];
      readonly producer: OracleTurn | null;
      readonly streamSeq: string | null;
      readonly close: boolean;
    }
  | { readonly kind: "remove" }
);

type Of<K extends Operation["kind"]> = Extract<Operation, { readonly kind: K }>;

export interface OracleMessage {
  readonly bytes: Buffer;
  readonly at: number;
}

export interface OracleStream {
  readonly isJson: boolean;
  readonly readSeq: number;
  readonly messages: readonly OracleMessage[];
  readonly isClosed: boolean;
  readonly producers: ReadonlyMap<string, OracleTurn>;
  readonly closedBy: OracleTurn | null;
  readonly streamSeq: string | null;
  readonly source: string | null;
  readonly untilMs: number | null;
  /** How many forks of it exist, including held ones. */
  readonly forks: number;
  /** Deleted, but kept because forks read from it. */
  readonly isHeld: boolean;
}

export class StreamOracle {
  /** Streams are replaced, never changed: a copy of the maps is a copy of everything. */
  readonly #streams: Map<string, OracleStream>;
  readonly #readSeqs: Map<string, number>;

  constructor(like?: StreamOracle) {
    this.#streams = new Map(like === undefined ? [] : like.#streams);
    this.#readSeqs = new Map(like === undefined ? [] : like.#readSeqs);
  }

  /** Carries out a request and returns the right answer. */
  do(operation: Operation): string {
    if (operation.kind === "create") return this.#create(operation);
    if (operation.kind === "fork") return this.#fork(operation);
    if (operation.kind === "append") return this.#append(operation);
    return this.#remove(operation);
  }

  /** The stream, if it can be read and written. */
  living(path: string, now: number): OracleStream | null {
    const stream = this.#streams.get(path);
    if (stream === undefined || stream.isHeld || isOver(stream, now)) return null;
    return stream;
  }

  /** The state that no read shows: the last readSeq of each path. */
  get hidden(): string {
    return JSON.stringify([...this.#readSeqs].sort());
  }

  paths(now: number): string[] {
    return [...this.#streams.keys()].filter((path) => this.living(path, now) !== null).sort();
  }

  #create({ path, isJson, values, isClosed, untilMs, at }: Of<"create">): string {
    if (this.#isTaken(path, at)) return "no";
    const messages = messagesOf(isJson, values, at);
    const begun = this.#begin(path, { isJson, messages, isClosed, untilMs, source: null }, 0);
    return `new ${tokenAt(begun)}`;
  }

  #fork({ path, source, from, past, at }: Of<"fork">): string {
    if (this.#isTaken(path, at)) return "no";
    const stream = this.living(source, at);
    if (stream === null) return "no";
    const place = from === null ? lengthOf(stream) : placeOf(stream, from);
    const base = place === null ? null : placePast(stream, place, past);
    if (base === null) return "no";
    this.#streams.set(source, { ...stream, forks: stream.forks + 1 });
    const { isJson, readSeq } = stream;
    const messages = cutAt(stream, base);
    const forked = { isJson, messages, isClosed: false, untilMs: null, source };
    return `new ${tokenAt(this.#begin(path, forked, readSeq))}`;
  }

  #append(operation: Of<"append">): string {
    const { path, values, producer, streamSeq, close, at } = operation;
    const stream = this.living(path, at);
    if (stream === null) return "no stream";
    if (stream.isClosed) return whenClosed(stream, operation);
    if (operation.isJson !== stream.isJson && values.length > 0) return "type-differs";
    const refused = producer === null ? null : refusedTurn(stream, producer);
    if (refused !== null) return refused;
    if (streamSeq !== null && stream.streamSeq !== null && streamSeq <= stream.streamSeq) {
      return "seq-not-greater";
    }
    const grown: OracleStream = {
      ...stream,
      messages: [...stream.messages, ...messagesOf(stream.isJson, values, at)],
      producers:
        producer === null ? stream.producers : new Map(stream.producers).set(producer.id, producer),
      streamSeq: streamSeq ?? stream.streamSeq,
      isClosed: close,
      closedBy: close ? producer : null,
    };
    this.#streams.set(path, grown);
    return `appended ${tokenAt(grown)} ${producer?.seq ?? null}`;
  }

  #remove({ path, at }: Of<"remove">): string {
    const stream = this.living(path, at);
    if (stream === null) return "no stream";
    this.#streams.set(path, { ...stream, isHeld: true });
    this.#removeHeld(path);
    return "removed";
  }

  #isTaken(path: string, now: number): boolean {
    const stream = this.#streams.get(path);
    return stream !== undefined && !isOver(stream, now);
  }

  #begin(
    path: string,
    what: Pick<OracleStream, "isJson" | "messages" | "isClosed" | "untilMs" | "source">,
    readSeqMin: number,
  ): OracleStream {
    const readSeq = Math.max((this.#readSeqs.get(path) ?? -1) + 1, readSeqMin);
    this.#readSeqs.set(path, readSeq);
    const empty = { producers: new Map(), closedBy: null, streamSeq: null };
    const begun: OracleStream = { ...what, ...empty, readSeq, forks: 0, isHeld: false };
    this.#streams.set(path, begun);
    return begun;
  }

  /** Removes a deleted stream without forks, and then its source if that was held for it only. */
  #removeHeld(path: string): void {
    const stream = this.#streams.get(path);
    if (stream === undefined || !stream.isHeld || stream.forks > 0) return;
    this.#streams.delete(path);
    const source = stream.source === null ? undefined : this.#streams.get(stream.source);
    if (stream.source === null || source === undefined) return;
    this.#streams.set(stream.source, { ...source, forks: source.forks - 1 });
    this.#removeHeld(stream.source);
  }
}

/** The token after the first `count` messages, or after all. */
export function tokenAt(stream: OracleStream, count = stream.messages.length): string {
  const digits = (number: number) => String(number).padStart(16, "0");
  return `${digits(stream.readSeq)}_${digits(lengthOf(stream, count))}`;
}

export function bytesOf({ messages }: OracleStream, from = 0): Buffer {
  return Buffer.concat(messages.slice(from).map(({ bytes }) => bytes));
}

function lengthOf({ messages }: OracleStream, count = messages.length): number {
  return messages.slice(0, count).reduce((sum, { bytes }) => sum + bytes.length, 0);
}

function isOver({ untilMs }: OracleStream, now: number): boolean {
  return untilMs !== null && untilMs <= now;
}

function messagesOf(isJson: boolean, values: readonly string[], at: number): OracleMessage[] {
  if (values.length === 0) return [];
  if (!isJson) return [{ bytes: Buffer.from(values.join("")), at }];
  return values.map((value) => ({ bytes: Buffer.from(`${value}\n`), at }));
}

/** The place of a token, if it is between two messages. */
function placeOf(stream: OracleStream, token: string): number | null {
  for (let count = 0; count <= stream.messages.length; count++) {
    if (tokenAt(stream, count) === token) return lengthOf(stream, count);
  }
  return null;
}

function placePast(stream: OracleStream, place: number, past: number): number | null {
  if (past === 0) return place;
  let at = 0;
  let count = 0;
  for (const { bytes } of stream.messages) {
    if (at >= place) count++;
    at += bytes.length;
    if (stream.isJson && count === past) return at;
    if (!stream.isJson && at > place) return place + past <= at ? place + past : null;
  }
  return null;
}

/** The messages before a place; the last one is cut if the place is inside it. */
function cutAt({ messages }: OracleStream, place: number): OracleMessage[] {
  const kept: OracleMessage[] = [];
  let left = place;
  for (const { bytes, at } of messages) {
    if (left <= 0) break;
    kept.push({ bytes: bytes.subarray(0, left), at });
    left -= bytes.length;
  }
  return kept;
}

function whenClosed(stream: OracleStream, { values, producer, close }: Of<"append">): string {
  if (producer === null) return close && values.length === 0 ? "duplicate null" : "closed";
  const { closedBy } = stream;
  const isRetry =
    closedBy?.id === producer.id &&
    closedBy.epoch === producer.epoch &&
    closedBy.seq === producer.seq;
  return isRetry ? `duplicate ${producer.seq}` : "closed";
}

function refusedTurn({ producers }: OracleStream, { id, epoch, seq }: OracleTurn): string | null {
  const last = producers.get(id);
  if (last === undefined) return seq === 0 ? null : "gap 0";
  if (epoch < last.epoch) return `stale-epoch ${last.epoch}`;
  if (epoch > last.epoch) return seq === 0 ? null : "new-epoch-not-at-0";
  if (seq <= last.seq) return `duplicate ${last.seq}`;
  return seq === last.seq + 1 ? null : `gap ${last.seq + 1}`;
}
