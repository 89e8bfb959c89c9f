/**
 * OpenAI chat: chat completions. Each call's result is its own message, right after the message
 * with the calls. Written from the types of `openai` 6.49.0; a test compares them.
 */

import { RESUME_LIMITS } from "../../core/base/limits.ts";
import type { CallResult, InputPiece, NeutralMessage } from "../conversation.ts";
import { callsIn } from "../conversation.ts";
import { urlOf } from "../image.ts";
import { contentText, type MessageList, type MessageTarget, piecesOf } from "./target.ts";

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
export function resultText({ content, isError }: CallResult): string {
  const text = contentText(content);
  return isError ? `Error: ${text}` : text;
}
