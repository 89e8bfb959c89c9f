/**
 * OpenAI responses: the items of a response's input. Calls come first, then their outputs, each
 * with its call's id. Items have no ids of their own: with one, a call is refused without the
 * reasoning that came before it. Written from the types of `openai` 6.49.0; a test compares them.
 */

import type { CallResult, InputPiece, NeutralMessage } from "../conversation.ts";
import { callsIn } from "../conversation.ts";
import { urlOf } from "../image.ts";
import { resultText } from "./openai-chat.ts";
import { type MessageList, type MessageTarget, piecesOf } from "./target.ts";

export type ResponsesContent =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" };

export type ResponsesItem =
  | { type: "message"; role: "user" | "system"; content: ResponsesContent[] }
  | { type: "message"; role: "assistant"; content: string }
  | { type: "compaction"; encrypted_content: string }
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | { type: "function_call_output"; call_id: string; output: string | ResponsesContent[] };

export const openaiResponses: MessageTarget<ResponsesItem> = {
  takes: {
    thinking: false,
    details: false,
    compaction: "openai",
    resultImages: "all",
    systemAnywhere: true,
    callsMax: null,
  },
  build(messages, list) {
    for (const message of messages) add(message, list);
  },
};

function add(message: NeutralMessage, list: MessageList<ResponsesItem>): void {
  const { role } = message;
  if (role !== "assistant") {
    const content = message.content.map(inputContent);
    list.add({ type: "message", role, content }, message.content);
    return;
  }
  for (const piece of message.content) {
    if (piece.type === "text") {
      list.add({ type: "message", role, content: piece.text }, [piece]);
    } else if (piece.type === "call") {
      const { id, tool, input } = piece;
      const call = { call_id: id, name: tool, arguments: JSON.stringify(input) };
      list.add({ type: "function_call", ...call }, [piece]);
    } else if (piece.type === "compaction") {
      const sealed = String(piece.block.encrypted_content);
      list.add({ type: "compaction", encrypted_content: sealed }, [piece]);
    }
  }
  for (const { id, result } of callsIn(message)) {
    if (!result) continue;
    const output = outputOf(result);
    list.add({ type: "function_call_output", call_id: id, output }, piecesOf(result));
  }
}

function outputOf(result: CallResult): string | ResponsesContent[] {
  const hasImages = result.content.some(({ type }) => type === "image");
  return hasImages ? result.content.map(inputContent) : resultText(result);
}

function inputContent(piece: InputPiece): ResponsesContent {
  return piece.type === "text"
    ? { type: "input_text", text: piece.text }
    : { type: "input_image", image_url: urlOf(piece.image), detail: "auto" };
}
