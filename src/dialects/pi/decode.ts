/**
 * Decode: maps a row of pi's session to an entry. OpenClaw writes the same rows.
 *
 * Refuses only what is not a row at all. Unknown rows and roles become `other`.
 */

import { type Entry, emptyEntry, type Part, type Usage } from "../../model/entry.ts";
import type { Understood } from "../dialect.ts";
import { textOf } from "../entire/blocks.ts";
import { timeOf } from "../entire/decode.ts";
import { contentParts } from "../entry-parts.ts";
import {
  get,
  getCount,
  getNumber,
  getObject,
  getString,
  isObject,
  type JsonObject,
} from "../fields.ts";

export function decode(value: unknown): Understood {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const type = getString(value, "type");
  if (type === null) return { entry: null, fault: "type is not a string" };
  const at = timeOf(get(value, "timestamp"));
  return { entry: { ...emptyEntry(value), at, ...rowOf(value, type) }, fault: null };
}

type Row = Partial<Entry>;

function rowOf(row: JsonObject, type: string): Row {
  switch (type) {
    case "session":
      return { kind: "start" };
    case "message":
      return messageOf(getObject(row, "message"));
    case "custom_message":
      return addedBy("program", partsOf(get(row, "content")));
    case "compaction":
    case "branch_summary":
      return summaryOf(row);
    default:
      return {};
  }
}

function messageOf(message: JsonObject): Row {
  const content = get(message, "content");
  switch (get(message, "role")) {
    case "user":
      return { kind: "message", role: "user", parts: partsOf(content) };
    case "system":
      return { kind: "message", role: "system", parts: partsOf(content) };
    case "assistant":
      return answerOf(message);
    case "toolResult":
      return { kind: "message", role: "tool", parts: [resultOf(message)], usage: usageOf(message) };
    case "bashExecution":
      return addedBy("program", [{ type: "text", text: commandText(message) }]);
    case "custom":
    case "hookMessage":
      return addedBy("program", partsOf(content));
    case "branchSummary":
    case "compactionSummary":
      return summaryOf(message);
    default:
      return {};
  }
}

/** What the model gets in the user's role, and no person typed. */
function addedBy(saidBy: "program" | "summary", parts: readonly Part[]): Row {
  return { kind: "message", role: "user", saidBy, parts };
}

function summaryOf(row: JsonObject): Row {
  const text = getString(row, "summary");
  if (text === null) return {};
  return { ...addedBy("summary", [{ type: "text", text }]), usage: usageOf(row) };
}

function answerOf(message: JsonObject): Row {
  const stopReason = getString(message, "stopReason");
  const isPartial = stopReason === "aborted" || stopReason === "error";
  return {
    kind: "message",
    role: "assistant",
    parts: partsOf(get(message, "content"), get(message, "api") === ANTHROPIC_API),
    model: getString(message, "model"),
    usage: usageOf(message),
    ...(stopReason === null ? {} : { stopReason }),
    ...(isPartial ? { isPartial } : {}),
  };
}

/** The API whose `thinkingSignature` is a signature. Others keep ids and field names there. */
const ANTHROPIC_API = "anthropic-messages";

function partsOf(content: unknown, isSigned = false): Part[] {
  return contentParts(content, (block) => partOf(block, isSigned));
}

function partOf(block: JsonObject, isSigned: boolean): Part | null {
  switch (get(block, "type")) {
    case "text": {
      const text = getString(block, "text");
      return text === null ? null : { type: "text", text };
    }
    case "thinking":
      return reasoningOf(block, isSigned);
    case "toolCall": {
      const tool = getString(block, "name");
      if (tool === null) return null;
      const callId = getString(block, "id") || null;
      return { type: "tool_call", callId, tool, input: get(block, "arguments", null) };
    }
    default:
      return null;
  }
}

function reasoningOf(block: JsonObject, isSigned: boolean): Part | null {
  const text = getString(block, "thinking");
  const signature = isSigned ? getString(block, "thinkingSignature") : null;
  if (text === null) return null;
  if (signature === null) return { type: "reasoning", text };
  // The text of a redacted block is pi's own note.
  if (get(block, "redacted") === true) return { type: "reasoning", text: "", withheld: signature };
  return { type: "reasoning", text, signature };
}

function resultOf(message: JsonObject): Part {
  const content = get(message, "content", null);
  const isError = get(message, "isError") === true;
  // OpenClaw says here how a command ended.
  const details = getObject(message, "details");
  const code = getNumber(details, "exitCode") ?? 0;
  return {
    type: "tool_result",
    callId: getString(message, "toolCallId") || null,
    output: content,
    error: isError ? textOf(content) : code === 0 ? null : `exit code ${code}`,
    durationMs: getCount(details, "durationMs"),
  };
}

/** A command that the user ran with `!`, and its output, in the words that pi sends. */
function commandText(message: JsonObject): string {
  const output = getString(message, "output") || "(no output)";
  const code = getNumber(message, "exitCode") ?? 0;
  return [
    `Ran \`${getString(message, "command") ?? ""}\``,
    output,
    ...(get(message, "cancelled") === true ? ["(command cancelled)"] : []),
    ...(code === 0 ? [] : [`Command exited with code ${code}`]),
  ].join("\n");
}

/** `input` does not include cached tokens. The cost is pi's own. */
function usageOf(message: JsonObject): Usage | null {
  const usage = get(message, "usage");
  if (!isObject(usage)) return null;
  const cacheWriteTokens = getCount(usage, "cacheWrite");
  const cacheReadTokens = getCount(usage, "cacheRead");
  return {
    inputTokens: getCount(usage, "input"),
    outputTokens: getCount(usage, "output"),
    ...(cacheWriteTokens === null ? {} : { cacheWriteTokens }),
    ...(cacheReadTokens === null ? {} : { cacheReadTokens }),
    totalTokens: getCount(usage, "totalTokens"),
    spend: getCount(getObject(usage, "cost"), "total"),
  };
}
