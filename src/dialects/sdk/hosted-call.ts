/**
 * Hosted call: whether the model's provider ran a call, such as a web search: an item
 * `hosted_tool_call` of the OpenAI Agents SDK, a part with `providerExecuted` of the AI SDK.
 */

import type { Native } from "../dialect.ts";
import { get, getObject, getString, isObject } from "../fields.ts";

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
