/**
 * Item: maps an input item of the OpenAI Agents SDK to neutral parts.
 *
 * The SDK's items are like those of the Responses API in camelCase: messages with a role, calls and
 * their results with a `callId`, reasoning. All of them are accepted as unknown JSON.
 *
 * Usage: the tokens of a message, where the recording program kept them: `metadata` of an AI SDK
 * message (`usage`, `totalUsage`, or the counts themselves) and `providerData.usage` of an item of
 * the OpenAI Agents SDK. Both SDKs let the caller choose what is kept there.
 *
 * Both count cache reads and writes as input; entries count them separately (core/model/entry.ts).
 */

import type { Mutable } from "../../core/base/files.ts";
import type { Entry, Native, Part, Role, Usage } from "../../core/model/entry.ts";
import { blockPart, contentParts, textBlock } from "../shared/entry-parts.ts";
import {
  get,
  getObject,
  getString,
  isObject,
  type JsonObject,
  parseJsonText,
} from "../shared/fields.ts";

/** Names of the AI SDK 5 to 7, of AI SDK 4, of OpenAI's two APIs, and of LangChain. */
const INPUT = ["inputTokens", "promptTokens", "input_tokens", "prompt_tokens"];
const OUTPUT = ["outputTokens", "completionTokens", "output_tokens", "completion_tokens"];
const TOTAL = ["totalTokens", "total_tokens"];

const DETAILS = [
  "inputTokenDetails",
  "inputTokensDetails",
  "input_tokens_details",
  "input_token_details",
  "prompt_tokens_details",
];

const CACHE_READ = ["cacheReadTokens", "cached_tokens", "cache_read"];
const CACHE_WRITE = ["cacheWriteTokens", "cache_creation"];

type EntryFields = Mutable<Partial<Entry>>;

/** The input field of each type of call; the rest of the item is in `native`. */
const CALLS: Readonly<Record<string, string>> = {
  function_call: "arguments",
  hosted_tool_call: "arguments",
  tool_search_call: "arguments",
  computer_call: "action",
  shell_call: "action",
  apply_patch_call: "operation",
  program: "code",
};

/** The output field of each type of result. */
const RESULTS: Readonly<Record<string, string>> = {
  function_call_result: "output",
  tool_search_output: "tools",
  computer_call_result: "output",
  shell_call_output: "output",
  apply_patch_call_output: "output",
  program_output: "result",
};

/** The provider's tool that returns an image. */
const IMAGE_GENERATION = "image_generation_call";
const ROLES: readonly string[] = ["system", "user", "assistant"];

export function decodeItem(item: JsonObject): EntryFields {
  const type = getString(item, "type") ?? "message";
  const entry: EntryFields = { kind: "message" };
  const messageId = getString(item, "id");
  if (messageId !== null && type === "message") entry.messageId = messageId;
  const usage = usageOf(getObject(getObject(item, "providerData"), "usage"));
  if (usage !== null) entry.usage = usage;
  const role = getString(item, "role");
  if (type === "message" && role !== null && ROLES.includes(role)) {
    return { ...entry, role: role as Role, parts: contentOf(item) };
  }
  if (type === "hosted_tool_call") {
    return { ...entry, role: "assistant", parts: hostedParts(item, type) };
  }
  if (Object.hasOwn(CALLS, type)) {
    return { ...entry, role: "assistant", parts: [callOf(item, type)] };
  }
  if (Object.hasOwn(RESULTS, type)) {
    return { ...entry, role: "tool", parts: [resultOf(item, RESULTS[type] ?? "")] };
  }
  if (type === "reasoning") return { ...entry, role: "assistant", parts: [reasoningOf(item)] };
  if (type === "compaction") {
    return { ...entry, role: "assistant", parts: [{ type: "other", native: item }] };
  }
  return { kind: "other", parts: [blockPart(item)] };
}

function contentOf(item: JsonObject): Part[] {
  return contentParts(get(item, "content"), (block) =>
    textBlock(block, ["input_text", "output_text"]),
  );
}

function callOf(item: JsonObject, type: string): Part {
  const tool = getString(item, "name") ?? type.replace(/_call$/, "");
  const input = parseJsonText(get(item, CALLS[type] ?? "") ?? null);
  return { type: "tool_call", callId: callIdOf(item), tool, input };
}

/**
 * A tool that the provider runs, whose result comes with the call. Without a result, the provider
 * kept it, and no answer is due here; an image is in base64.
 */
function hostedParts(item: JsonObject, type: string): Part[] {
  const output = get(item, "output");
  if (output === undefined || output === null || getString(item, "name") === IMAGE_GENERATION) {
    return [{ type: "other", native: item }];
  }
  const result = { output, error: null, durationMs: null };
  return [callOf(item, type), { type: "tool_result", callId: callIdOf(item), ...result }];
}

function callIdOf(item: JsonObject): string | null {
  return getString(item, "callId") ?? getString(item, "id");
}

function resultOf(item: JsonObject, field: string): Part {
  const said = get(item, field, null);
  const output = isObject(said) && said.type === "text" ? get(said, "text", null) : said;
  const isFailed = getString(item, "status") === "failed";
  return {
    type: "tool_result",
    callId: callIdOf(item),
    output,
    error: isFailed ? "failed" : null,
    durationMs: null,
  };
}

function reasoningOf(item: JsonObject): Part {
  const texts = ["rawContent", "content"].map((field) => {
    const blocks = get(item, field);
    if (!Array.isArray(blocks)) return "";
    const said = blocks.map((block) => (isObject(block) ? (getString(block, "text") ?? "") : ""));
    return said.join("\n\n");
  });
  const text = texts.find((each) => each !== "") ?? "";
  const data = getObject(item, "providerData");
  const withheld = getString(data, "encrypted_content") ?? getString(data, "encryptedContent");
  return { type: "reasoning", text, ...(withheld === null ? {} : { withheld }) };
}

/**
 * Whether the model's provider ran a call, such as a web search: an item
 * `hosted_tool_call` of the OpenAI Agents SDK, a part with `providerExecuted` of the AI SDK.
 */
export function isHostedCall(line: Native, callId: string | null): boolean {
  if (getString(getObject(line, "item"), "type") === "hosted_tool_call") return true;
  const parts = get(getObject(line, "message"), "parts");
  if (callId === null || !Array.isArray(parts)) return false;
  return parts.some(
    (part) =>
      isObject(part) &&
      getString(part, "toolCallId") === callId &&
      get(part, "providerExecuted") === true,
  );
}

/** The usage in `metadata`; null if it counts nothing. */
export function metadataUsage(metadata: JsonObject): Usage | null {
  for (const key of ["totalUsage", "usage"]) {
    const usage = get(metadata, key);
    if (isObject(usage)) return usageOf(usage);
  }
  return usageOf(metadata);
}

function usageOf(counts: JsonObject): Usage | null {
  const [input, outputTokens, totalTokens] = [INPUT, OUTPUT, TOTAL].map((keys) =>
    countIn(counts, keys),
  ) as [number | null, number | null, number | null];
  if (input === null && outputTokens === null && totalTokens === null) return null;
  const details = getObject(counts, DETAILS.find((key) => isObject(get(counts, key))) ?? "");
  const read = countIn(details, CACHE_READ) ?? countIn(counts, ["cachedInputTokens"]);
  const written = countIn(details, CACHE_WRITE);
  return {
    inputTokens: uncached(input, (read ?? 0) + (written ?? 0)),
    outputTokens,
    ...(written === null ? {} : { cacheWriteTokens: written }),
    ...(read === null ? {} : { cacheReadTokens: read }),
    totalTokens,
    spend: null,
  };
}

/** If the cached count exceeds the input, the input did not include it. */
function uncached(input: number | null, cached: number): number | null {
  return input === null || cached > input ? input : input - cached;
}

function countIn(object: JsonObject, keys: readonly string[]): number | null {
  for (const key of keys) {
    const count = get(object, key);
    if (Number.isSafeInteger(count) && (count as number) >= 0) return count as number;
  }
  return null;
}
