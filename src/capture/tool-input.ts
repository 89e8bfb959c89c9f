/**
 * Tool input: the JSON that a model writes for a tool, which arrives as text in pieces.
 *
 * TI1  A call is a `tool_call` only when its input is whole. Text that is not JSON, or that ended
 *      nobody knows where, is kept as it arrived in an `other` part: nobody can run it by mistake.
 * TI2  No text at all is the input of a tool that takes nothing, unless the message was broken off
 *      right there, at its last call: then the input was still to come.
 */

import { CAPTURED_DEPTH_MAX } from "../base/limits.ts";
import { isTooDeep, lineBytes } from "./budget.ts";

/** Why providers stop wherever a message happens to be, in the words of all of them. */
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
 * What the text says, in a box, since `null` is an input, too. No box when it is no JSON, or JSON
 * that could not be kept: it nests too deep or, like a list of 1e20, is longer written anew.
 */
export function readInput(text: string): { readonly input: unknown } | null {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    return null; // The caller keeps the text.
  }
  if (isTooDeep(input, CAPTURED_DEPTH_MAX)) return null;
  const json = JSON.stringify(input);
  const isLonger = lineBytes(json) > lineBytes(JSON.stringify(text));
  // Read again: 1e400 is Infinity at first, which no log can hold, and null once written (BU1).
  return isLonger ? null : { input: JSON.parse(json) };
}

/** The same for OpenAI, whose models may leave the text empty when a tool takes nothing. */
export function readArguments(text: string): { readonly input: unknown } | null {
  return text === "" ? { input: {} } : readInput(text);
}
