/** Result content: what a tool gave back, as content that goes to a model. */

import type { Part } from "../model/entry.ts";
import { jsonText } from "../render/json-text.ts";
import type { Content } from "./conversation.ts";
import { imageIn } from "./image.ts";
import { SILENT_FAILURE } from "./phrases.ts";
import type { Place, Repairs } from "./repair-report.ts";
import { isBlank, sendableText } from "./wire-text.ts";

type ResultPart = Extract<Part, { type: "tool_result" }>;

/** What the tool said as texts and images, in order; why it failed first. */
export function resultContent(
  { output, error }: ResultPart,
  from: Place,
  repairs: Repairs,
): readonly Content[] {
  const content: Content[] = [];
  const add = (text: string) => addText(content, text, from, repairs);
  if (error !== null) add(error);
  for (const piece of piecesOf(output)) {
    if (typeof piece === "string") {
      if (piece !== error) add(piece);
    } else if (error !== null) {
      repairs.leaveOut(from, "image_not_taken"); // Anthropic: errors are text, and nothing else.
    } else {
      content.push({ type: "image", image: piece, from });
    }
  }
  if (error !== null && content.length === 0) add(SILENT_FAILURE);
  return content;
}

/** Adds a text unless it is blank, in a form that can be sent. */
function addText(content: Content[], text: string, from: Place, repairs: Repairs): void {
  if (isBlank(text)) return;
  const sendable = sendableText(text);
  if (sendable !== text) repairs.change(from, "escaped");
  content.push({ type: "text", text: sendable, from });
}

type Piece = string | NonNullable<ReturnType<typeof imageIn>>;

function piecesOf(output: unknown): readonly Piece[] {
  if (output === null || output === undefined) return [];
  if (typeof output === "string") return [output];
  if (!Array.isArray(output)) return [jsonText(output)];
  const pieces = output.map((block) => textIn(block) ?? imageIn(block));
  // Blocks of a content, or any other list of values, which is one value then.
  if (output.length === 0 || pieces.every((piece) => piece === null)) return [jsonText(output)];
  return pieces.map((piece, at) => piece ?? jsonText(output[at]));
}

function textIn(block: unknown): string | null {
  const { type, text } = (block ?? {}) as { readonly type?: unknown; readonly text?: unknown };
  const isText = type === "text" || type === "input_text" || type === "output_text";
  return isText && typeof text === "string" ? text : null;
}
