/**
 * Anthropic: the Messages API. User and assistant alternate; results are at the start of the user
 * message that follows their calls. Written from the types of `@anthropic-ai/sdk` 1.8.0; a test
 * compares them.
 */

import type {
  AnswerPiece,
  CallResult,
  DetailsPiece,
  InputPiece,
  NeutralMessage,
} from "../conversation.ts";
import { callsIn } from "../conversation.ts";
import type { Image, ImageType } from "../image.ts";
import { type MessageList, type MessageTarget, piecesOf, type SourcedPiece } from "./target.ts";

export type AnthropicImage = {
  type: "image";
  source: { type: "base64"; media_type: ImageType; data: string } | { type: "url"; url: string };
};

export type AnthropicContent = { type: "text"; text: string } | AnthropicImage;

export type AnthropicBlock =
  | AnthropicContent
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; input: Readonly<Record<string, unknown>> }
  | { type: "tool_result"; tool_use_id: string; content?: AnthropicContent[]; is_error?: true };

export interface AnthropicMessage {
  role: "user" | "assistant";
  content: AnthropicBlock[];
}

export const anthropic: MessageTarget<AnthropicMessage> = {
  takes: {
    thinking: true,
    details: false,
    compaction: "anthropic",
    resultImages: "all",
    systemAnywhere: false,
    callsMax: null,
  },
  build(messages, list) {
    for (const message of messages) add(message, list);
  },
};

function add(message: NeutralMessage, list: MessageList<AnthropicMessage>): void {
  if (message.role !== "assistant") {
    say("user", message.content.map(contentBlock), message.content, list);
    return;
  }
  // Details are not accepted, and left out before (fit.ts).
  const spoken = message.content.filter((piece) => piece.type !== "details");
  say("assistant", spoken.map(spokenBlock), spoken, list);
  const calls = callsIn(message);
  const results = calls.flatMap(({ id, result }) => (result ? [resultBlock(id, result)] : []));
  const pieces = calls.flatMap(({ result }) => (result ? piecesOf(result) : []));
  if (results.length > 0) say("user", results, pieces, list);
}

/** Adds a message, or joins the one before if it is the same speaker's. */
function say(
  role: AnthropicMessage["role"],
  blocks: readonly AnthropicBlock[],
  pieces: readonly SourcedPiece[],
  list: MessageList<AnthropicMessage>,
): void {
  const last = list.messages.at(-1);
  if (last?.role !== role) {
    list.add({ role, content: [...blocks] }, pieces);
    return;
  }
  for (const block of blocks) last.content.push(block);
  list.grow(pieces);
}

function spokenBlock(piece: Exclude<AnswerPiece, DetailsPiece>): AnthropicBlock {
  switch (piece.type) {
    case "text":
      return { type: "text", text: piece.text };
    case "call":
      return { type: "tool_use", id: piece.id, name: piece.tool, input: piece.input };
    case "reasoning":
      return piece.withheld === null
        ? { type: "thinking", thinking: piece.text, signature: piece.signature ?? "" }
        : { type: "redacted_thinking", data: piece.withheld };
    case "compaction":
      // Not in the type: the SDK has the block only for beta requests, and refuses it elsewhere.
      return piece.block as unknown as AnthropicBlock;
  }
}

function resultBlock(id: string, { content, isError }: CallResult): AnthropicBlock {
  return {
    type: "tool_result",
    tool_use_id: id,
    ...(content.length === 0 ? {} : { content: content.map(contentBlock) }),
    ...(isError ? { is_error: true } : {}),
  };
}

function contentBlock(piece: InputPiece): AnthropicContent {
  return piece.type === "text"
    ? { type: "text", text: piece.text }
    : { type: "image", source: sourceOf(piece.image) };
}

function sourceOf(image: Image): AnthropicImage["source"] {
  if (image.kind === "url") return { type: "url", url: image.url };
  return { type: "base64", media_type: image.mediaType, data: image.base64 };
}
