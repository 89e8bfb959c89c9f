/** droid: the sessions of Factory's Droid. Page: docs/formats/droid.md. */

import type { Native } from "../../core/model/entry.ts";
import { type Entry, emptyEntry, type Part } from "../../core/model/entry.ts";
import { blockText } from "../entire/blocks.ts";
import { rowEntry, timestampOf } from "../entire/decode.ts";
import { usageOf } from "../entire/usage.ts";
import type { DecodedValue, SessionDetails } from "../facets/reading.ts";
import { readerDialect } from "../reader.ts";
import { get, getString, has, isObject, type JsonObject } from "../shared/fields.ts";
import { eitherPathIds, lastSegment, pathIds } from "../shared/path-ids.ts";
import { typedText } from "../shared/typed-text.ts";
import type { ToolTable } from "../tool-table.ts";

/**
 * Session ids: the path below `sessions`, without the ending.
 *
 *     sessions/-home-me-app/<uuid>.jsonl
 *     sessions/<uuid>.jsonl                older versions
 */

const [under, ending] = [["sessions"], ".jsonl"];
const nested = pathIds({ under, levels: [null], ending });
const flat = pathIds({ under, levels: [], ending });

const { logPath, idAt, layout } = eitherPathIds([nested, flat], (id) =>
  id.includes("/") ? nested : flat,
);

const nameOf = lastSegment;

/** The id of a session in the same directory. */
function siblingOf(id: string, name: string): string | null {
  return idAt(logPath(id).with(-1, `${name}${ending}`));
}

/**
 * Decode: maps a row of Droid to an entry, in both of its formats: the sessions that it keeps, and
 * the stream of `droid exec --output-format stream-json`.
 *
 * Refuses only what is not a row at all. Unknown rows become `other`.
 */

function decode(value: unknown): DecodedValue {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const type = getString(value, "type");
  if (type === null) return { entry: null, fault: "type is not a string" };
  const at = whenIn(get(value, "timestamp"));
  return { entry: { ...emptyEntry(value), ...rowOf(value, type), at }, fault: null };
}

/** A text, or milliseconds since 1970. */
function whenIn(timestamp: unknown): string | null {
  if (typeof timestamp !== "number") return timestampOf(timestamp);
  const isTime = timestamp >= 0 && timestamp < 253_402_300_800_000;
  return isTime ? new Date(timestamp).toISOString() : null;
}

type Row = Partial<Entry>;

function rowOf(row: JsonObject, type: string): Row {
  switch (type) {
    case "session_start":
      return { kind: "start" };
    case "system":
      return get(row, "subtype") === "init"
        ? { kind: "start", model: getString(row, "model") }
        : {};
    case "message":
      return isObject(get(row, "message")) ? storedOf(row) : streamedOf(row);
    case "compaction_state":
      return summaryOf(row);
    case "tool_call":
      return { kind: "message", role: "assistant", parts: [callOf(row)] };
    case "tool_result":
      return { kind: "message", role: "tool", parts: [resultOf(row)] };
    case "completion":
      return {
        kind: "end",
        outcome: "completed",
        usage: usageOf({}, row),
        parts: textIn(row, "finalText"),
      };
    case "error":
      return failureOf(row);
    default:
      return {};
  }
}

/** A message with Anthropic's blocks. */
function storedOf(row: JsonObject): Row {
  const message = get(row, "message") as JsonObject;
  const entry = rowEntry(row, getString(message, "role") ?? "");
  if (entry.kind !== "message") return {};
  const model = entry.model ?? getString(message, "modelId");
  return { ...entry, model, ...addedTo(entry.role, entry.parts) };
}

/** Text of the user's message that is only reminders was added by the program. */
function addedTo(role: Entry["role"], parts: readonly Part[]): Row {
  const isTyped = parts.some((part) => part.type !== "text" || typedText(part.text) !== null);
  return role === "user" && parts.length > 0 && !isTyped ? { saidBy: "program" } : {};
}

function streamedOf(row: JsonObject): Row {
  const role = getString(row, "role");
  const parts = textIn(row, "text");
  if (role === "user") return { kind: "message", role, parts, ...addedTo(role, parts) };
  return role === "assistant" || role === "system" ? { kind: "message", role, parts } : {};
}

function summaryOf(row: JsonObject): Row {
  const parts = textIn(row, "summaryText");
  return parts.length === 0 ? {} : { kind: "message", role: "user", saidBy: "summary", parts };
}

function textIn(row: JsonObject, key: string): Part[] {
  const text = getString(row, key);
  return text ? [{ type: "text", text }] : [];
}

/** Newer versions name a call by `id`, older ones by `toolCallId`. */
function callIdIn(row: JsonObject): string | null {
  return getString(row, "toolCallId") || getString(row, "id") || null;
}

function callOf(row: JsonObject): Part {
  const tool = getString(row, "toolName") ?? getString(row, "toolId");
  if (tool === null) return { type: "other", native: row };
  return { type: "tool_call", callId: callIdIn(row), tool, input: get(row, "parameters", null) };
}

function resultOf(row: JsonObject): Part {
  const output = get(row, "value", get(row, "error", null));
  const error = get(row, "isError") === true ? blockText(output) : null;
  return { type: "tool_result", callId: callIdIn(row), output, error, durationMs: null };
}

function failureOf(row: JsonObject): Row {
  const [code, detail] = [getString(row, "source") ?? "error", getString(row, "message") ?? ""];
  return { kind: "end", outcome: "error", error: { code, detail } };
}

/** Tools of Droid, by kind (tool-table.ts). */
const tools: ToolTable = {
  Execute: "command",
  Shell: "command",
  Read: "read",
  Create: "write",
  Edit: "edit",
  MultiEdit: "edit",
  ApplyPatch: "edit",
  LS: { kind: "list", path: ["directory_path", "path"] },
  Glob: { kind: "search", verb: "Glob", subject: ["patterns"], path: ["folder"] },
  TodoWrite: "plan",
  Task: "agent",
  FetchUrl: "fetch",
  WebSearch: "web_search",
};

export const droid = readerDialect("droid", {
  naming: {
    layout,
    logPath,
    idAt,
    nameOf,
  },
  reading: {
    decode,
    isOwn,
    about,
    asideOf: (row) => (get(row, "visibility") === "user_only" ? "program" : null),
    isSilent: (row) => SILENT_TYPES.includes(get(row, "type")),
    isProgramsPrompt: (row) => decode(row).entry?.saidBy !== undefined,
    tools,
  },
});

const SILENT_TYPES: readonly unknown[] = [
  "todo_state",
  "session_settings",
  "agent_turn_outcome",
  "session_end",
];

/** The first row of a session, or a row of the stream that has keys which only Droid writes. */
function isOwn(value: unknown): boolean {
  if (!isObject(value)) return false;
  const isText = (key: string) => getString(value, key) !== null;
  const isOfSession = isText("session_id") || isText("sessionId");
  switch (get(value, "type")) {
    case "session_start":
      return isText("id") && isText("title");
    case "message":
      return isOfSession && isText("role") && isText("text");
    case "tool_call":
      return isOfSession && isText("toolName") && has(value, "parameters");
    case "completion":
      return isOfSession && isText("finalText");
    default:
      return false;
  }
}

function about(row: Native, id: string): SessionDetails | null {
  const type = get(row, "type");
  if (type === "system") return { cwd: getString(row, "cwd") ?? "" };
  if (type !== "session_start") return null;
  const title = getString(row, "sessionTitle") || getString(row, "title") || "";
  const caller = getString(row, "callingSessionId");
  return {
    cwd: getString(row, "cwd") ?? "",
    title: title === "New Session" ? "" : title,
    parent: (caller === null ? null : siblingOf(id, caller)) ?? "",
  };
}
