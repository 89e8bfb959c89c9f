/**
 * Decode: maps an event of Copilot CLI to an entry.
 *
 * Refuses only what is not an event at all. Events that are not messages become `other`.
 */

import { type Entry, emptyEntry, type Part, type Usage } from "../../../core/model/entry.ts";
import { timestampOf } from "../../entire/decode.ts";
import type { Understood } from "../../facets/reading.ts";
import { diffViews, type ResultView } from "../../result-view.ts";
import { NOTHING_COUNTED, textParts } from "../../shared/entry-parts.ts";
import {
  get,
  getCount,
  getList,
  getObject,
  getString,
  isObject,
  type JsonObject,
  parsedObject,
} from "../../shared/fields.ts";

export function decode(value: unknown): Understood {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const type = getString(value, "type");
  if (type === null) return { entry: null, fault: "type is not a string" };
  const said = { ...emptyEntry(value), at: timestampOf(get(value, "timestamp")) };
  return { entry: { ...said, ...eventOf(value, type, getObject(value, "data")) }, fault: null };
}

const TYPES = /^(?:(?:session|user|assistant|tool|system|hook|subagent)\.[a-z_.]+|abort)$/;

/** Whether a value certainly is an event of Copilot CLI. */
export function isEvent(value: unknown): boolean {
  const isNamed = isObject(value) && TYPES.test(getString(value, "type") ?? "");
  return isNamed && isObject(get(value, "data"));
}

/**
 * The part of a subagent's event that names its agent; null: it is the main agent's, whose prompts
 * have a `parentAgentTaskId`, too.
 */
export function agentIn(event: JsonObject): string | null {
  const data = getObject(event, "data");
  return getString(event, "agentId") || getString(data, "parentToolCallId") || null;
}

type Event = Partial<Entry>;

function eventOf(event: JsonObject, type: string, data: JsonObject): Event {
  switch (type) {
    case "session.start":
      return { kind: "start", model: modelOf(data, "selectedModel") };
    case "session.model_change":
      return { model: modelOf(data, "newModel") };
    case "session.shutdown":
      return endOf(data);
    case "user.message":
      return promptOf(data, agentIn(event) !== null);
    case "assistant.message":
      return answerOf(data);
    case "tool.execution_complete":
      return { kind: "message", role: "tool", parts: [resultOf(data)] };
    case "system.message":
      return { kind: "message", role: "system", parts: textParts(getString(data, "content")) };
    case "system.notification":
      return addedBy("program", textParts(getString(data, "content")));
    case "session.compaction_complete": {
      const isDone = get(data, "success") !== false && getString(data, "summaryContent") !== null;
      return isDone ? addedBy("summary", textParts(getString(data, "summaryContent"))) : {};
    }
    default:
      return {};
  }
}

function addedBy(saidBy: "program" | "agent" | "summary", parts: readonly Part[]): Event {
  return { kind: "message", role: "user", saidBy, parts };
}

/** `content` is what a person typed. It is empty if the program continues by itself. */
function promptOf(data: JsonObject, isAgents: boolean): Event {
  const typed = textParts(getString(data, "content"));
  const files = getList(data, "attachments").map((native): Part => ({ type: "other", native }));
  if (isAgents) return addedBy("agent", [...typed, ...files]);
  const source = getString(data, "source") ?? "user";
  if (source !== "user") return addedBy("program", [...typed, ...files]);
  if (typed.length === 0 && files.length === 0) {
    return addedBy("program", textParts(getString(data, "transformedContent")));
  }
  return { kind: "message", role: "user", parts: [...typed, ...files] };
}

function answerOf(data: JsonObject): Event {
  const reasoning = getString(data, "reasoningText");
  const messageId = getString(data, "messageId");
  const outputTokens = getCount(data, "outputTokens");
  return {
    kind: "message",
    role: "assistant",
    parts: [
      ...(reasoning ? [{ type: "reasoning", text: reasoning } as const] : []),
      ...textParts(getString(data, "content")),
      ...getList(data, "toolRequests").map(callOf),
    ],
    model: getString(data, "model"),
    ...(messageId ? { messageId } : {}),
    usage: outputTokens === null ? null : { ...NOTHING_COUNTED, outputTokens },
  };
}

function callOf(request: unknown): Part {
  const tool = isObject(request) ? getString(request, "name") : null;
  if (!isObject(request) || tool === null) return { type: "other", native: request };
  const callId = getString(request, "toolCallId") || null;
  const given = get(request, "arguments", null); // An object, its JSON, or a text for the tool.
  return { type: "tool_call", callId, tool, input: parsedObject(given) ?? given };
}

function resultOf(data: JsonObject): Part {
  const output = get(getObject(data, "result"), "content", null);
  const isError = get(data, "success") === false;
  const said = getString(getObject(data, "error"), "message");
  return {
    type: "tool_result",
    callId: getString(data, "toolCallId") || null,
    output,
    error: isError ? (said ?? (typeof output === "string" ? output : "")) : exitIn(data, output),
    durationMs: getCount(getObject(getObject(data, "toolTelemetry"), "metrics"), "durationMs"),
  };
}

/** The end of a command's output; older versions say it only there. */
const EXIT_CODE = /<(?:shellId: \S+ completed|exited) with exit code (-?\d{1,9})>\s*$/;
const END_CHARS_MAX = 200;

/** How a command failed: the call itself is a success. */
function exitIn(data: JsonObject, output: unknown): string | null {
  const end = typeof output === "string" ? output.slice(-END_CHARS_MAX) : "";
  const code = get(getObject(data, "shellExecution"), "exitCode") ?? EXIT_CODE.exec(end)?.[1];
  return code === undefined || code === null || Number(code) === 0 ? null : `exit code ${code}`;
}

/** Counts are those of one run of the program, or of the session: see `Runs`. */
function endOf(data: JsonObject): Event {
  const isError = get(data, "shutdownType") === "error";
  const detail = getString(data, "errorReason") ?? "";
  return {
    kind: "end",
    outcome: isError ? "error" : "completed",
    error: isError ? { code: "error", detail } : null,
    usage: sumOf([...modelUsages(data).values()]),
  };
}

/** What a report counts, by model. A model without counts is left out: they are unknown, not 0. */
export function modelUsages(data: JsonObject): Map<string, Usage> {
  const metrics = Object.entries(getObject(data, "modelMetrics"));
  return new Map(
    metrics.flatMap(([model, each]) => {
      const counts = isObject(each) ? getObject(each, "usage") : {};
      return Object.keys(counts).length === 0 ? [] : [[model, usageOf(counts)] as const];
    }),
  );
}

/** `inputTokens` of Copilot CLI includes cached ones, `outputTokens` reasoning. */
export function usageOf(counts: JsonObject): Usage {
  const [cacheReadTokens, cacheWriteTokens] = [
    getCount(counts, "cacheReadTokens") ?? 0,
    getCount(counts, "cacheWriteTokens") ?? 0,
  ];
  const [input, outputTokens] = [
    getCount(counts, "inputTokens") ?? 0,
    getCount(counts, "outputTokens") ?? 0,
  ];
  return {
    inputTokens: Math.max(0, input - cacheReadTokens - cacheWriteTokens),
    outputTokens,
    cacheWriteTokens,
    cacheReadTokens,
    totalTokens: input + outputTokens,
    spend: null,
  };
}

/** Null: nothing was counted. */
export function sumOf(usages: readonly Usage[]): Usage | null {
  if (usages.length === 0) return null;
  const sum = (count: (usage: Usage) => number | null | undefined) =>
    usages.reduce((total, usage) => total + (count(usage) ?? 0), 0);
  return {
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    cacheWriteTokens: sum((usage) => usage.cacheWriteTokens),
    cacheReadTokens: sum((usage) => usage.cacheReadTokens),
    totalTokens: sum((usage) => usage.totalTokens ?? usage.outputTokens),
    spend: null,
  };
}

function modelOf(data: JsonObject, key: string): string | null {
  const model = getString(data, key);
  return model === "auto" ? null : model;
}

/** What Copilot CLI shows of an edit, as a diff of git. */
export function resultViews(event: JsonObject): ResultView[] {
  const data = getObject(event, "data");
  return diffViews(
    getString(data, "toolCallId"),
    getString(getObject(data, "result"), "detailedContent"),
  );
}
