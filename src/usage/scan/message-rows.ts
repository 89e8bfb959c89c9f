/**
 * Message rows: counts the responses in rows of Claude Code's shape, in their bytes.
 *
 *     {"message":{"id","model","usage":{…}},"requestId","timestamp","uuid","costUSD"}
 *     {"type":"progress","data":{"message":{"message":{…},"requestId","timestamp"}}}
 *
 * Only a usage at one of these two places counts: `toolUseResult.usage` is a sum of a subagent's
 * own, and tools may have an input called `usage`. Rows without the bytes `usage":` are never
 * looked at. Rows of the second kind, and those that the cursor cannot read, are parsed as a whole.
 */

import { Hash, type RowSet } from "../row-set.ts";
import { FLAGS, floorBits } from "../usage-row.ts";
import { ByteSpan, RowCursor, timeIn } from "./row-cursor.ts";
import { floorIn, floorOf, type Scanner, UsageCounts } from "./usage-counts.ts";

/** Without its first quote: the search looks for the first byte, and a `u` is rarer than a quote. */
const NEEDLE = Buffer.from('usage":');
const LF = 0x0a;
/** A longer row that the cursor cannot read is not counted. */
export const PARSED_BYTES_MAX = 64 * 1024 * 1024;

const name = (text: string) => new Uint8Array(Buffer.from(text));
const MESSAGE = name("message");
const DATA = name("data");
const TIMESTAMP = name("timestamp");
const REQUEST_ID = name("requestId");
const UUID = name("uuid");
const COST = name("costUSD");
const SESSION_ID = name("sessionId");
const CWD = name("cwd");
const ID = name("id");
const MODEL = name("model");
const CONTENT = name("content");
const USAGE = name("usage");
/** What Claude Code says itself; no model was asked. */
const SYNTHETIC = "<synthetic>";

export class MessageRows implements Scanner {
  readonly set: RowSet;
  readonly state = null;
  about: Record<string, string> | null = null;
  readonly #cursor = new RowCursor();
  readonly #hash = new Hash();
  readonly #usage = new UsageCounts();
  // What is read of a row.
  readonly #id = new ByteSpan();
  readonly #model = new ByteSpan();
  readonly #request = new ByteSpan();
  readonly #uuid = new ByteSpan();
  readonly #session = new ByteSpan();
  readonly #cwd = new ByteSpan();
  readonly #content = new ByteSpan();
  #at = Number.NaN;
  #cost = Number.NaN;
  /** Parse all rows: for few of them, that takes less than compiling the cursor. */
  isParsing = false;
  #mustParse = false;
  #hasMessage = false;
  /** The bytes of the model that was read last, and its place in the set; -1: it is not counted. */
  #modelBytes: Uint8Array | null = null;
  #modelIndex = -1;

  constructor(set: RowSet) {
    this.set = set;
  }

  begin(): void {
    this.about = null;
    this.#modelBytes = null;
  }

  scan(bytes: Buffer, from: number, to: number, offset: number): void {
    const lines = bytes.subarray(0, to); // The buffer may have older bytes behind these.
    let at = from;
    for (;;) {
      const found = lines.indexOf(NEEDLE, at);
      if (found < 0) return;
      const before = bytes.lastIndexOf(LF, found);
      const start = before < from ? from : before + 1;
      const lf = lines.indexOf(LF, found);
      const end = lf < 0 ? to : lf;
      this.#count(bytes, start, end, offset + start - from);
      at = end + 1;
    }
  }

  #count(bytes: Buffer, start: number, end: number, offset: number): void {
    if (this.isParsing && end - start <= PARSED_BYTES_MAX) {
      const response = responseIn(bytes.toString("utf8", start, end));
      if (response !== null) {
        this.#addParsed(response, offset);
        return;
      }
      // A damaged row may still have a usage that can be read.
    }
    this.#cursor.begin(bytes, start, end);
    this.#readRow();
    if (this.#cursor.isOdd || this.#mustParse) {
      if (end - start > PARSED_BYTES_MAX) return;
      const response = responseIn(bytes.toString("utf8", start, end));
      if (response !== null) this.#addParsed(response, offset);
    } else if (this.#usage.isThere) {
      this.#add(bytes, offset);
    }
  }

  #readRow(): void {
    const cursor = this.#cursor;
    this.#usage.reset();
    this.#id.clear();
    this.#model.clear();
    this.#request.clear();
    this.#uuid.clear();
    this.#content.clear();
    this.#at = this.#cost = Number.NaN;
    this.#mustParse = this.#hasMessage = false;
    if (!cursor.enter()) return;
    while (!this.#mustParse && cursor.nextKey()) this.#readField(cursor.to - cursor.from);
  }

  /** By the length of its name first: most fields are not ours. */
  #readField(length: number): void {
    const cursor = this.#cursor;
    if (length === 9 && cursor.is(TIMESTAMP)) this.#readTime();
    else if (length === 9 && cursor.is(REQUEST_ID)) cursor.readInto(this.#request);
    else if (length === 9 && cursor.is(SESSION_ID)) cursor.readInto(this.#session);
    else if (length === 7 && cursor.is(MESSAGE)) this.#readMessage();
    else if (length === 7 && cursor.is(COST)) this.#cost = cursor.readNumber();
    else if (length === 4 && cursor.is(DATA)) this.#mustParse = true;
    else if (length === 4 && cursor.is(UUID)) cursor.readInto(this.#uuid);
    else if (length === 3 && cursor.is(CWD)) cursor.readInto(this.#cwd);
    else cursor.skip();
  }

  #readTime(): void {
    const cursor = this.#cursor;
    this.#at = cursor.readString() ? timeIn(cursor.bytes, cursor.from, cursor.to) : Number.NaN;
  }

  #readMessage(): void {
    const cursor = this.#cursor;
    if (this.#hasMessage) this.#mustParse = true; // Of two, the last one counts.
    this.#hasMessage = true;
    if (!cursor.enter()) return;
    while (cursor.nextKey()) {
      const length = cursor.to - cursor.from;
      if (length === 2 && cursor.is(ID)) cursor.readInto(this.#id);
      else if (length === 5 && cursor.is(MODEL)) cursor.readInto(this.#model);
      else if (length === 5 && cursor.is(USAGE)) this.#usage.read(cursor);
      else if (length === 7 && cursor.is(CONTENT)) this.#passContent();
      else cursor.skip();
    }
  }

  #passContent(): void {
    this.#content.from = this.#cursor.at;
    this.#cursor.skip();
    this.#content.to = this.#cursor.at;
  }

  /** Marks the next row if it has too few output tokens for its text. */
  #mark(floor: number): void {
    const { output, flags } = this.set.next;
    if ((output[0] ?? 0) < floor) flags[0] = (flags[0] ?? 0) | floorBits(floor);
  }

  #add(bytes: Buffer, offset: number): void {
    const { set } = this;
    const { next } = set;
    const model = this.#indexOfModel(bytes);
    if (model < 0 || !this.#usage.fill(next)) return;
    const { from, to, isThere } = this.#content;
    if (isThere) this.#mark(floorIn(bytes, from, to, next.output[0] ?? 0));
    next.model[0] = model;
    next.at[0] = this.#at;
    next.recorded[0] = this.#cost;
    const id = this.#id.to > this.#id.from && this.#id.isThere ? this.#id : this.#uuid;
    this.#identify(id.isThere ? bytes : null, id.from, id.to, offset);
    const request = this.#request;
    next.request[0] = request.isThere
      ? this.#hash.begin().bytes(bytes, request.from, request.to).end().low
      : 0;
    set.put();
    if (this.about !== null || !this.#session.isThere) return;
    const text = ({ from, to }: ByteSpan) => bytes.toString("utf8", from, to);
    const cwd = this.#cwd.isThere ? { cwd: text(this.#cwd) } : {};
    this.about = { sessionId: text(this.#session), ...cwd };
  }

  #addParsed(response: Response, offset: number): void {
    const { set } = this;
    const { next } = set;
    const { messageId, uuid, requestId, model, cwd, sessionId } = response;
    if (model === SYNTHETIC) return;
    this.#usage.readParsed(response.usage);
    if (!this.#usage.fill(next)) return;
    this.#mark(floorOf(response.content));
    next.model[0] = set.modelIndex(model ?? "");
    next.at[0] = response.at;
    next.recorded[0] = response.cost;
    if (response.isNested) next.flags[0] = (next.flags[0] ?? 0) | FLAGS.nested;
    const id = messageId || uuid;
    const bytes = Buffer.from(id ?? "");
    this.#identify(id === null ? null : bytes, 0, bytes.length, offset);
    const request = Buffer.from(requestId ?? "");
    next.request[0] =
      requestId === null ? 0 : this.#hash.begin().bytes(request, 0, request.length).end().low;
    set.put();
    if (this.about === null && sessionId !== null) {
      this.about = { sessionId, ...(cwd !== null && { cwd }) };
    }
  }

  /** The key of the next row: an id, or the place of the row if it has none. */
  #identify(bytes: Buffer | null, from: number, to: number, offset: number): void {
    const { next } = this.set;
    const hash = this.#hash.begin();
    if (bytes === null) hash.text("row").number(offset);
    else hash.bytes(bytes, from, to);
    next.keyHigh[0] = hash.end().high;
    next.keyLow[0] = hash.low;
    if (bytes === null) next.flags[0] = (next.flags[0] ?? 0) | FLAGS.ofSession;
  }

  /** -1: the row is no model's. */
  #indexOfModel(bytes: Buffer): number {
    const { from, to } = this.#model;
    if (from < 0) return this.set.modelIndex("");
    const known = this.#modelBytes;
    let isSame = known?.length === to - from;
    for (let n = to - from - 1; n >= 0 && isSame; n--) isSame = bytes[from + n] === known?.[n];
    if (isSame) return this.#modelIndex;
    const model = bytes.toString("utf8", from, to);
    this.#modelBytes = new Uint8Array(bytes.subarray(from, to));
    this.#modelIndex = model === SYNTHETIC ? -1 : this.set.modelIndex(model);
    return this.#modelIndex;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** A response, from its row as a whole. */
interface Response {
  readonly messageId: string | null;
  readonly requestId: string | null;
  readonly uuid: string | null;
  readonly model: string | null;
  /** Milliseconds since 1970; NaN if unknown. */
  readonly at: number;
  /** In US dollars; NaN if none was recorded. */
  readonly cost: number;
  readonly usage: Fields;
  readonly content: unknown;
  readonly isNested: boolean;
  readonly cwd: string | null;
  readonly sessionId: string | null;
}

/** Null: the row is not JSON, or has no response. */
function responseIn(text: string): Response | null {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(row)) return null;
  const own = row.message;
  if (isObject(own) && isObject(own.usage)) return response(row, row, own, own.usage, false);
  // A subagent's row inside a progress row.
  const inner = isObject(row.data) ? row.data.message : null;
  const nested = isObject(inner) ? inner.message : null;
  if (!isObject(inner) || !isObject(nested) || !isObject(nested.usage)) return null;
  return response(row, inner, nested, nested.usage, true);
}

function response(
  ...[row, own, message, usage, isNested]: [Fields, Fields, Fields, Fields, boolean]
): Response {
  const at = timeOf(own.timestamp);
  return {
    messageId: textOf(message.id),
    requestId: textOf(own.requestId),
    uuid: textOf(own.uuid),
    model: textOf(message.model),
    at: Number.isNaN(at) ? timeOf(row.timestamp) : at,
    cost: typeof own.costUSD === "number" ? own.costUSD : Number.NaN,
    usage,
    content: message.content,
    isNested,
    cwd: textOf(row.cwd),
    sessionId: textOf(row.sessionId),
  };
}

function timeOf(value: unknown): number {
  return typeof value === "string" ? Date.parse(value) : Number.NaN;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
