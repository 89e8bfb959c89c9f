/**
 * Span shapes: the attributes of each kind of span, by the conventions. See session-spans.ts, OS1.
 *
 * A span without a known time is null.
 *
 * Names: the names of OpenTelemetry's GenAI semantic conventions that we use, copied, because that
 * part of the conventions may still change and its package need not be installed. A test compares
 * them with that version of @opentelemetry/semantic-conventions.
 */

import { oneLine } from "../../core/base/one-line.ts";
import type { Entry, Part, Usage } from "../../core/model/entry.ts";
import { valueText } from "./content.ts";
import {
  type AttributeValue,
  type CallFacts,
  type ChatFacts,
  type RunFacts,
  type SpannedSession,
  spanIdOf,
  type TraceSpan,
  type TurnFacts,
} from "./span.ts";

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
const VERBATIM_ATTRIBUTES = {
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
const TOOL_TYPE = { FUNCTION: "function", EXTENSION: "extension" } as const;

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
const OTHER = "_OTHER";

/** Providers of sessions whose program has one, for entries that name no model. */
const PROVIDER_OF_PROGRAM: readonly (readonly [string, RegExp, string])[] = [
  ["claude", /^codex-hooks\//, "openai"],
  ["claude", /^/, "anthropic"],
  ["sdk", /^openai-agents\//, "openai"],
];

/** Common to all spans of a session. */
export interface Attributing {
  readonly session: SpannedSession;
  readonly agent: string | null;
  readonly content: boolean;
  readonly traceId: string;
}

type Shaped = Omit<TraceSpan, "completedAt">;

/** The longest name of a model, an agent, a tool; the longest id. */
const NAME_CHARS_MAX = 200;
/** Codes are words; a sentence may contain text of the conversation. */
const ERROR_CODE = /^[\w.:/-]{1,64}$/;

export function sessionOf(
  shape: Attributing,
  run: RunFacts,
  endNs: bigint | null,
  end: Entry | null,
): Shaped | null {
  const { agent } = shape;
  const error = end?.outcome === "error" ? (end.error ?? { code: "", detail: "" }) : null;
  return timed(run.startNs, endNs, {
    traceId: shape.traceId,
    spanId: run.spanId,
    parentSpanId: null,
    name:
      agent === null ? OPERATION.INVOKE_AGENT : `${OPERATION.INVOKE_AGENT} ${boundedName(agent)}`,
    kind: "internal",
    attributes: {
      ...common(shape, OPERATION.INVOKE_AGENT, run.offset),
      ...modelOf(shape, run.model),
      ...usageOf(end?.usage ?? null),
      [VERBATIM_ATTRIBUTES.DIALECT]: shape.session.dialect,
      [VERBATIM_ATTRIBUTES.TURNS]: run.turns,
      ...(error ? { [ATTR.ERROR_TYPE]: codeOf(error.code) } : {}),
      ...(end === null ? { [VERBATIM_ATTRIBUTES.UNFINISHED]: true } : {}),
    },
    links: run.links,
    failure: error && { message: shape.content && error.detail ? valueText(error.detail) : null },
  });
}

export function turnOf(
  shape: Attributing,
  turn: TurnFacts,
  parentSpanId: string,
  isUnfinished: boolean,
): Shaped | null {
  return timed(turn.startNs, turn.endNs, {
    traceId: shape.traceId,
    spanId: turn.spanId,
    parentSpanId,
    name: "turn",
    kind: "internal",
    attributes: {
      [ATTR.GEN_AI_CONVERSATION_ID]: boundedName(shape.session.id),
      [VERBATIM_ATTRIBUTES.TURN]: turn.number,
      [VERBATIM_ATTRIBUTES.OFFSET]: turn.offset,
      ...(isUnfinished ? { [VERBATIM_ATTRIBUTES.UNFINISHED]: true } : {}),
    },
    links: turn.links,
    failure: null,
  });
}

export function chatOf(
  shape: Attributing,
  chat: ChatFacts,
  parentSpanId: string,
  isUnfinished: boolean,
): Shaped | null {
  const { model, messageId, stopReason, isPartial } = chat;
  const asked = model ?? chat.askedModel;
  const input = chat.input?.text() ?? null;
  const output = chat.output?.text(stopReason ?? (isPartial ? "error" : "stop")) ?? null;
  return timed(chat.startNs, chat.endNs, {
    traceId: shape.traceId,
    spanId: spanIdOf(shape.traceId, "chat", chat.offset),
    parentSpanId,
    name: asked === null ? OPERATION.CHAT : `${OPERATION.CHAT} ${boundedName(asked)}`,
    kind: "client",
    attributes: {
      ...common(shape, OPERATION.CHAT, chat.offset),
      ...modelOf(shape, asked),
      ...(model === null ? {} : { [ATTR.GEN_AI_RESPONSE_MODEL]: boundedName(model) }),
      ...(messageId === null ? {} : { [ATTR.GEN_AI_RESPONSE_ID]: boundedName(messageId) }),
      ...(stopReason === null
        ? {}
        : { [ATTR.GEN_AI_RESPONSE_FINISH_REASONS]: [boundedName(stopReason)] }),
      ...usageOf(chat.usage),
      ...(isPartial ? { [ATTR.ERROR_TYPE]: "interrupted" } : {}),
      ...(isUnfinished ? { [VERBATIM_ATTRIBUTES.UNFINISHED]: true } : {}),
      ...(input === null ? {} : { [ATTR.GEN_AI_INPUT_MESSAGES]: input }),
      ...(output === null ? {} : { [ATTR.GEN_AI_OUTPUT_MESSAGES]: output }),
    },
    links: [],
    failure: isPartial ? { message: null } : null,
  });
}

export interface ToolEnd {
  readonly endNs: bigint | null;
  /** Absent when the session ended without one, or is still open. */
  readonly result?: Extract<Part, { type: "tool_result" }>;
  readonly unfinished?: boolean;
}

export function toolOf(shape: Attributing, call: CallFacts, end: ToolEnd): Shaped | null {
  const { result, unfinished = false } = end;
  const { tool, callId, input } = call;
  const errorType = errorTypeOf(end);
  const failure = errorType === null ? null : { message: null };
  const told = shape.content && result ? valueText(result.error ?? result.output ?? "") : null;
  return timed(startOf(call, end), end.endNs, {
    traceId: shape.traceId,
    spanId: call.spanId,
    parentSpanId: call.parentSpanId,
    name: `${OPERATION.EXECUTE_TOOL} ${tool}`,
    kind: "internal",
    attributes: {
      ...common(shape, OPERATION.EXECUTE_TOOL, call.offset),
      [ATTR.GEN_AI_TOOL_NAME]: tool,
      [ATTR.GEN_AI_TOOL_TYPE]: call.isHosted ? TOOL_TYPE.EXTENSION : TOOL_TYPE.FUNCTION,
      ...(callId === null ? {} : { [ATTR.GEN_AI_TOOL_CALL_ID]: callId }),
      ...(errorType === null ? {} : { [ATTR.ERROR_TYPE]: errorType }),
      ...(unfinished ? { [VERBATIM_ATTRIBUTES.UNFINISHED]: true } : {}),
      ...(input === null ? {} : { [ATTR.GEN_AI_TOOL_CALL_ARGUMENTS]: input }),
      ...(told === null ? {} : { [ATTR.GEN_AI_TOOL_CALL_RESULT]: told }),
    },
    links: [],
    failure: failure && told !== null ? { message: told } : failure,
  });
}

function errorTypeOf({ result, unfinished }: ToolEnd): string | null {
  if (result) return result.error === null ? null : "tool_error";
  return unfinished ? null : "no_result";
}

/** A call's time in the log is when the model made it; some results know better how long it ran. */
function startOf({ startNs }: CallFacts, { endNs, result }: ToolEnd): bigint | null {
  const { durationMs = null } = result ?? {};
  if (endNs === null || durationMs === null || !(durationMs >= 0 && durationMs < 1e12)) {
    return startNs;
  }
  const start = endNs - BigInt(Math.round(durationMs * 1e6));
  return start > 0n ? start : startNs;
}

/** A text of the log as a name: one line, well-formed, bounded. */
export function boundedName(text: string): string {
  return oneLine(text, NAME_CHARS_MAX);
}

function codeOf(code: string): string {
  return ERROR_CODE.test(code) ? code : OTHER;
}

function common(
  { session, agent }: Attributing,
  operation: string,
  offset: number,
): Record<string, AttributeValue> {
  return {
    [ATTR.GEN_AI_OPERATION_NAME]: operation,
    [ATTR.GEN_AI_CONVERSATION_ID]: boundedName(session.id),
    ...(agent === null ? {} : { [ATTR.GEN_AI_AGENT_NAME]: boundedName(agent) }),
    [VERBATIM_ATTRIBUTES.OFFSET]: offset,
  };
}

function modelOf({ session }: Attributing, model: string | null): Record<string, AttributeValue> {
  return {
    [ATTR.GEN_AI_PROVIDER_NAME]: providerOf(model, session),
    ...(model === null ? {} : { [ATTR.GEN_AI_REQUEST_MODEL]: boundedName(model) }),
  };
}

/** The conventions count cached tokens as input; our entries count them separately. */
function usageOf(usage: Usage | null): Record<string, AttributeValue> {
  if (usage === null) return {};
  const { inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens, spend } = usage;
  const told = {
    [ATTR.GEN_AI_USAGE_INPUT_TOKENS]:
      inputTokens === null ? null : inputTokens + (cacheWriteTokens ?? 0) + (cacheReadTokens ?? 0),
    [ATTR.GEN_AI_USAGE_OUTPUT_TOKENS]: outputTokens,
    [ATTR.GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS]: cacheWriteTokens ?? null,
    [ATTR.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: cacheReadTokens ?? null,
  };
  const counts = Object.entries(told).flatMap(([name, count]) =>
    count !== null && Number.isSafeInteger(count) ? [[name, count] as const] : [],
  );
  const isPaid = spend !== null && Number.isFinite(spend);
  return {
    ...Object.fromEntries(counts),
    ...(isPaid ? { [VERBATIM_ATTRIBUTES.SPEND]: spend } : {}),
  };
}

function timed(
  startNs: bigint | null,
  endNs: bigint | null,
  span: Omit<Shaped, "startNs" | "endNs">,
): Shaped | null {
  if (startNs === null || endNs === null) return null;
  return { ...span, startNs, endNs: endNs > startNs ? endNs : startNs };
}

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
