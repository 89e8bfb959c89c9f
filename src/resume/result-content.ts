/** Result content: a tool's output as content for a model. */

import type { Part } from "../core/model/entry.ts";
import { jsonText } from "../sessions/render/text.ts";
import type { InputPiece } from "./conversation.ts";
import { type Image, imageIn, isFile } from "./image.ts";
import { SILENT_FAILURE } from "./phrases.ts";
import type { EntryLine, RepairReason, Repairs } from "./repair-report.ts";
import { holdsRoundedNumber, isBlank, sendableText } from "./wire-text.ts";

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
        if (piece.image === "not_taken" || error !== null) leaveOut("image_not_taken");
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
  | { readonly type: "image"; readonly image: Image | "not_taken" }
  | { readonly type: "file" }
  | { readonly type: "value"; readonly value: unknown };

function piecesOf(output: unknown): readonly Piece[] {
  if (output === null || output === undefined) return [];
  if (typeof output === "string") return [{ type: "text", text: output }];
  if (!Array.isArray(output)) return [mediaIn(output) ?? { type: "value", value: output }];
  const pieces = output.map((value): Piece => {
    return textIn(value) ?? mediaIn(value) ?? { type: "value", value };
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

function mediaIn(block: unknown): Piece | null {
  const image = imageIn(block);
  if (image !== null) return { type: "image", image };
  return isFile(block) ? { type: "file" } : null;
}
