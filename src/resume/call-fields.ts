/**
 * Call fields: ids of calls and names of tools that every provider accepts, and broken calls.
 *
 * - An id is used once in a request, however often the log used it.
 * - 40 characters is the lowest limit of any provider for an id (OpenAI's chat), 64 for a tool's
 *   name.
 * - A valid name is unchanged, and a prefix of a session gets the same names as the whole.
 *
 * A broken call is a tool call that was cut before its input was complete, so it cannot have run.
 * Capture keeps the provider's block with the text that arrived as `input_text`; the AI SDK has a
 * state for it.
 */

import { jsonText } from "../sessions/render/text.ts";

export interface BrokenCall {
  readonly callId: string | null;
  readonly tool: string;
  readonly inputText: string;
}

/**
 * The field of the call's id in each provider's block. Tools that the provider runs itself are not
 * included.
 */
const ID_KEYS: Readonly<Record<string, string>> = {
  tool_use: "id",
  function: "id",
  function_call: "call_id",
  custom_tool_call: "call_id",
};

type Block = Readonly<Record<string, unknown>>;

export function brokenCallIn(native: unknown): BrokenCall | null {
  if (typeof native !== "object" || native === null) return null;
  const block = native as Block;
  if (block.state === "input-streaming") return aiSdkCall(block);
  const { type, name, function: named, input_text: inputText } = block;
  if (typeof type !== "string" || typeof inputText !== "string") return null;
  const idKey = Object.hasOwn(ID_KEYS, type) ? ID_KEYS[type] : undefined;
  if (idKey === undefined) return null;
  const said = type === "function" ? (named as Block | null | undefined)?.name : name;
  return {
    callId: textOr(block[idKey], null),
    tool: textOr(said, null) ?? "",
    inputText,
  };
}

const TOOL_PREFIX = "tool-";

/** A tool part of a `UIMessage`. Its partial input may be parsed already. */
function aiSdkCall(part: Block): BrokenCall | null {
  const { type, toolName, toolCallId, rawInput, input, providerExecuted } = part;
  if (typeof type !== "string" || providerExecuted === true) return null;
  const isNamed = type.startsWith(TOOL_PREFIX);
  if (!isNamed && type !== "dynamic-tool") return null;
  const read = input === undefined ? "" : jsonText(input);
  return {
    callId: textOr(toolCallId, null),
    tool: isNamed ? type.slice(TOOL_PREFIX.length) : (textOr(toolName, null) ?? ""),
    inputText: textOr(rawInput, read),
  };
}

function textOr<T>(value: unknown, fallback: T): string | T {
  return typeof value === "string" && value !== "" ? value : fallback;
}

const TOOL_NAME_CHARS_MAX = 64;

const CALL_ID = /^[A-Za-z0-9_-]{1,40}$/;
const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g;

export class CallIds {
  readonly #used = new Set<string>();

  /** The id under which a call is sent. */
  next(recorded: string | null): string {
    const fits = recorded !== null && CALL_ID.test(recorded) && !this.#used.has(recorded);
    let id = fits ? recorded : `call_${this.#used.size + 1}`;
    for (let more = 2; this.#used.has(id); more++) id = `call_${this.#used.size + 1}_${more}`;
    this.#used.add(id);
    return id;
  }
}

/** A tool's name as providers accept it: `oven.status` becomes `oven_status`. */
export function toolName(recorded: string): string {
  return recorded.replace(NOT_IN_NAMES, "_").slice(0, TOOL_NAME_CHARS_MAX) || "tool";
}
