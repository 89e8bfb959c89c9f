/**
 * Names: the names of OpenTelemetry's GenAI semantic conventions that we use, copied, because that
 * part of the conventions may still change and its package need not be installed. A test compares
 * them with that version of @opentelemetry/semantic-conventions.
 */

import type { SpannedSession } from "./span.ts";

/** The version of the conventions that these names are from. */
export const SEMCONV_VERSION = "1.45.0";
export const SCHEMA_URL = `https://opentelemetry.io/schemas/${SEMCONV_VERSION}`;

export const ATTR = {
  ERROR_TYPE: "error.type",
  GEN_AI_AGENT_NAME: "gen_ai.agent.name",
  GEN_AI_CONVERSATION_ID: "gen_ai.conversation.id",
  GEN_AI_INPUT_MESSAGES: "gen_ai.input.messages",
  GEN_AI_OPERATION_NAME: "gen_ai.operation.name",
  GEN_AI_OUTPUT_MESSAGES: "gen_ai.output.messages",
  GEN_AI_PROVIDER_NAME: "gen_ai.provider.name",
  GEN_AI_REQUEST_MODEL: "gen_ai.request.model",
  GEN_AI_RESPONSE_FINISH_REASONS: "gen_ai.response.finish_reasons",
  GEN_AI_RESPONSE_ID: "gen_ai.response.id",
  GEN_AI_RESPONSE_MODEL: "gen_ai.response.model",
  GEN_AI_TOOL_CALL_ARGUMENTS: "gen_ai.tool.call.arguments",
  GEN_AI_TOOL_CALL_ID: "gen_ai.tool.call.id",
  GEN_AI_TOOL_CALL_RESULT: "gen_ai.tool.call.result",
  GEN_AI_TOOL_NAME: "gen_ai.tool.name",
  GEN_AI_TOOL_TYPE: "gen_ai.tool.type",
  GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS: "gen_ai.usage.cache_creation.input_tokens",
  GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS: "gen_ai.usage.cache_read.input_tokens",
  GEN_AI_USAGE_INPUT_TOKENS: "gen_ai.usage.input_tokens",
  GEN_AI_USAGE_OUTPUT_TOKENS: "gen_ai.usage.output_tokens",
  SERVICE_NAME: "service.name",
} as const;

/** Names for what the conventions do not cover. */
export const VERBATIM_ATTRIBUTES = {
  DIALECT: "verbatim.dialect",
  /** The offset of the entry that a span begins with. */
  OFFSET: "verbatim.offset",
  TURN: "verbatim.turn",
  TURNS: "verbatim.turns",
  SPEND: "verbatim.usage.spend_usd",
  /** The log does not say how it ended: it may still continue. */
  UNFINISHED: "verbatim.unfinished",
} as const;

export const OPERATION = {
  CHAT: "chat",
  EXECUTE_TOOL: "execute_tool",
  INVOKE_AGENT: "invoke_agent",
} as const;

/** What runs a tool: the program around the model, or the model's provider. */
export const TOOL_TYPE = { FUNCTION: "function", EXTENSION: "extension" } as const;

/** The provider of a model, by how its name begins; the first match counts. */
export const PROVIDERS: readonly (readonly [RegExp, string])[] = [
  [/^((us|eu|apac|jp|au|global)\.)?(amazon|anthropic|cohere|meta|mistral)\./i, "aws.bedrock"],
  [/^(claude|opus|sonnet|haiku)/i, "anthropic"],
  [/^(gpt|chatgpt|o\d|text-davinci|codex)/i, "openai"],
  [/^gemini/i, "gcp.gemini"],
  [/^deepseek/i, "deepseek"],
  [/^(mistral|mixtral|codestral|magistral|devstral)/i, "mistral_ai"],
  [/^grok/i, "x_ai"],
  [/^command/i, "cohere"],
  [/^sonar/i, "perplexity"],
];

/** The conventions' value where none of theirs fits. */
export const OTHER = "_OTHER";

/** Providers of sessions whose program has one, for entries that name no model. */
const PROVIDER_OF_PROGRAM: readonly (readonly [string, RegExp, string])[] = [
  ["claude", /^codex-hooks\//, "openai"],
  ["claude", /^/, "anthropic"],
  ["sdk", /^openai-agents\//, "openai"],
];

/**
 * The name of a model may begin with its provider's (`anthropic/claude-opus-5`, `openai:gpt-5`) or
 * a fine-tuning prefix (`ft:gpt-5`). Without a name, the session's program decides.
 */
export function providerOf(model: string | null, session?: SpannedSession): string {
  if (model === null) {
    const isOf = ([dialect, id]: readonly [string, RegExp, string]) =>
      session !== undefined && session.dialect === dialect && id.test(session.id);
    return PROVIDER_OF_PROGRAM.find(isOf)?.[2] ?? OTHER;
  }
  const name = model.slice(model.lastIndexOf("/") + 1);
  const names = [name, name.slice(name.indexOf(":") + 1)]; // A colon may also end it: `-v1:0`.
  const known = names.map((each) => PROVIDERS.find(([pattern]) => pattern.test(each)));
  return known.find((each) => each !== undefined)?.[1] ?? OTHER;
}
