/**
 * Request: the body of a request, from what was resumed.
 *
 * RQ1  It can be sent as it is. Where a session has called tools, Anthropic wants tools to be named,
 *      so those that were called are, with no word on what they do and the choice of none of them:
 *      whoever has the tools puts them there instead.
 */

import type { TargetName } from "./repair-report.ts";
import type { Resumed } from "./resume.ts";

export interface RequestOptions {
  /** Default: who answered last in the session, if that is a model of this provider's. */
  readonly model?: string;
  /** Anthropic demands one. Default: 4096. */
  readonly maxTokens?: number;
}

/** Enough for an answer, and no more than any model of the provider allows. */
export const MAX_TOKENS_DEFAULT = 4096;

export type RequestBody = Readonly<Record<string, unknown>>;

/**
 * The body of a request that goes on with the session. It has no model when none was given and the
 * session's is another provider's; the AI SDK's never has one: there a model is an object.
 */
export function requestBody(
  { messages, system, model: last, tools, report }: Resumed,
  { model = ownModel(last, report.for), maxTokens }: RequestOptions = {},
): RequestBody {
  const named = model === undefined ? {} : { model };
  const instructions = system === null ? [] : [{ role: "system", content: system }];
  const bodies: Readonly<Record<TargetName, () => RequestBody>> = {
    anthropic: () => ({
      ...named,
      max_tokens: maxTokens ?? MAX_TOKENS_DEFAULT,
      ...(system === null ? {} : { system }),
      messages,
      ...(tools.length === 0
        ? {}
        : { tools: tools.map(unknownTool), tool_choice: { type: "none" } }),
    }),
    "openai-chat": () => ({
      ...named,
      ...(maxTokens === undefined ? {} : { max_completion_tokens: maxTokens }),
      messages: [...instructions, ...messages],
    }),
    "openai-responses": () => ({
      ...named,
      ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
      ...(system === null ? {} : { instructions: system }),
      input: messages,
      store: false,
    }),
    "ai-sdk": () => ({
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
      ...(system === null ? {} : { system }),
      messages,
    }),
  };
  return bodies[report.for]();
}

/** How models are named at the provider itself: a gateway's `anthropic/claude-…` is unknown there. */
const ANTHROPICS = /^claude-/;
const OPENAIS = /^(?:ft:)?(?:gpt-|chatgpt-|codex-|computer-use-|o\d)/;

function ownModel(model: string | null, target: TargetName): string | undefined {
  const own = target === "anthropic" ? ANTHROPICS : OPENAIS;
  return model !== null && own.test(model) ? model : undefined;
}

/** RQ1 */
function unknownTool(name: string): RequestBody {
  return { name, input_schema: { type: "object" } };
}
