/** UI message: what a `UIMessage` of the AI SDK says, in neutral words. Accepted as unknown JSON. */

import type { Draft } from "../../base/draft.ts";
import type { Entry, Part, Role } from "../../model/entry.ts";
import { get, getString, isObject, type JsonObject } from "../fields.ts";

const TOOL_PREFIX = "tool-";
const DYNAMIC_TOOL = "dynamic-tool";
/** States of a tool's part in which its input is not whole yet. */
const GROWING = "input-streaming";

export function decodeMessage(message: JsonObject): Draft<Partial<Entry>> {
  const said = get(message, "parts");
  const parts = Array.isArray(said) ? said.flatMap(partsOf) : [];
  const messageId = getString(message, "id") ?? "";
  return { kind: "message", role: getString(message, "role") as Role, parts, messageId };
}

function partsOf(said: unknown): Part[] {
  const part = isObject(said) ? said : {};
  const type = getString(part, "type") ?? "";
  const text = getString(part, "text");
  if (type === "step-start") return []; // Where a call of the model began; nobody said anything.
  if (type === "text" && text !== null) return [{ type, text }];
  if (type === "reasoning" && text !== null) return [{ type, text }];
  if (type.startsWith(TOOL_PREFIX)) return toolOf(part, type.slice(TOOL_PREFIX.length));
  if (type === DYNAMIC_TOOL) return toolOf(part, getString(part, "toolName") ?? "");
  return [{ type: "other", native: said }];
}

function toolOf(part: JsonObject, tool: string): Part[] {
  const callId = getString(part, "toolCallId");
  const state = getString(part, "state");
  if (state === GROWING) return [{ type: "other", native: part }];
  const input = get(part, "input") ?? get(part, "rawInput") ?? null;
  const call: Part = { type: "tool_call", callId, tool, input };
  const result = { type: "tool_result", callId, durationMs: null } as const;
  if (state === "output-available") {
    return [call, { ...result, output: get(part, "output", null), error: null }];
  }
  if (state === "output-error") {
    const error = getString(part, "errorText") ?? "failed";
    return [call, { ...result, output: null, error }];
  }
  if (state === "output-denied") return [call, { ...result, output: null, error: "denied" }];
  return [call];
}
