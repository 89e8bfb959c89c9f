/**
 * OpenAI chat: chat completions. Each call's result is its own message, right after the message
 * with the calls. Written from the types of `openai` 6.49.0; a test compares them.
 *
 * OpenAI responses: the items of a response's input. Calls come first, then their outputs, each
 * with its call's id. Items have no ids of their own: with one, a call is refused without the
 * reasoning that came before it. Written from the types of `openai` 6.49.0; a test compares them.
 */

import { RESUME_LIMITS } from "../../core/base/limits.ts";
import { type CallResult, callsIn, type InputPiece, type NeutralMessage } from "../conversation.ts";
import { urlOf } from "../image.ts";
import { contentText, type MessageList, type MessageTarget, piecesOf } from "./target.ts";

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
    for (const message of messages) addItems(message, list);
  },
};

export type ChatContent =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } };

export interface ChatToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export type ChatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | ChatContent[] }
  | {
      role: "assistant";
      content: string | null;
      tool_calls?: ChatToolCall[];
      /** OpenRouter's; only for sessions recorded from it. */
      reasoning_details?: unknown[];
    }
  | { role: "tool"; tool_call_id: string; content: string };

export const openaiChat: MessageTarget<ChatMessage> = {
  takes: {
    thinking: false,
    details: true,
    compaction: null,
    resultImages: "none",
    systemAnywhere: true,
    callsMax: RESUME_LIMITS.messageCallsMax,
  },
  build(messages, list) {
    for (const message of messages) add(message, list);
  },
};

function add(message: NeutralMessage, list: MessageList<ChatMessage>): void {
  const { content } = message;
  if (message.role === "system") {
    list.add({ role: "system", content: contentText(content) }, content);
    return;
  }
  if (message.role === "user") {
    list.add({ role: "user", content: userContent(message.content) }, content);
    return;
  }
  const calls = callsIn(message);
  const said = contentText(content) || null;
  const toolCalls = calls.map(({ id, tool, input }): ChatToolCall => {
    return { id, type: "function", function: { name: tool, arguments: JSON.stringify(input) } };
  });
  const called = toolCalls.length === 0 ? {} : { tool_calls: toolCalls };
  const details = content.flatMap((piece) => (piece.type === "details" ? piece.details : []));
  const thought = details.length === 0 ? {} : { reasoning_details: details };
  list.add({ role: "assistant", content: said, ...called, ...thought }, content);
  for (const { id, result } of calls) {
    if (!result) continue;
    const told = { role: "tool", tool_call_id: id, content: resultText(result) } as const;
    list.add(told, piecesOf(result));
  }
}

function userContent(content: readonly InputPiece[]): string | ChatContent[] {
  const [only, ...more] = content;
  if (only?.type === "text" && more.length === 0) return only.text;
  return content.map((piece) =>
    piece.type === "text"
      ? { type: "text", text: piece.text }
      : { type: "image_url", image_url: { url: urlOf(piece.image) } },
  );
}

/** The schema cannot say that a tool failed, so the text does. */
function resultText({ content, isError }: CallResult): string {
  const text = contentText(content);
  return isError ? `Error: ${text}` : text;
}

export type ResponsesContent =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" };

export type ResponsesItem =
  | { type: "message"; role: "user" | "system"; content: ResponsesContent[] }
  | { type: "message"; role: "assistant"; content: string }
  | { type: "compaction"; encrypted_content: string }
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | { type: "function_call_output"; call_id: string; output: string | ResponsesContent[] };

function addItems(message: NeutralMessage, list: MessageList<ResponsesItem>): void {
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
