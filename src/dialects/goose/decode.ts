/**
 * Decode: the lines of a session of Goose (docs/formats/goose.md). The first is about the session,
 * the others are messages. Rows of the database are presented in the shape of the older files.
 */

import { type Entry, emptyEntry, type Part, type Usage } from "../../model/entry.ts";
import type { About } from "../agent-program.ts";
import type { Native, Understood } from "../dialect.ts";
import {
  get,
  getCount,
  getNumber,
  getObject,
  getString,
  has,
  isObject,
  type JsonObject,
} from "../fields.ts";

/** Names that Goose gives to a session until it has a better one. */
const PLACEHOLDER = /^(?:CLI Session|New (?:Chat|Session)\b.*|\d{8}_\d+)$/i;
/** Larger times are in milliseconds. */
const SECONDS_MAX = 100_000_000_000;
const TIME_MAX_MS = 8_000_000_000_000;

export function decode(value: unknown): Understood {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const base = emptyEntry(value);
  if (isSession(value)) return { entry: start(base, value), fault: null };
  const role = getString(value, "role");
  const content = get(value, "content");
  if ((role !== "user" && role !== "assistant") || !Array.isArray(content)) {
    return { entry: base, fault: null };
  }
  const parts = content.filter(isObject).flatMap(partsOf);
  const isTool = role === "user" && parts.some(({ type }) => type === "tool_result");
  const metadata = getObject(value, "metadata");
  const isHidden = get(metadata, "userVisible", get(metadata, "user_visible")) === false;
  const entry: Entry = {
    ...base,
    kind: "message",
    at: timeOf(getNumber(value, "created")),
    role: isTool ? "tool" : role,
    ...(isHidden && !isTool && { saidBy: "program" }),
    parts,
    messageId: getString(value, "id") ?? "",
  };
  return { entry, fault: null };
}

function isSession(value: JsonObject): boolean {
  return !has(value, "role") && (has(value, "working_dir") || has(value, "description"));
}

function start(base: Entry, value: JsonObject): Entry {
  const created = getString(value, "created_at");
  const ms = created === null ? Number.NaN : Date.parse(utcOf(created));
  return {
    ...base,
    kind: "start",
    at: Number.isNaN(ms) ? null : new Date(ms).toISOString(),
    model: getString(getObject(value, "model_config"), "model_name"),
    usage: usageOf(value),
  };
}

/** Goose counts tokens for the whole session; input includes what was cached. */
function usageOf(value: JsonObject): Usage | null {
  const count = (name: string) => getCount(value, `accumulated_${name}_tokens`);
  const [inputTokens, outputTokens, totalTokens] = [
    count("input"),
    count("output"),
    count("total"),
  ];
  const spend = getCount(value, "accumulated_cost");
  if (inputTokens === null && outputTokens === null && totalTokens === null) return null;
  return { inputTokens, outputTokens, totalTokens, spend };
}

function partsOf(content: JsonObject): Part[] {
  const type = get(content, "type");
  const text = getString(content, "text");
  if (type === "text" && text !== null) return text === "" ? [] : [{ type, text }];
  if (type === "reasoning" && text !== null) return [{ type, text }];
  const thinking = getString(content, "thinking");
  if (type === "thinking" && thinking !== null) {
    const signature = getString(content, "signature");
    return [{ type: "reasoning", text: thinking, ...(signature && { signature }) }];
  }
  const data = getString(content, "data");
  if (type === "redactedThinking" && data !== null) {
    return [{ type: "reasoning", text: "", withheld: data }];
  }
  if (type === "toolRequest" || type === "frontendToolRequest") return [callOf(content)];
  if (type === "toolResponse") return [resultOf(content)];
  return [{ type: "other", native: content }];
}

function callOf(content: JsonObject): Part {
  const call = getObject(getObject(content, "toolCall"), "value");
  const tool = getString(call, "name") ?? "";
  const input = get(call, "arguments", null);
  return { type: "tool_call", callId: getString(content, "id"), tool, input };
}

function resultOf(content: JsonObject): Part {
  const result = getObject(content, "toolResult");
  const value = get(result, "value", null);
  const output = isObject(value) ? get(value, "content", value) : value;
  const isFailed = isObject(value) && get(value, "isError") === true;
  const error = getString(result, "error") ?? (isFailed ? "the tool reported an error" : null);
  const callId = getString(content, "id");
  return { type: "tool_result", callId, output, error, durationMs: null };
}

export function about(native: Native): About | null {
  if (!isSession(native)) return null;
  const title = getString(native, "name") || (getString(native, "description") ?? "");
  return {
    ...(!PLACEHOLDER.test(title.trim()) && { title }),
    cwd: getString(native, "working_dir") ?? "",
  };
}

/** What identifies a line when it is written again. */
export function lineKey(native: Native): string | null {
  const id = getString(native, "id");
  if (isSession(native)) return "session";
  return id === null ? null : `message:${id}`;
}

/** SQLite's times are UTC and do not say so. */
function utcOf(time: string): string {
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(time) ? `${time.replace(" ", "T")}Z` : time;
}

function timeOf(value: number | null): string | null {
  if (value === null || Number.isNaN(value) || value < 0) return null;
  const ms = value < SECONDS_MAX ? value * 1000 : value;
  return ms > TIME_MAX_MS ? null : new Date(ms).toISOString();
}
