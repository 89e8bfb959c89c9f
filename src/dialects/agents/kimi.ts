/**
 * kimi: the sessions that Kimi Code, and the older Kimi CLI, keep in the user's home. Page:
 * docs/formats/kimi.md.
 */

import { createHash } from "node:crypto";
import type { Native } from "../../core/model/entry.ts";
import {
  type Entry,
  emptyEntry,
  type Part,
  type Speaker,
  type Usage,
} from "../../core/model/entry.ts";
import { timestampOf } from "../entire/decode.ts";
import type { DialectFiles } from "../facets/files.ts";
import type { DecodedValue, SessionDetails } from "../facets/reading.ts";
import type { Compaction, TakingBack } from "../facets/turns.ts";
import { objectBelow } from "../files/json-document.ts";
import { readerDialect } from "../reader.ts";
import { blockPart, reasoningPart } from "../shared/entry-parts.ts";
import {
  get,
  getCount,
  getObject,
  getObjects,
  getString,
  isObject,
  type JsonObject,
  parseJsonText,
} from "../shared/fields.ts";
import { directoryIds, eitherPathIds } from "../shared/path-ids.ts";
import type { ToolTable } from "../tool-table.ts";

/**
 * Session ids: the path below `sessions`, without `wire.jsonl`.
 *
 *     sessions/<directory>/<session>/agents/<agent>/wire.jsonl       Kimi Code; `main` is the session's own
 *     sessions/<directory>/<session>/wire.jsonl                      Kimi CLI
 *     sessions/<directory>/<session>/subagents/<agent>/wire.jsonl    its subagents
 */

const place = { under: ["sessions"], logName: "wire.jsonl" };
const agents = directoryIds({ ...place, levels: [null, null, "agents", null] });
const sessions = directoryIds({ ...place, levels: [null, null] });
const subagents = directoryIds({ ...place, levels: [null, null, "subagents", null] });

/** The id alone decides the path of all three. */
export const { logPath, idAt, layout } = eitherPathIds([agents, sessions, subagents], () => agents);

/** The program's id of a session; of a subagent, with its own after it. */
export function nameOf(id: string): string {
  const [, session = id, , agent = "main"] = id.split("/");
  return agent === "main" ? session : `${session}/${agent}`;
}

interface Place {
  readonly directory: string;
  readonly session: string;
  /** Null: the session itself. */
  readonly agent: string | null;
}

function placeOf(id: string): Place {
  const [directory = "", session = "", , agent = "main"] = id.split("/");
  return { directory, session, agent: agent === "main" ? null : agent };
}

/** The session of a subagent; `parent` is another agent of it that started this one. */
export function parentOf(id: string, parent: string | null): string | null {
  const [directory, session, kind] = id.split("/");
  if (placeOf(id).agent === null) return null;
  const own = `${directory}/${session}`;
  return kind === "agents" ? `${own}/agents/${parent ?? "main"}` : own;
}

/** Parts: Kimi's content, calls, results and token counts as those of an entry. */

/** A text, or a list of parts. */
function contentParts(content: unknown): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(partOf) : [];
}

function partOf(part: unknown): Part {
  if (typeof part === "string") return { type: "text", text: part };
  const [text, thought] = isObject(part) ? [getString(part, "text"), getString(part, "think")] : [];
  if (isObject(part) && typeof text === "string" && get(part, "type") === "text") {
    return { type: "text", text };
  }
  if (isObject(part) && typeof thought === "string" && get(part, "type") === "think") {
    return reasoningPart(thought, { withheld: getString(part, "encrypted") });
  }
  return blockPart(part);
}

/** A call: `name` and `args`, `name` and `arguments` as JSON text, or both in `function`. */
export function callPart(call: unknown): Part {
  if (!isObject(call)) return { type: "other", native: call };
  const made = isObject(get(call, "function")) ? getObject(call, "function") : call;
  const tool = getString(made, "name");
  if (tool === null) return { type: "other", native: call };
  const callId = getString(call, "toolCallId") ?? getString(call, "id");
  const input = get(made, "args") ?? parseJsonText(get(made, "arguments")) ?? {};
  return { type: "tool_call", callId, tool, input };
}

function resultPart(callId: string | null, result: unknown): Part {
  const given: JsonObject = isObject(result) ? result : { output: result };
  const isFailed = get(given, "isError") === true || get(given, "is_error") === true;
  const output = get(given, "output", null);
  const why = getString(given, "message") || (typeof output === "string" ? output : "");
  const error = isFailed ? why || "the tool failed" : null;
  return { type: "tool_result", callId, output, error, durationMs: null };
}

function usageIn(counts: unknown): Usage | null {
  if (!isObject(counts)) return null;
  const count = (...keys: string[]) => {
    const found = keys.map((key) => getCount(counts, key)).find((each) => each !== null) ?? null;
    return found !== null && found >= 0 ? found : null;
  };
  const input = count("inputOther", "input_other");
  const output = count("output");
  if (input === null && output === null) return null;
  const cacheReadTokens = count("inputCacheRead", "input_cache_read");
  const cacheWriteTokens = count("inputCacheCreation", "input_cache_creation");
  return {
    inputTokens: input,
    outputTokens: output,
    ...(cacheReadTokens ? { cacheReadTokens } : {}),
    ...(cacheWriteTokens ? { cacheWriteTokens } : {}),
    totalTokens: null,
    spend: null,
  };
}

/** Smaller numbers are seconds: Kimi CLI's. */
const MILLISECONDS_MIN = 1e11;
const DATE_MS_MAX = 8.64e15;

function timeAt(time: unknown): string | null {
  if (typeof time !== "number") return null;
  const ms = time < MILLISECONDS_MIN ? time * 1000 : time;
  return Math.abs(ms) <= DATE_MS_MAX ? timestampOf(new Date(ms).toISOString()) : null;
}

/**
 * Decode: maps a record of Kimi Code, or of the older Kimi CLI, to an entry.
 *
 *     {"type":"context.append_message","message":{…},"time":1785612812820}          Kimi Code
 *     {"timestamp":1785612812.8,"message":{"type":"TurnBegin","payload":{…}}}       Kimi CLI
 *
 * Every object is an entry; what is not a message is `other`.
 */

/** Who speaks in the user's role, by the message's `origin`. Others are the program. */
const PERSONS: readonly (string | null)[] = [
  null,
  "user",
  "skill_activation",
  "plugin_command",
  "shell_command",
];

export function decode(value: unknown): DecodedValue {
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

export function about(record: Native): SessionDetails | null {
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
const takingBack: TakingBack = {
  says: (record) => getString(record, "type")?.startsWith("context.append_") ?? false,
  takesBack: (record) =>
    get(record, "type") === "context.clear" ? Number.POSITIVE_INFINITY : null,
};

/** State: what the file next to a session's logs says about it. */
const files: DialectFiles = {
  standingOf: async (_host, root, id) => {
    const { directory, session, agent } = placeOf(id);
    const state = objectBelow(root, ["sessions", directory, session, "state.json"]);
    const started = getString(getObject(getObject(state, "agents"), agent ?? ""), "parentAgentId");
    const cwd = getString(state, "workDir") ?? directoryOf(root, directory);
    const titled = getString(state, "custom_title") ?? getString(state, "title");
    // The title is the session's, not a subagent's.
    const title = agent === null ? titled : null;
    return {
      status: null,
      agent: null,
      parent: parentOf(id, started),
      about: { ...(cwd === null ? {} : { cwd }), ...(title === null ? {} : { title }) },
    };
  },
};

/** Kimi CLI names a directory by the MD5 of its path, and lists the paths in `kimi.json`. */
function directoryOf(root: string, name: string): string | null {
  for (const each of getObjects(objectBelow(root, ["kimi.json"]), "work_dirs")) {
    const path = getString(each, "path");
    if (path !== null && createHash("md5").update(path).digest("hex") === name) return path;
  }
  return null;
}

/** Tools of Kimi CLI, by kind (tool-table.ts). */
const tools: ToolTable = {
  Bash: "command",
  Shell: "command",
  Read: "read",
  ReadFile: "read",
  Write: "write",
  WriteFile: "write",
  Edit: "edit",
  StrReplaceFile: "edit",
  SetTodoList: "plan",
  TodoList: "plan",
  Task: "agent",
  Agent: "agent",
  ExitPlanMode: { kind: "plan", subject: ["plan"] },
  FetchURL: "fetch",
  SearchWeb: "web_search",
};

export const kimi = readerDialect("kimi", {
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
    isProgramsPrompt,
    tools,
  },
  turns: {
    compaction,
    takingBack,
  },
  files: {
    load: async () => files,
  },
});
