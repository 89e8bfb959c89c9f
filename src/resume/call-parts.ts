/**
 * Result content: a tool's output as content for a model.
 *
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

import type { Part } from "../core/model/entry.ts";
import { mediaIn } from "../core/model/media.ts";
import { jsonText } from "../sessions/render/text.ts";
import type { InputPiece } from "./conversation.ts";
import { type Image, imageOf } from "./image.ts";
import type { EntryLine, RepairReason, Repairs } from "./repair-report.ts";
import { holdsRoundedNumber, isBlank, SILENT_FAILURE, sendableText } from "./wire-text.ts";

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

const TOOL_PREFIX = "tool-";
const TOOL_NAME_CHARS_MAX = 64;
const CALL_ID = /^[A-Za-z0-9_-]{1,40}$/;
const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g;

type ResultPart = Extract<Part, { type: "tool_result" }>;

/** The tool's texts and images, in order; its error first. */
export function resultContent(
  { output, error, callId }: ResultPart,
  from: EntryLine,
  repairs: Repairs,
): readonly InputPiece[] {
  const content: InputPiece[] = [];
  const leaveOut = (why: RepairReason) => repairs.leaveOut(from, why, callId);
  const add = (text: string) => {
    if (!isBlank(text)) content.push({ type: "text", text: sent(text, from, repairs), from });
    else if (text !== "") leaveOut("blank"); // An empty output is sent as it is.
  };
  if (error !== null) add(error);
  for (const piece of piecesOf(output)) {
    switch (piece.type) {
      case "text":
        if (piece.text !== error) add(piece.text);
        break;
      case "value":
        if (holdsRoundedNumber(piece.value)) repairs.change(from, "number_rounded", callId);
        add(jsonText(piece.value));
        break;
      case "image":
        // Anthropic: errors are text only.
        if (piece.image === null || error !== null) leaveOut("image_not_taken");
        else content.push({ type: "image", image: piece.image, from });
        break;
      case "file":
        leaveOut("block_not_taken");
        break;
    }
  }
  if (error !== null && content.length === 0) add(SILENT_FAILURE);
  return content;
}

/** In a form that can be sent. */
function sent(text: string, from: EntryLine, repairs: Repairs): string {
  const sendable = sendableText(text);
  if (sendable !== text) repairs.change(from, "escaped");
  return sendable;
}

/** A piece of an output: anything that is not a block is a value of the tool's own. */
type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly image: Image | null }
  | { readonly type: "file" }
  | { readonly type: "value"; readonly value: unknown };

function piecesOf(output: unknown): readonly Piece[] {
  if (output === null || output === undefined) return [];
  if (typeof output === "string") return [{ type: "text", text: output }];
  if (!Array.isArray(output)) return [mediaPiece(output) ?? { type: "value", value: output }];
  const pieces = output.map((value): Piece => {
    return textIn(value) ?? mediaPiece(value) ?? { type: "value", value };
  });
  // Blocks of a content; any other list is one value.
  const isContent = pieces.some(({ type }) => type !== "value");
  return isContent ? pieces : [{ type: "value", value: output }];
}

function textIn(block: unknown): Piece | null {
  const { type, text } = (block ?? {}) as { readonly type?: unknown; readonly text?: unknown };
  const isText = type === "text" || type === "input_text" || type === "output_text";
  return isText && typeof text === "string" ? { type: "text", text } : null;
}

function mediaPiece(block: unknown): Piece | null {
  const media = mediaIn(block);
  if (media === null) return null;
  return media.type === "file" ? { type: "file" } : { type: "image", image: imageOf(media) };
}

export interface BrokenCall {
  readonly callId: string | null;
  readonly tool: string;
  readonly inputText: string;
}

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
