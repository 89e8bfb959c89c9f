/**
 * Event fold: collects the events of one provider into parts of a message. Pure: no stream, no
 * session, no clock.
 *
 * - Events may be anything. An event that is not of its kind is refused with BAD_STREAM; one that
 *   is only unknown is skipped or, when it belongs to the message, kept.
 * - After any number of events, refused ones included, `entry` has what arrived.
 * - The input of a tool is JSON that arrives as text in pieces. A call is a `tool_call` only when its
 *   input is complete. Text that is not JSON, or may be cut, is kept as it arrived in an `other`
 *   part, so that it is not run by mistake.
 * TI2  An empty text is the input of a tool without parameters, unless the message was cut right
 *      there, at its last call: then the input was still to come.
 */

import type { VerbatimError } from "../../core/base/errors.ts";
import { parseExactly } from "../../core/base/exact-numbers.ts";
import { CAPTURED_DEPTH_MAX } from "../../core/base/limits.ts";
import type { NewEntry, Part, Usage } from "../../core/model/entry.ts";
import { isTooDeep, lineBytes } from "./budget.ts";
import type { JsonObject } from "./wire.ts";

export interface EventFold<Result> {
  /**
   * Collects one event. Returns "whole" or the provider's error when the message ends with it,
   * "unknown" when its type belongs to nothing.
   */
  take(event: JsonObject): "whole" | "unknown" | VerbatimError | null;
  /** Whether the message is complete when no more events come. */
  isWhole(): boolean;
  /** What arrived; null when there is nothing. */
  entry(isPartial: boolean): NewEntry | null;
  /** The result of a complete message. */
  result(): Result;
}

/** The contents of a message, of any provider. */
export interface AssistantParts {
  readonly parts: readonly Part[];
  readonly model: string | null;
  readonly messageId: string | null;
  readonly stopReason: string | null;
  readonly usage: Usage | null;
}

export function assistantEntry(message: AssistantParts, isPartial: boolean): NewEntry {
  const { parts, model, messageId, stopReason, usage } = message;
  return {
    kind: "message",
    role: "assistant",
    parts,
    model,
    usage,
    ...(messageId === null ? {} : { messageId }),
    ...(stopReason === null ? {} : { stopReason }),
    ...(isPartial ? { isPartial } : {}),
  };
}

/** Stop reasons of all providers that may cut a message anywhere. */
const BREAKING_OFF: readonly (string | null)[] = [
  "content_filter",
  "length",
  "max_tokens",
  "model_context_window_exceeded",
  "refusal",
];

/** Whether a message with this stop reason may have been cut within its last call (TI2). */
export function isBrokenOff(stopReason: string | null): boolean {
  return BREAKING_OFF.includes(stopReason);
}

/**
 * The parsed text in an object, since `null` is a valid input. Null when it is not JSON, or JSON
 * that cannot be kept: it nests too deep or, like a list of 1e20, gets longer when serialised.
 */
export function readInput(text: string): { readonly input: unknown } | null {
  let input: unknown;
  try {
    input = parseExactly(text);
  } catch {
    return null; // The caller keeps the text.
  }
  if (isTooDeep(input, CAPTURED_DEPTH_MAX)) return null;
  const json = JSON.stringify(input);
  const isLonger = lineBytes(json) > lineBytes(JSON.stringify(text));
  // Parsed again: 1e400 is Infinity at first, which no log can hold, and null once written (BU1).
  return isLonger ? null : { input: JSON.parse(json) };
}

/**
 * Like `readInput`, for OpenAI, whose models may leave the text empty when a tool has no
 * parameters.
 */
export function readArguments(text: string): { readonly input: unknown } | null {
  return text === "" ? { input: {} } : readInput(text);
}
