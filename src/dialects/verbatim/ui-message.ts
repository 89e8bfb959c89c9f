/** UI message: maps a `UIMessage` of the AI SDK to neutral parts. Accepted as unknown JSON. */

import type { Mutable } from "../../core/base/files.ts";
import type { Entry, Part, Role } from "../../core/model/entry.ts";
import { blockPart, deniedText, UNANSWERED } from "../shared/entry-parts.ts";
import { get, getObject, getString, isObject, type JsonObject } from "../shared/fields.ts";
import { metadataUsage } from "./item.ts";

type Reasoning = Extract<Part, { type: "reasoning" }>;

const TOOL_PREFIX = "tool-";
const DYNAMIC_TOOL = "dynamic-tool";

export function decodeMessage(message: JsonObject): Mutable<Partial<Entry>> {
  const said = get(message, "parts");
  const parts = Array.isArray(said) ? stepsOf(said).flatMap(stepParts) : [];
  const messageId = getString(message, "id") ?? "";
  const role = getString(message, "role") as Role;
  const entry: Mutable<Partial<Entry>> = { kind: "message", role, parts, messageId };
  return role === "assistant" ? { ...entry, ...toldOfAnswer(message) } : entry;
}

/** Reads `messageMetadata` of an answer, under the names of the SDK's own examples. */
function toldOfAnswer(message: JsonObject): Partial<Entry> {
  const metadata = getObject(message, "metadata");
  const model = getString(metadata, "model") || null;
  const usage = metadataUsage(metadata);
  return { ...(model === null ? {} : { model }), ...(usage === null ? {} : { usage }) };
}

/** An answer consists of several model calls (steps); a marker part begins each. */
function stepsOf(said: readonly unknown[]): readonly unknown[][] {
  const steps: unknown[][] = [[]];
  for (const part of said) {
    if (isObject(part) && getString(part, "type") === "step-start") steps.push([]);
    else steps.at(-1)?.push(part);
  }
  return steps;
}

/**
 * The model's text and calls, then the results: the model sees those only in the next step. Results
 * of tools that the provider runs stay in place, because the model saw them at once.
 */
function stepParts(said: readonly unknown[]): Part[] {
  const parts: Part[] = [];
  const results: Part[] = [];
  for (const each of said) {
    const isKnownAtOnce = isObject(each) && get(each, "providerExecuted") === true;
    for (const part of partsOf(each)) {
      const isLater = part.type === "tool_result" && !isKnownAtOnce;
      (isLater ? results : parts).push(part);
    }
  }
  return [...parts, ...results];
}

function partsOf(said: unknown): Part[] {
  const part = isObject(said) ? said : {};
  const type = getString(part, "type") ?? "";
  const text = getString(part, "text");
  if (type === "text" && text !== null) return [{ type, text }];
  if (type === "reasoning" && text !== null) return [{ type, text, ...sealIn(part) }];
  if (type.startsWith(TOOL_PREFIX)) return toolOf(part, type.slice(TOOL_PREFIX.length));
  if (type === DYNAMIC_TOOL) return toolOf(part, getString(part, "toolName") ?? "");
  return [blockPart(said)];
}

/** Anthropic's signature, without which it does not accept a thought. */
function sealIn(part: JsonObject): Pick<Reasoning, "signature" | "withheld" | "provider"> {
  const anthropics = getObject(getObject(part, "providerMetadata"), "anthropic");
  const signature = getString(anthropics, "signature");
  const withheld = getString(anthropics, "redactedData");
  if (signature === null && withheld === null) return {};
  return {
    ...(signature === null ? {} : { signature }),
    ...(withheld === null ? {} : { withheld }),
    provider: "anthropic",
  };
}

function toolOf(part: JsonObject, tool: string): Part[] {
  const callId = getString(part, "toolCallId");
  const input = get(part, "input") ?? get(part, "rawInput") ?? null;
  const call: Part = { type: "tool_call", callId, tool, input };
  const result = { type: "tool_result", callId, durationMs: null } as const;
  const failed = (error: string): Part[] => [call, { ...result, output: null, error }];
  const approval = getObject(part, "approval");
  switch (getString(part, "state")) {
    case "input-streaming": // It broke off, and is no call yet.
      return [{ type: "other", native: part }];
    case "output-available":
      // A preliminary output is not the result.
      if (get(part, "preliminary") === true) return [call, { type: "other", native: part }];
      return [call, { ...result, output: get(part, "output", null), error: null }];
    case "output-error":
      return failed(getString(part, "errorText") ?? "failed");
    case "approval-requested":
      return failed(UNANSWERED);
    case "approval-responded": // Once it is approved, it may have run.
      return get(approval, "approved") === false
        ? failed(deniedText(getString(approval, "reason")))
        : [call];
    case "output-denied":
      return failed(deniedText(getString(approval, "reason")));
    default:
      return [call];
  }
}
