/**
 * Usage counts: the object `usage` of a message, as Anthropic's API defines it, from its bytes or
 * from the parsed object, into the next row of a set.
 *
 * A count that is no number, or negative, is 0 and marked; one that is too large is kept and marked.
 *
 * Scanner: what counts the responses of one file in its bytes.
 */

import type { Columns } from "../columns.ts";
import type { RowSet } from "../row-set.ts";
import { FLAGS, PLAUSIBLE_TOKENS_MAX, searchBits } from "../usage-row.ts";
import type { RowCursor } from "./row-cursor.ts";

const name = (text: string) => new Uint8Array(Buffer.from(text));
const INPUT = name("input_tokens");
const OUTPUT = name("output_tokens");
const WRITE = name("cache_creation_input_tokens");
const READ = name("cache_read_input_tokens");
const CREATION = name("cache_creation");
const HOUR = name("ephemeral_1h_input_tokens");
const DETAILS = name("output_tokens_details");
const THINKING = name("thinking_tokens");
const TOOLS = name("server_tool_use");
const SEARCHES = name("web_search_requests");
const TIER = name("service_tier");
const SPEED = name("speed");
const GEO = name("inference_geo");
const BATCH = name("batch");
const FAST = name("fast");
const US = name("us");

export class UsageCounts {
  /** Whether the row has a usage. */
  isThere = false;
  #input = 0;
  #output = 0;
  #write = 0;
  #hour = 0;
  #read = 0;
  #thinking = 0;
  #searches = 0;
  #flags = 0;

  reset(): void {
    this.isThere = false;
    this.#input = this.#output = this.#write = this.#hour = this.#read = this.#thinking = 0;
    this.#flags = this.#searches = 0;
  }

  /** Reads the object at the cursor; nothing if the value is none. */
  read(cursor: RowCursor): void {
    this.reset();
    if (!cursor.enter()) return;
    this.isThere = true;
    while (cursor.nextKey()) this.#readField(cursor, cursor.to - cursor.from);
  }

  #readField(cursor: RowCursor, length: number): void {
    if (length === 12 && cursor.is(INPUT)) this.#input = this.#counted(cursor.readNumber());
    else if (length === 13 && cursor.is(OUTPUT)) this.#output = this.#counted(cursor.readNumber());
    else if (length === 27 && cursor.is(WRITE)) this.#write = this.#counted(cursor.readNumber());
    else if (length === 23 && cursor.is(READ)) this.#read = this.#counted(cursor.readNumber());
    else if (length === 14 && cursor.is(CREATION)) this.#hour = this.#part(cursor, HOUR);
    else if (length === 21 && cursor.is(DETAILS)) this.#thinking = this.#part(cursor, THINKING);
    else if (length === 15 && cursor.is(TOOLS)) this.#searches = this.#part(cursor, SEARCHES);
    else if (length === 12 && cursor.is(TIER)) this.#flag(cursor, BATCH, FLAGS.batch);
    else if (length === 5 && cursor.is(SPEED)) this.#flag(cursor, FAST, FLAGS.fast);
    else if (length === 13 && cursor.is(GEO)) this.#flag(cursor, US, FLAGS.us);
    else cursor.skip();
  }

  /** A count in an object of counts. */
  #part(cursor: RowCursor, wanted: Uint8Array): number {
    let count = 0;
    if (!cursor.enter()) return 0;
    while (cursor.nextKey()) {
      if (cursor.is(wanted)) count = this.#counted(cursor.readNumber());
      else cursor.skip();
    }
    return count;
  }

  #flag(cursor: RowCursor, value: Uint8Array, flag: number): void {
    const isSet = cursor.readString() && cursor.is(value);
    this.#flags = isSet ? this.#flags | flag : this.#flags & ~flag;
  }

  /** Reads the parsed object. */
  readParsed(usage: Readonly<Record<string, unknown>>): void {
    this.reset();
    this.isThere = true;
    this.#input = this.#parsed(usage.input_tokens);
    this.#output = this.#parsed(usage.output_tokens);
    this.#write = this.#parsed(usage.cache_creation_input_tokens);
    this.#read = this.#parsed(usage.cache_read_input_tokens);
    const { cache_creation, output_tokens_details, server_tool_use } = usage;
    if (isObject(cache_creation)) {
      this.#hour = this.#parsed(cache_creation.ephemeral_1h_input_tokens);
    }
    if (isObject(output_tokens_details)) {
      this.#thinking = this.#parsed(output_tokens_details.thinking_tokens);
    }
    if (isObject(server_tool_use)) {
      this.#searches = this.#parsed(server_tool_use.web_search_requests);
    }
    if (usage.service_tier === "batch") this.#flags |= FLAGS.batch;
    if (usage.speed === "fast") this.#flags |= FLAGS.fast;
    if (usage.inference_geo === "us") this.#flags |= FLAGS.us;
  }

  #parsed(value: unknown): number {
    if (value === undefined) return 0;
    return this.#counted(typeof value === "number" ? value : Number.NaN, value === null);
  }

  /** Into row 0 of `next`; false: no token was counted. */
  fill(next: Columns): boolean {
    const hour = Math.min(this.#hour, this.#write);
    next.input[0] = this.#input;
    next.output[0] = this.#output;
    next.cacheWrite1h[0] = hour;
    next.cacheWrite5m[0] = this.#write - hour;
    next.cacheRead[0] = this.#read;
    next.reasoning[0] = Math.min(this.#thinking, this.#output);
    next.flags[0] = this.#flags | searchBits(this.#searches);
    return this.#input + this.#output + this.#write + this.#read > 0;
  }

  #counted(value: number, isNull = false): number {
    if (value >= 0 && value <= PLAUSIBLE_TOKENS_MAX) return value;
    if (!isNull && !Number.isNaN(value)) this.#flags |= FLAGS.implausible;
    return value > 0 && Number.isFinite(value) ? value : 0;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * No tokenizer of a model has tokens of more than 128 characters, which is at most 512 bytes of
 * UTF-8. So a response with less than one token for 512 bytes of text was recorded wrongly.
 */
const TEXT_BYTES_PER_TOKEN = 512;

/** What is kept of it, in eight bits. */
const FLOOR_MAX = 255;
const TEXT = Buffer.from('"text"');

/** How many output tokens a response with so much text must have at least. */
function floorFor(textBytes: number): number {
  return Math.min(FLOOR_MAX, Math.floor(textBytes / TEXT_BYTES_PER_TOKEN));
}

/** Of the content of a message: text, or blocks. Thinking, calls and results do not count. */
export function floorOf(content: unknown): number {
  if (typeof content === "string") return floorFor(Buffer.byteLength(content));
  if (!Array.isArray(content)) return 0;
  let bytes = 0;
  for (const block of content as readonly ({ type?: unknown; text?: unknown } | null)[]) {
    if (block?.type !== "text" || typeof block.text !== "string") continue;
    bytes += Buffer.byteLength(block.text);
  }
  return floorFor(bytes);
}

/** The same of its JSON. Parses only what may have too much text for this many tokens. */
export function floorIn(bytes: Buffer, from: number, to: number, output: number): number {
  if (to - from < (output + 1) * TEXT_BYTES_PER_TOKEN) return 0;
  const json = bytes.subarray(from, to);
  if (json[0] !== 0x22 && json.indexOf(TEXT) < 0) return 0;
  try {
    return floorOf(JSON.parse(json.toString("utf8")));
  } catch {
    return 0; // Damaged: how much text there was is not known.
  }
}

/** How the rows of a program's files tell what was used. */
export type RowShape = "messages" | "totals";

export interface Scanner {
  /** Where rows are put. */
  readonly set: RowSet;
  /** Fields of a row that say where the session belongs; null: none was seen. */
  readonly about: Readonly<Record<string, unknown>> | null;
  /** What the rows after these depend on, as JSON. */
  readonly state: unknown;
  /** Begins a file, or continues one with the state that it had. */
  begin(state: unknown): void;
  /** Counts whole lines: `from` to `to` of `bytes`, at `offset` of the file. */
  scan(bytes: Buffer, from: number, to: number, offset: number): void;
}
