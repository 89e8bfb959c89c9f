/**
 * Tool input: the JSON that a model writes for a tool, which arrives as text in pieces.
 *
 * TI1  A call is a `tool_call` only when its input is whole. Text that is not JSON, or that ended
 *      nobody knows where, is kept as it arrived in an `other` part: nobody can run it by mistake.
 */

import { CAPTURED_DEPTH_MAX } from "../base/limits.ts";
import { isTooDeep, lineBytes } from "./budget.ts";

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
  const isLonger = lineBytes(JSON.stringify(input)) > lineBytes(JSON.stringify(text));
  return isLonger ? null : { input };
}

/** The same for OpenAI, whose models may leave the text empty when a tool takes nothing. */
export function readArguments(text: string): { readonly input: unknown } | null {
  return text === "" ? { input: {} } : readInput(text);
}
