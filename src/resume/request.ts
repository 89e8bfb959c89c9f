/**
 * Request: the body of a request, from what was resumed.
 *
 * RQ1  It can be sent as it is. Where a session has called tools, Anthropic wants tools to be named,
 *      so those that were called are, with no word on what they do and the choice of none of them:
 *      whoever has the tools puts them there instead.
 * RQ2  A provider refuses a body without a model, so none is returned: MODEL_UNKNOWN.
 */

import { VerbatimError } from "../base/errors.ts";
import type { TargetName } from "./repair-report.ts";
import type { Resumed } from "./resume.ts";

export interface RequestOptions {
  /** Default: the session's model, if it is one of this provider's. */
  readonly model?: string;
  /** Anthropic demands one. Default: 4096. */
  readonly maxTokens?: number;
}

/** Enough for an answer, and no more than any model of the provider allows. */
export const MAX_TOKENS_DEFAULT = 4096;

export type RequestBody = Readonly<Record<string, unknown>>;

/**
 * The body of a request that continues the session. Refuses with MODEL_UNKNOWN when no model was
 * given and the session names none of this provider's. The AI SDK's body never has a model: there
 * it is an object.
 */
export function requestBody(
  { messages, system, model: last, tools, report }: Resumed,
  { model = ownModel(last, report.for), maxTokens }: RequestOptions = {},
): RequestBody {
  if (report.for !== "ai-sdk" && !model) throw modelUnknown(last, report.for);
  const named = { model };
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

/** RQ2 */
function modelUnknown(model: string | null, target: TargetName): VerbatimError<"MODEL_UNKNOWN"> {
  const names = model === null ? "no model" : "no model of that provider's";
  return new VerbatimError(
    "MODEL_UNKNOWN",
    `a request for ${target} needs a model, and the session names ${names}; ` +
      "say which one is to answer (model, --model)",
    { for: target, model },
  );
}

/** RQ1 */
function unknownTool(name: string): RequestBody {
  return { name, input_schema: { type: "object" } };
}
