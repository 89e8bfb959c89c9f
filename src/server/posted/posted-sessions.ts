/**
 * Posted sessions: sessions that programs write over HTTP, entry by entry (docs/formats/remote.md).
 *
 * A session is a stream of lines of our own layout, next to those that agents send. So all that the
 * server does for received sessions (copies, lists, retention, backups) it does for these, too.
 *
 * - A request is one append of the store: all of its lines are durable, or none.
 * - An Idempotency-Key is a producer of the stream, and its request the producer's number 0. So the
 *   store recognises a retry, also after a restart and on another server. The ids of its lines are
 *   made of the key: a retry is compared with what is stored.
 * - The type of the stream says who writes it. The store refuses our appends to a session that a
 *   sender sends, and a sender's to ours.
 */

import { createHash, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type ErrorCode, VerbatimError } from "../../core/base/errors.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { LF } from "../../core/log/bytes.ts";
import { decodeLine, encodeLine } from "../../core/log/json.ts";
import { checkLine } from "../../core/log/line-check.ts";
import type { Native } from "../../core/model/entry.ts";
import { checkedLabels } from "../../core/model/entry-check.ts";
import { invalidEntry } from "../../core/model/plain-json.ts";
import { packageVersion } from "../../core/package-file.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { writingOf } from "../../dialects/dialect.ts";
import { DEFAULT_DIALECT } from "../../dialects/registry.ts";
import { streamBelow } from "../../guard/remote/session-paths.ts";
import { expressEntry } from "../../sessions/store/new-lines.ts";
import type { CreateOptions } from "../../sessions/store/store-options.ts";
import { parseOffset } from "../../streams/files/offset-token.ts";
import type { ReadFrom } from "../../streams/files/stream-store.ts";
import type { Admission } from "../auth/gate.ts";
import type { ServerContext } from "../context.ts";
import { appended, created } from "../streams/route.ts";

/** Senders' streams are `application/octet-stream`. */
export const POSTED_TYPE = "application/x-ndjson";
const CHUNK_BYTES = 1024 * 1024;

/** A session: what the paths of its store's streams begin with, and its id there. */
export interface PostedPlace {
  readonly path: string;
  readonly id: string;
}

export type NewPostedSession = Omit<CreateOptions, "wait">;

/** A line, and where it is in the log. */
interface PostedLine {
  readonly id: string;
  readonly native: Native;
  readonly start: number;
  readonly end: number;
}

export interface Posted {
  readonly id: string;
  /** An earlier request wrote this: nothing was written now. */
  readonly isRepeated: boolean;
  readonly lines: readonly PostedLine[];
}

/** Entries as they were sent. */
export interface SentEntries {
  readonly entries: readonly unknown[];
  /** Several may have been sent: a refusal says which one is wrong. */
  readonly isList: boolean;
}

/** With the limits of the token that admitted a request. */
type Pass = Admission | null;

type PostingContext = Pick<ServerContext, "store" | "shares" | "tokens" | "front" | "time">;

export class PostedSessions {
  readonly #context: PostingContext;
  readonly #onAppended: (stream: string) => void;

  constructor(context: PostingContext, onAppended: (stream: string) => void) {
    this.#context = context;
    this.#onAppended = onAppended;
  }

  /** Throws SESSION_EXISTS, IDEMPOTENCY_KEY_REUSED, and what refuses the fields. */
  async create(
    path: string,
    asked: NewPostedSession,
    key: string | null,
    pass: Pass,
  ): Promise<Posted> {
    const { nowMs } = this.#context.time;
    const { newIds, start } = writing();
    const { id: chosenId, agent, parent, ...labels } = asked;
    const mark = key === null ? null : markOf(path, key);
    const id = chosenId ?? mark ?? newIds.make(null, nowMs(), randomUUID());
    if (parent !== undefined) layout().naming.logPath(parent);
    const about = start?.line({
      ...(parent !== undefined && { parent }),
      ...checkedLabels(labels),
    });
    const native = this.#complete(id, { ...about, ...(agent !== undefined && { agent }) }, mark, 0);
    const body = bytesOf([native]);
    const stream = streamOf({ path, id });
    const request = { contentType: POSTED_TYPE, body, isClosed: false };
    const isNew = await created(this.#context, stream, request, pass).then(
      (result) => result.isNew,
      (cause: unknown) => {
        if (isError(cause, "STREAM_CONFLICT")) return false; // It is closed, or of another type.
        throw cause;
      },
    );
    if (isNew) {
      this.#onAppended(stream);
      return { id, isRepeated: false, lines: linesIn(body, 0) };
    }
    const [first] = await this.#stored(stream, null);
    if (first && isSame(first.native, native, false))
      return { id, isRepeated: true, lines: [first] };
    if (first?.id === native.id) throw keyReused();
    throw new VerbatimError(
      "SESSION_EXISTS",
      `there is a session ${id} with other fields; choose another id, or append to that one`,
      { session: id },
    );
  }

  /** Throws INVALID_ENTRY with the number of the wrong one, if several were sent. */
  async append(
    place: PostedPlace,
    sent: SentEntries,
    key: string | null,
    pass: Pass,
  ): Promise<Posted> {
    const { id } = place;
    const stream = streamOf(place);
    const mark = key === null ? null : markOf(stream, key);
    const natives = sent.entries.map((_, at) => this.#lineOf(id, sent, mark, at));
    const body = bytesOf(natives);
    const producer = mark === null ? undefined : { id: mark, epoch: 0, seq: 0 };
    const request = { body, contentType: POSTED_TYPE, producer, close: false };
    const { outcome, head } = await appended(this.#context, stream, request, pass);
    if (outcome === "appended") {
      this.#onAppended(stream);
      return { id, isRepeated: false, lines: linesIn(body, byteOf(head.end) - body.length) };
    }
    const stored = mark === null ? [] : await this.#stored(stream, mark);
    if (stored.length === 0) {
      throw notWritable(id, outcome === "closed" ? "it is closed" : "another program sends it");
    }
    const isSameLine = (native: Native, at: number) => {
      return isSame(stored[at]?.native, native, hasTime(sent.entries[at]));
    };
    if (stored.length !== natives.length || !natives.every(isSameLine)) throw keyReused();
    return { id, isRepeated: true, lines: stored };
  }

  #lineOf(id: string, { entries, isList }: SentEntries, mark: string | null, at: number): Native {
    try {
      const facts = { dialect: layout(), facts: this.#facts(id), hasFiles: false };
      const [native = {}] = expressEntry(entries[at], facts);
      return this.#complete(id, native, mark, at);
    } catch (cause) {
      if (!isList || !isError(cause, "INVALID_ENTRY")) throw cause;
      throw invalidEntry(`${at}.${cause.details.field}`, cause.details.reason);
    }
  }

  #complete(id: string, native: Native, mark: string | null, at: number): Native {
    const own = mark === null ? native : { ...native, id: lineId(mark, at) };
    return writing().complete(own, this.#facts(id));
  }

  #facts(id: string) {
    const { nowMs } = this.#context.time;
    const version = packageVersion();
    return { id, nowMs: nowMs(), agent: null, newId: randomUUID, cwd: "/", version, model: null };
  }

  /**
   * The lines of a key's request, which are in one chunk; without a mark, the first line. Reads
   * the stream from its start: only retries do.
   */
  async #stored(stream: string, mark: string | null): Promise<readonly PostedLine[]> {
    for (let from: ReadFrom = "start"; ; ) {
      const chunk = await this.#context.store.read(stream, from, CHUNK_BYTES);
      const { buffer, byteOffset, length } = chunk.bytes;
      const bytes = Buffer.from(buffer, byteOffset, length);
      const isIn = mark === null || bytes.includes(lineId(mark, 0));
      const lines = isIn ? linesIn(bytes, byteOf(chunk.from)) : [];
      const own = lines.filter(({ id }, at) => (mark ? id.startsWith(`${mark}.`) : at === 0));
      if (own.length > 0 || chunk.isAtEnd) return own;
      from = chunk.next;
    }
  }
}

function layout() {
  return dialectNamed(DEFAULT_DIALECT);
}

function writing() {
  return writingOf(layout());
}

function streamOf({ path, id }: PostedPlace): string {
  return streamBelow(path, layout().naming.logPath(id).join("/"));
}

/** What the ids of a key's lines begin with; no other lines have it. */
function markOf(place: string, key: string): string {
  return createHash("sha256").update(`${place}\n${key}`).digest("hex").slice(0, 32);
}

function lineId(mark: string, at: number): string {
  return `${mark}.${at}`;
}

function bytesOf(natives: readonly Native[]): Buffer {
  const { lineBytesMax = 0 } = writing().spilling ?? {};
  const lines = natives.map((native) => {
    const line = encodeLine(native);
    checkLine("the session", line, { ...LOG_LIMITS, lineBytesMax }); // Longer ones need files.
    return line;
  });
  return Buffer.concat(lines.flatMap((line) => [line, Buffer.of(LF)]));
}

/** Whole lines of a log that begin at an offset of it. */
function linesIn(bytes: Buffer, from: number): PostedLine[] {
  const lines: PostedLine[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LF, start) + 1 || bytes.length;
    const native = (decodeLine(bytes, start, end - 1).value ?? {}) as Native;
    lines.push({ id: `${native.id}`, native, start: from + start, end: from + end });
    start = end;
  }
  return lines;
}

function byteOf(offset: string): number {
  return parseOffset(offset)?.byteOffset ?? 0;
}

function hasTime(entry: unknown): boolean {
  return ((entry as { readonly at?: unknown }).at ?? null) !== null;
}

/** Ids are the writer's, and so are times that the caller did not send. */
function isSame(stored: Native | undefined, native: Native, comparesTime: boolean): boolean {
  const { id: _, at, ...rest } = native;
  const { id: __, at: storedAt, ...storedRest } = stored ?? {};
  return isDeepStrictEqual(storedRest, rest) && (!comparesTime || at === storedAt);
}

function isError<C extends ErrorCode>(cause: unknown, code: C): cause is VerbatimError<C> {
  return cause instanceof VerbatimError && cause.code === code;
}

function keyReused(): VerbatimError {
  return new VerbatimError(
    "IDEMPOTENCY_KEY_REUSED",
    "an earlier request with this Idempotency-Key had another body; nothing was written: send a " +
      "new key with each new request",
    {},
  );
}

export function notWritable(session: string, reason: string): VerbatimError {
  const message = `the session ${session} takes no entries over HTTP: ${reason}`;
  return new VerbatimError("SESSION_NOT_WRITABLE", message, { session, reason });
}
