/**
 * Wire text: texts and values that every provider's parser accepts.
 *
 * - NULs and lone surrogates become the six characters of their JSON escape (`\u0000`): the first
 *   would make every request of the session fail, the second have no UTF-8.
 * - An unchanged value is returned as the same object.
 * - A number that may differ from the log's is reported: an integer from 2^53 on, which may be a
 *   string of its digits (base/exact-numbers.ts), and one beyond all doubles, which is sent as null.
 *
 * Phrases: every text that resume itself adds to a conversation.
 */

import { digitKeys } from "../core/base/exact-numbers.ts";

/** For a call without a result. Models act on it: an action that ran must not run again unseen. */
export const UNCERTAIN_RESULT =
  "UNCERTAIN: no result of this call was recorded. The tool may have run, wholly, in part or not " +
  "at all. Check what it did before you call it again.";

/** For a call that was cut before its input was complete. */
export const NOT_STARTED_RESULT =
  "NOT STARTED: this call broke off before its input was whole. The tool did not run.";

/** For a tool that failed without a reason. */
export const SILENT_FAILURE = "The tool failed and said nothing.";
export const STRAY_RESULT = "[The result of a tool call that is not in this conversation:]";
export const STRAY_OUTPUT = "[A tool's output, without the call that it belongs to:]";
export const SYSTEM_SAID = "[The system says:]";
/** For a session that begins with an assistant message. */
export const FIRST_USER_TEXT = "[The conversation begins with the assistant's words.]";
/** For one that ends with an assistant message, unless the caller passes a prompt. */
export const LAST_USER_TEXT = "Continue.";

// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what it looks for.
const UNSENDABLE = /\u0000|\p{Surrogate}/u;

// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what it looks for.
const EACH_UNSENDABLE = /\u0000|\p{Surrogate}/gu;

/** Every escape of a JSON text, so that an escaped backslash is never misread. */
const ESCAPES = /\\(u0000|ud[89a-f][0-9a-f]{2}|.)/g;

/** Also what Python, in which providers check, reads as white space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const BLANK = /^[\s\u001c-\u001f\u0085]*$/;

export function isSendable(text: string): boolean {
  return !UNSENDABLE.test(text);
}

export function sendableText(text: string): string {
  if (isSendable(text)) return text;
  return text.replace(EACH_UNSENDABLE, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Whether a text is blank to Anthropic, which refuses such text blocks. */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}

export interface SendableValue<T> {
  readonly value: T;
  /** Nothing had to be changed. */
  readonly isSame: boolean;
  /** Its length as JSON. */
  readonly chars: number;
}

/** A JSON value with sendable strings and keys; null when it is nested too deep. */
export function sendableValue<T>(value: T): SendableValue<T> | null {
  let json: string;
  try {
    json = JSON.stringify(value) ?? "null";
  } catch (cause) {
    if (cause instanceof RangeError) return null; // Stack overflow; a log has no cycles.
    throw cause;
  }
  let isSame = true;
  const escaped = json.replace(ESCAPES, (whole, said: string) => {
    if (said.length === 1) return whole;
    isSame = false;
    return `\\\\${said}`;
  });
  // JSON.parse makes __proto__ an ordinary key; copying would not.
  const chars = escaped.length;
  return { value: isSame ? value : (JSON.parse(escaped) as T), isSame, chars };
}

/** Nothing here recurses: a line can be nested millions deep. */
export function holdsRoundedNumber(value: unknown): boolean {
  const rest = [value];
  while (rest.length > 0) {
    const held = rest.pop();
    if (typeof held === "number" && isRounded(held)) return true;
    if (typeof held !== "object" || held === null) continue;
    if (digitKeys(held) !== null) return true;
    for (const inner of Object.values(held)) rest.push(inner);
  }
  return false;
}

/** Doubles from 2^53 on are all integers, and each represents several. */
function isRounded(number: number): boolean {
  return Math.abs(number) > Number.MAX_SAFE_INTEGER;
}
