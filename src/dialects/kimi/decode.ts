/**
 * Decode: maps a record of Kimi Code, or of the older Kimi CLI, to an entry. Page:
 * docs/formats/kimi.md.
 *
 *     {"type":"context.append_message","message":{…},"time":1785612812820}          Kimi Code
 *     {"timestamp":1785612812.8,"message":{"type":"TurnBegin","payload":{…}}}       Kimi CLI
 *
 * Every object is an entry; what is not a message is `other`.
 */

import { type Entry, emptyEntry, type Part, type Speaker } from "../../model/entry.ts";
import type { About } from "../agent-program.ts";
import type { Compaction, Native, TakingBack, Understood } from "../dialect.ts";
import { get, getObject, getString, isObject, type JsonObject } from "../fields.ts";
import { callPart, contentParts, resultPart, timeAt, usageIn } from "./parts.ts";

/** Who speaks in the user's role, by the message's `origin`. Others are the program. */
const PERSONS: readonly (string | null)[] = [
  ...[null, "user", "skill_activation", "plugin_command", "shell_command"],
];

export function decode(value: unknown): Understood {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const message = get(value, "message");
  const isOlder = getString(value, "type") === null && isObject(message);
  return { entry: isOlder ? olderEntry(value, message) : recordEntry(value), fault: null };
}

function recordEntry(record: JsonObject): Entry {
  const entry = { ...emptyEntry(record), at: timeAt(get(record, "time")) };
  switch (get(record, "type")) {
    case "metadata":
      return { ...entry, kind: "start", at: timeAt(get(record, "created_at")) };
    case "llm.request":
      return { ...entry, model: getString(record, "model") };
    case "usage.record":
      return { ...entry, kind: "turn_end", usage: usageIn(get(record, "usage")) };
    case "context.append_message":
      return messageEntry(entry, getObject(record, "message"));
    case "context.append_loop_event":
      return eventEntry(entry, getObject(record, "event"));
    case "context.apply_compaction": {
      const text = getString(record, "contextSummary") ?? getString(record, "summary") ?? "";
      const parts: Part[] = [{ type: "text", text }];
      return { ...entry, kind: "message", role: "user", saidBy: "summary", parts };
    }
    default:
      return entry;
  }
}

function messageEntry(entry: Entry, message: JsonObject): Entry {
  const role = getString(message, "role");
  const parts = contentParts(get(message, "content"));
  const said: Entry = { ...entry, kind: "message", parts };
  const calls = get(message, "toolCalls");
  switch (role) {
    case "user": {
      const by = speakerOf(message);
      return { ...said, role, ...(by === null ? {} : { saidBy: by }) };
    }
    case "assistant":
      return {
        ...said,
        role,
        parts: [...parts, ...(Array.isArray(calls) ? calls : []).map(callPart)],
      };
    case "tool": {
      const result = { output: get(message, "content"), isError: get(message, "isError") };
      return { ...said, role, parts: [resultPart(getString(message, "toolCallId"), result)] };
    }
    case "system":
      return { ...said, role };
    default:
      return entry;
  }
}

function speakerOf(message: JsonObject): Speaker | null {
  const origin = getObject(message, "origin");
  const kind = getString(origin, "kind");
  if (PERSONS.includes(kind)) return null;
  if (kind === "compaction_summary") return "summary";
  return kind === "system_trigger" && get(origin, "name") === "subagent" ? "agent" : "program";
}

function eventEntry(entry: Entry, event: JsonObject): Entry {
  switch (get(event, "type")) {
    case "content.part":
      return {
        ...entry,
        kind: "message",
        role: "assistant",
        parts: contentParts([get(event, "part")]),
      };
    case "tool.call":
      return { ...entry, kind: "message", role: "assistant", parts: [callPart(event)] };
    case "tool.result": {
      const parts = [resultPart(getString(event, "toolCallId"), get(event, "result"))];
      return { ...entry, kind: "message", role: "tool", parts };
    }
    default:
      return entry; // Steps: `usage.record` has their usage.
  }
}

function olderEntry(record: JsonObject, message: JsonObject): Entry {
  const entry = { ...emptyEntry(record), at: timeAt(get(record, "timestamp")) };
  const payload = getObject(message, "payload");
  switch (get(message, "type")) {
    case "TurnBegin":
    case "SteerInput": {
      const parts = contentParts(get(payload, "user_input"));
      return { ...entry, kind: "message", role: "user", parts };
    }
    case "ContentPart":
      return { ...entry, kind: "message", role: "assistant", parts: contentParts([payload]) };
    case "ToolCall":
      return { ...entry, kind: "message", role: "assistant", parts: [callPart(payload)] };
    case "ToolResult": {
      const parts = [resultPart(getString(payload, "tool_call_id"), get(payload, "return_value"))];
      return { ...entry, kind: "message", role: "tool", parts };
    }
    case "StatusUpdate": {
      const usage = usageIn(get(payload, "token_usage"));
      return usage === null ? entry : { ...entry, kind: "turn_end", usage };
    }
    default:
      return entry;
  }
}

/** Whether a record certainly is Kimi's: the first of each file. */
export function isOwn(value: unknown): boolean {
  if (!isObject(value) || get(value, "type") !== "metadata") return false;
  return getString(value, "protocol_version") !== null;
}

export function isProgramsPrompt(record: Native): boolean {
  if (get(record, "type") !== "context.append_message") return false;
  const message = getObject(record, "message");
  return get(message, "role") === "user" && speakerOf(message) === "program";
}

export function about(record: Native): About | null {
  const bound = getObject(record, "environmentDisclosure");
  const cwd = getString(get(record, "type") === "config.update" ? record : bound, "cwd");
  return cwd === null ? null : { cwd };
}

export const compaction: Compaction = {
  isSummary: (record) => get(record, "type") === "context.apply_compaction",
  isBoundary: () => false,
  keptBy: () => new Set(),
};

/** `/clear` takes everything back. How much `context.undo` takes back depends on earlier records. */
export const takingBack: TakingBack = {
  says: (record) => getString(record, "type")?.startsWith("context.append_") ?? false,
  takesBack: (record) =>
    get(record, "type") === "context.clear" ? Number.POSITIVE_INFINITY : null,
};
