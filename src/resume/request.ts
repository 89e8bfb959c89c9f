/**
 * Request: the body of a request, from a resumed session.
 *
 * - It can be sent as it is. For a session with tool calls, Anthropic requires tools, so the called
 *   ones are listed, without a description and with `tool_choice` none: a caller that has the tools
 *   replaces both.
 * - A provider refuses a body without a model, so MODEL_UNKNOWN is thrown.
 */

import { VerbatimError } from "../core/base/errors.ts";
import type { TargetName } from "./repair-report.ts";
import type { Resumed, TargetMessages } from "./resume.ts";
import type { AiSdkMessage } from "./targets/ai-sdk.ts";
import type { AnthropicMessage } from "./targets/anthropic.ts";
import type { ChatMessage, ResponsesItem } from "./targets/openai.ts";

export interface RequestOptions {
  /** Default: the session's model, if it is one of this provider's. */
  readonly model?: string;
  /** Anthropic requires one. Default: 4096. */
  readonly maxTokens?: number;
}

/** Enough for an answer, and no more than any model of the provider allows. */
export const MAX_TOKENS_DEFAULT = 4096;

/** A tool of which the session has only the name. */
export interface AnthropicTool {
  name: string;
  input_schema: { type: "object" };
}

/** Compatible with the SDK's `MessageCreateParams`. */
export interface AnthropicRequest {
  model: string;
  max_tokens: number;
  system?: string;
  messages: AnthropicMessage[];
  tools?: AnthropicTool[];
  tool_choice?: { type: "none" };
}

/** Compatible with the SDK's `ChatCompletionCreateParams`. */
export interface ChatRequest {
  model: string;
  max_completion_tokens?: number;
  messages: ChatMessage[];
}

/** Compatible with the SDK's `ResponseCreateParams`. */
export interface ResponsesRequest {
  model: string;
  max_output_tokens?: number;
  instructions?: string;
  input: ResponsesItem[];
  store: false;
}

/** Compatible with the arguments of `generateText` and `streamText`, except for the model. */
export interface AiSdkRequest {
  maxOutputTokens?: number;
  system?: string;
  messages: AiSdkMessage[];
}

/** The body of each target's request. Our own types: the SDKs need not be installed. */
export interface TargetRequests {
  anthropic: AnthropicRequest;
  "openai-chat": ChatRequest;
  "openai-responses": ResponsesRequest;
  "ai-sdk": AiSdkRequest;
}

export type RequestBody<Name extends TargetName = TargetName> = TargetRequests[Name];

/**
 * The body of a request that continues the session. Refuses with MODEL_UNKNOWN when no model is
 * passed and the session names none of this provider's. The AI SDK's body never has a model: there
 * it is an object.
 */
export function requestBody<Name extends TargetName>(
  resumed: Resumed<Name>,
  { model: asked, maxTokens }: RequestOptions = {},
): RequestBody<Name> {
  const { messages, system, model: last, tools, report } = resumed;
  const name: Name = report.for;
  const model = asked ?? ownModel(last, name);
  if (name !== "ai-sdk" && !model) throw modelUnknown(last, name);
  return BODIES[name]({ messages, system, tools, model: model ?? "", maxTokens });
}

interface BodyParts<Message> {
  readonly messages: readonly Message[];
  readonly system: string | null;
  readonly tools: readonly string[];
  readonly model: string;
  readonly maxTokens: number | undefined;
}

const BODIES: {
  readonly [Name in TargetName]: (parts: BodyParts<TargetMessages[Name]>) => TargetRequests[Name];
} = {
  anthropic: ({ model, maxTokens, system, messages, tools }) => ({
    model,
    max_tokens: maxTokens ?? MAX_TOKENS_DEFAULT,
    ...(system === null ? {} : { system }),
    messages: [...messages],
    ...(tools.length === 0 ? {} : { tools: tools.map(unknownTool), tool_choice: { type: "none" } }),
  }),
  "openai-chat": ({ model, maxTokens, system, messages }) => ({
    model,
    ...(maxTokens === undefined ? {} : { max_completion_tokens: maxTokens }),
    messages: [
      ...(system === null ? [] : [{ role: "system", content: system } as const]),
      ...messages,
    ],
  }),
  "openai-responses": ({ model, maxTokens, system, messages }) => ({
    model,
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    ...(system === null ? {} : { instructions: system }),
    input: [...messages],
    store: false,
  }),
  "ai-sdk": ({ maxTokens, system, messages }) => ({
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(system === null ? {} : { system }),
    messages: [...messages],
  }),
};

/** Model names at the provider itself: a gateway's `anthropic/claude-…` is unknown there. */
const ANTHROPICS = /^claude-/;
const OPENAIS = /^(?:ft:)?(?:gpt-|chatgpt-|codex-|computer-use-|o\d)/;

function ownModel(model: string | null, target: TargetName): string | undefined {
  const own = target === "anthropic" ? ANTHROPICS : OPENAIS;
  return model !== null && own.test(model) ? model : undefined;
}

function modelUnknown(model: string | null, target: TargetName): VerbatimError<"MODEL_UNKNOWN"> {
  const names = model === null ? "no model" : "no model of that provider's";
  return new VerbatimError(
    "MODEL_UNKNOWN",
    `a request for ${target} needs a model, and the session names ${names}; ` +
      "choose one (model, --model)",
    { for: target, model },
  );
}

function unknownTool(name: string): AnthropicTool {
  return { name, input_schema: { type: "object" } };
}
