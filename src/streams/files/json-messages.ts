/**
 * JSON messages: splits a request body for a JSON stream into the lines that are stored.
 *
 * - A message is a slice of the source text. Numbers, key order, duplicate keys, escapes and spaces
 *   stay unchanged; nothing is serialised again.
 * - Only CR and LF are removed. In valid JSON they are between tokens and never within a string, so
 *   no value changes, and a message is one line.
 * - An array is one message per element, without the whitespace around it; one level only.
 * - Too many messages or too deep nesting is refused before parsing, because parsing would take the
 *   time and memory of other requests.
 */

import { isUtf8 } from "node:buffer";
import { VerbatimError } from "../../core/base/errors.ts";
import { APPEND_MESSAGES_MAX, MESSAGE_DEPTH_MAX } from "../../core/base/limits.ts";
import { LF } from "../../core/log/bytes.ts";

/** The default type of a stream. */
export const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/**
 * Which streams are JSON, and when two types are equal.
 *
 * Only the media type counts, ignoring case. Parameters (`; charset=utf-8`) are stored as sent and
 * never compared, as in the protocol's test suite.
 *
 * Its messages are JSON values, one per line. `application/vnd.x+json` is not: it is stored as
 * bytes.
 */
export function isJsonType(contentType: string): boolean {
  return mediaType(contentType) === "application/json";
}

export function sameType(a: string, b: string): boolean {
  return a === b || mediaType(a) === mediaType(b);
}

/** Lower case, without parameters; the default if there is none. */
function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(";");
  const type = semicolon === -1 ? contentType : contentType.slice(0, semicolon);
  return type.trim().toLowerCase() || DEFAULT_CONTENT_TYPE;
}

export interface JsonMessages {
  /** Lines, each ending in LF. */
  readonly bytes: Uint8Array;
  /** The length of each line, including its LF. */
  readonly lengths: readonly number[];
}

const CR = 0x0d;
const TAB = 0x09;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * The lines of one post; none for `[]`. Throws BAD_MESSAGE if it is not UTF-8 JSON or nests too
 * deep, TOO_MANY_MESSAGES if it has more messages than one append may.
 */
export function jsonMessages(body: Uint8Array, stream: string): JsonMessages {
  const source = Buffer.from(body.buffer, body.byteOffset, body.length);
  const isArray = source[skipSpace(source, 0)] === OPEN_ARRAY;
  refuseTooMuch(source, stream, isArray ? 1 : 0);
  refuseUnlessJson(source, stream);
  const text = source.includes(LF) || source.includes(CR) ? withoutLineBreaks(source) : source;
  return isArray ? elements(text) : oneLine(text);
}

/** The body that makes `data` one message, also when it is an array. */
export function asOneMessage(data: Uint8Array, stream: string): Uint8Array {
  const source = Buffer.from(data.buffer, data.byteOffset, data.length);
  if (source[skipSpace(source, 0)] !== OPEN_ARRAY) return data;
  refuseTooMuch(source, stream, 0);
  refuseUnlessJson(source, stream); // `[1],[2]` must not become two messages.
  return Buffer.concat([Buffer.of(OPEN_ARRAY), source, Buffer.of(CLOSE_ARRAY)]);
}

/**
 * Refuses too deep nesting; `around` levels are not part of a message. The text need not be JSON.
 */
function refuseTooMuch(source: Buffer, stream: string, around: 0 | 1): void {
  const depthMax = MESSAGE_DEPTH_MAX + around;
  const messagesMax = around === 1 ? APPEND_MESSAGES_MAX : Number.POSITIVE_INFINITY;
  // Almost every text ends here, after a fast search for brackets.
  if (source.length < 2 * messagesMax && !opensMore(source, depthMax)) return;
  let depth = 0;
  let messages = 1;
  for (let at = 0; at < source.length; at++) {
    const byte = source[at];
    if (byte === QUOTE) at = closingQuote(source, at);
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (++depth > depthMax) throw tooDeep(stream);
    } else if (byte === COMMA && depth === 1 && ++messages > messagesMax) {
      throw tooManyMessages(stream);
    }
  }
}

/** Whether a text that may be JSON opens more than `count` arrays and objects. */
function opensMore(source: Buffer, count: number): boolean {
  if (source.length <= 2 * count) return false; // Each is also closed.
  let opened = 0;
  for (const opening of [OPEN_ARRAY, OPEN_OBJECT]) {
    for (let at = source.indexOf(opening); at !== -1; at = source.indexOf(opening, at + 1)) {
      if (++opened > count) return true;
    }
  }
  return false;
}

function tooDeep(stream: string): VerbatimError<"BAD_MESSAGE"> {
  return new VerbatimError(
    "BAD_MESSAGE",
    `the body sent to ${stream} nests deeper than ${MESSAGE_DEPTH_MAX} levels; ` +
      "flatten it, or send it as a string",
    { stream, reason: "nested too deep" },
  );
}

function tooManyMessages(stream: string): VerbatimError<"TOO_MANY_MESSAGES"> {
  return new VerbatimError(
    "TOO_MANY_MESSAGES",
    `the body sent to ${stream} has more than ${APPEND_MESSAGES_MAX} messages; ` +
      "send it in several appends",
    { stream, messagesMax: APPEND_MESSAGES_MAX },
  );
}

function refuseUnlessJson(source: Buffer, stream: string): void {
  if (!isUtf8(source)) throw badMessage(stream, "not UTF-8");
  try {
    JSON.parse(source.toString("utf8"));
  } catch {
    // The parser's message quotes the text, so it is not passed on.
    throw badMessage(stream, "not JSON");
  }
}

function badMessage(stream: string, reason: string): VerbatimError<"BAD_MESSAGE"> {
  return new VerbatimError(
    "BAD_MESSAGE",
    `the body sent to ${stream} is ${reason}; send one JSON value or an array of them`,
    { stream, reason },
  );
}

function withoutLineBreaks(source: Buffer): Buffer {
  const copy = Buffer.allocUnsafe(source.length);
  let length = 0;
  for (const byte of source) {
    if (byte !== LF && byte !== CR) copy[length++] = byte;
  }
  return copy.subarray(0, length);
}

function oneLine(text: Buffer): JsonMessages {
  const bytes = Buffer.allocUnsafe(text.length + 1);
  text.copy(bytes);
  bytes[text.length] = LF;
  return { bytes, lengths: [bytes.length] };
}

/** Copies each element with an LF after it. The array's brackets and commas make room for them. */
function elements(text: Buffer): JsonMessages {
  const bytes = Buffer.allocUnsafe(text.length);
  const lengths: number[] = [];
  let end = 0;
  for (let from = skipSpace(text, skipSpace(text, 0) + 1); text[from] !== CLOSE_ARRAY; ) {
    const next = elementEnd(text, from);
    const to = trimmedEnd(text, next);
    text.copy(bytes, end, from, to);
    end += to - from;
    bytes[end++] = LF;
    lengths.push(to - from + 1);
    from = text[next] === COMMA ? skipSpace(text, next + 1) : next;
  }
  return { bytes: bytes.subarray(0, end), lengths };
}

/** The comma or bracket after the element that begins at `from`. The text is valid JSON. */
function elementEnd(text: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; ; at++) {
    const byte = text[at];
    if (byte === QUOTE) at = closingQuote(text, at);
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++;
    else if (byte === CLOSE_OBJECT) depth--;
    else if (byte === CLOSE_ARRAY && depth-- === 0) return at;
    else if (byte === COMMA && depth === 0) return at;
  }
}

/** The end of the text, or past it, when there is none: then it is not JSON. */
function closingQuote(text: Buffer, openingQuote: number): number {
  let at = openingQuote + 1;
  while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
  return at;
}

function skipSpace(text: Buffer, from: number): number {
  let at = from;
  while (isSpace(text[at])) at++;
  return at;
}

function trimmedEnd(text: Buffer, end: number): number {
  let at = end;
  while (isSpace(text[at - 1])) at--;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}
