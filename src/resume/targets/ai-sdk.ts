/**
 * AI SDK: the model messages of Vercel's `ai`, from version 5 on, which passes them to any
 * provider. Results are in a tool message, right after the message with the calls; thinking has its
 * signature for Anthropic, the only provider that sends one.
 */

import { RESUME_LIMITS } from "../../core/base/limits.ts";
import type {
  AnswerPiece,
  CallPiece,
  CallResult,
  InputPiece,
  NeutralMessage,
} from "../conversation.ts";
import { callsIn } from "../conversation.ts";
import type { ImageType } from "../image.ts";
import { urlOf } from "../image.ts";
import { contentText, type MessageList, type MessageTarget, piecesOf } from "./target.ts";

export type AiSdkContent =
  | { type: "text"; text: string }
  | { type: "image"; image: string; mediaType?: ImageType };

export type AiSdkSpoken =
  | { type: "text"; text: string }
  | {
      type: "reasoning";
      text: string;
      providerOptions: { anthropic: { signature: string } | { redactedData: string } };
    }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: unknown };

export type AiSdkOutputPart =
  | { type: "text"; text: string }
  | { type: "media"; data: string; mediaType: ImageType };

export type AiSdkOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "content"; value: AiSdkOutputPart[] };

export interface AiSdkResult {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: AiSdkOutput;
}

export type AiSdkMessage =
  | { role: "user"; content: AiSdkContent[] }
  | { role: "assistant"; content: AiSdkSpoken[] }
  | { role: "tool"; content: AiSdkResult[] };

export const aiSdk: MessageTarget<AiSdkMessage> = {
  takes: {
    thinking: true,
    details: false,
    compaction: null,
    resultImages: "data",
    systemAnywhere: false,
    callsMax: RESUME_LIMITS.messageCallsMax,
  },
  build(messages, list) {
    for (const message of messages) add(message, list);
  },
};

function add(message: NeutralMessage, list: MessageList<AiSdkMessage>): void {
  if (message.role !== "assistant") {
    list.add({ role: "user", content: message.content.map(userPart) }, message.content);
    return;
  }
  list.add({ role: "assistant", content: message.content.flatMap(spokenParts) }, message.content);
  const calls = callsIn(message);
  const results = calls.flatMap((call) => (call.result ? [resultPart(call, call.result)] : []));
  const pieces = calls.flatMap(({ result }) => (result ? piecesOf(result) : []));
  if (results.length > 0) list.add({ role: "tool", content: results }, pieces);
}

function userPart(piece: InputPiece): AiSdkContent {
  if (piece.type === "text") return { type: "text", text: piece.text };
  const { image } = piece;
  const typed = image.kind === "data" ? { mediaType: image.mediaType } : {};
  return { type: "image", image: urlOf(image), ...typed };
}

function spokenParts(piece: AnswerPiece): AiSdkSpoken[] {
  switch (piece.type) {
    case "text":
      return [{ type: "text", text: piece.text }];
    case "call": {
      const { id, tool, input } = piece;
      return [{ type: "tool-call", toolCallId: id, toolName: tool, input }];
    }
    case "reasoning": {
      const { text, signature, withheld } = piece;
      const seal = withheld === null ? { signature: signature ?? "" } : { redactedData: withheld };
      return [{ type: "reasoning", text, providerOptions: { anthropic: seal } }];
    }
    case "compaction":
    case "details":
      return []; // Not accepted; left out before (compaction.ts, fit.ts).
  }
}

function resultPart({ id, tool }: CallPiece, result: CallResult): AiSdkResult {
  return { type: "tool-result", toolCallId: id, toolName: tool, output: outputOf(result) };
}

function outputOf({ content, isError }: CallResult): AiSdkOutput {
  if (!content.some(({ type }) => type === "image")) {
    return { type: isError ? "error-text" : "text", value: contentText(content) };
  }
  const value = content.flatMap((piece): AiSdkOutputPart[] => {
    if (piece.type === "text") return [{ type: "text", text: piece.text }];
    if (piece.image.kind === "url") return []; // Not accepted; left out before (fit.ts).
    const { base64: data, mediaType } = piece.image;
    return [{ type: "media", data, mediaType }];
  });
  return { type: "content", value };
}
