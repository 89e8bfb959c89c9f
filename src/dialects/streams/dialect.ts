/**
 * streams: the JSON streams of a server's data directory, read as sessions. Page:
 * docs/formats/streams.md, "As sessions".
 *
 * Root: the data directory. A session's id is the stream's path. Read-only: writes go through the
 * server, which holds the directory.
 *
 * A stream's message becomes an entry if it looks like a chat message. Streams hold any
 * JSON that their clients sent, so nothing is refused: unknown JSON becomes an `other` entry, and
 * is shown.
 *
 * Known are lines of `sdk`, our neutral entry, the AI SDK's `UIMessage` (role and parts), and a
 * role with content in Anthropic's or OpenAI's format.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { parseExactly } from "../../core/base/exact-numbers.ts";
import type { Mutable } from "../../core/base/files.ts";
import { compactJson } from "../../core/base/print-json.ts";
import {
  type Entry,
  emptyEntry,
  type Native,
  type Part,
  type Role,
} from "../../core/model/entry.ts";
import { streamsIn } from "../../streams/files/reading/stream-list.ts";
import { streamPathToFilename } from "../../streams/files/stream-path.ts";
import type { Dialect } from "../dialect.ts";
import type { DecodedValue } from "../facets/reading.ts";
import type { FoundLog } from "../session-row.ts";
import { sidecarOpening } from "../shared/checkpoint-opening.ts";
import { blockPart } from "../shared/entry-parts.ts";
import { get, getObject, getString, isObject, type JsonObject } from "../shared/fields.ts";
import { decode as decodeLine, neutralOf } from "../verbatim/decode.ts";
import { decodeItem } from "../verbatim/item.ts";
import { decodeMessage } from "../verbatim/ui-message.ts";
import { readingHost } from "./files/reading-host.ts";

const ROLES: readonly unknown[] = ["system", "user", "assistant", "tool"];
const KINDS: readonly unknown[] = ["start", "message", "turn_start", "turn_end", "end"];
const TEXTS: readonly unknown[] = ["text", "input_text", "output_text"];
const TIMES = ["at", "timestamp", "ts", "createdAt", "created_at", "time"];

export const streams: Dialect<"streams"> = {
  name: "streams",
  naming: {
    layout: {
      under: ["logs"],
      levels: [],
      isLog: () => false,
      idAt: () => null,
      logsIn: streamLogs,
    },
    logPath(id) {
      try {
        return ["logs", streamPathToFilename(id)];
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new VerbatimError("BAD_ID", reason, { id, reason }, { cause });
      }
    },
    // A file name does not say whether its stream is live: `logsIn` reads meta.jsonl.
    idAt: () => null,
  },
  reading: {
    decode,
    holdsAnything: true,
  },
  turns: {
    isSidecar: true,
    turnMark(native) {
      const role = getString(native, "role");
      if (role === "user") return "opens";
      return role === null || role === "system" ? null : "works";
    },
    opening: sidecarOpening("streams"),
  },
  writtenElsewhere:
    "streams are only read here; append to them through their server or openStreams",
  files: {
    hostFor: readingHost,
  },
};

/** `path`: where `reading-host.ts` shows it, including a fork's bytes from its source. */
function* streamLogs(root: string): Generator<FoundLog> {
  for (const { path, file, status, isJson, base } of streamsIn(root).values()) {
    if (status !== "live" || !isJson) continue;
    const stats = statSync(join(root, "logs", file), { throwIfNoEntry: false });
    const size = base + (stats?.size ?? 0);
    const log = `logs/${streamPathToFilename(path)}`;
    yield { id: path, path: log, size, mtimeMs: stats?.mtimeMs ?? 0 };
  }
}

function decode(value: unknown): DecodedValue {
  if (!isObject(value)) {
    return { entry: { ...emptyEntry({ value }), parts: [shown(value)] }, fault: null };
  }
  const line = decodeLine(value);
  if (line.entry !== null && line.entry.kind !== "other") return line;
  const other = { ...emptyEntry(value), at: timeOf(value), parts: [shown(value)] };
  return { entry: { ...other, ...saidIn(value) }, fault: null };
}

/** Unknown JSON is shown as it is. */
function shown(value: unknown): Part {
  return textOf(`\`\`\`json\n${compactJson(value)}\n\`\`\``);
}

function saidIn(value: Native): Mutable<Partial<Entry>> {
  const { kind, role, parts, content } = value;
  if (KINDS.includes(kind) && Array.isArray(parts)) return neutralOf(value);
  const speaker = role === "developer" ? "system" : role;
  if (ROLES.includes(speaker)) {
    if (Array.isArray(parts)) return decodeMessage({ ...value, role: speaker });
    const said = typeof content === "string" || Array.isArray(content) || hasCalls(value);
    if (said) return chatOf(value, speaker as Role);
  }
  const item = typeof value.type === "string" ? decodeItem(value) : null;
  return item !== null && item.kind === "message" && role === undefined ? item : {};
}

function hasCalls(value: JsonObject): boolean {
  return Array.isArray(get(value, "tool_calls"));
}

function chatOf(value: JsonObject, role: Role): Mutable<Partial<Entry>> {
  const entry: Mutable<Partial<Entry>> = { kind: "message", role, parts: partsOf(value, role) };
  const messageId = getString(value, "id");
  const model = getString(value, "model");
  const stopReason = getString(value, "stop_reason");
  if (messageId !== null) entry.messageId = messageId;
  if (model !== null) entry.model = model;
  if (stopReason !== null) entry.stopReason = stopReason;
  return entry;
}

function partsOf(value: JsonObject, role: Role): Part[] {
  const content = get(value, "content");
  if (role === "tool") {
    const callId = getString(value, "tool_call_id") ?? getString(value, "toolCallId");
    return [
      { type: "tool_result", callId, output: content ?? null, error: null, durationMs: null },
    ];
  }
  const blocks = Array.isArray(content) ? content : [];
  const parts = typeof content === "string" ? [textOf(content)] : blocks.map(blockOf);
  const calls = get(value, "tool_calls");
  return [...parts, ...(Array.isArray(calls) ? calls.map(callOf) : [])];
}

function textOf(text: string): Part {
  return { type: "text", text };
}

/** A content block in Anthropic's or OpenAI's format. */
function blockOf(block: unknown): Part {
  const other = blockPart(block);
  if (!isObject(block)) return other;
  const { type } = block;
  const text = getString(block, "text");
  if (TEXTS.includes(type) && text !== null) return textOf(text);
  const thinking = getString(block, "thinking");
  if (type === "thinking" && thinking !== null) {
    const signature = getString(block, "signature");
    const seal = signature === null ? {} : { signature, provider: "anthropic" as const };
    return { type: "reasoning", text: thinking, ...seal };
  }
  if (type === "tool_use") {
    const tool = getString(block, "name") ?? "";
    return { type: "tool_call", callId: getString(block, "id"), tool, input: get(block, "input") };
  }
  if (type !== "tool_result") return other;
  const callId = getString(block, "tool_use_id");
  const error = get(block, "is_error") === true ? "failed" : null;
  return { type, callId, output: get(block, "content", null), error, durationMs: null };
}

/** A call in OpenAI's chat messages: its arguments are JSON in a string. */
function callOf(call: unknown): Part {
  if (!isObject(call)) return { type: "other", native: call };
  const said = getObject(call, "function");
  const tool = getString(said, "name") ?? "";
  const text = getString(said, "arguments");
  return { type: "tool_call", callId: getString(call, "id"), tool, input: inputOf(text) };
}

function inputOf(text: string | null): unknown {
  try {
    return text === null ? null : parseExactly(text);
  } catch {
    return text;
  }
}

/** The time of a line under a usual field name; null if there is none. */
function timeOf(value: JsonObject): string | null {
  for (const name of TIMES) {
    const said = get(value, name);
    const ms = typeof said === "string" ? Date.parse(said) : Number.NaN;
    if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  }
  return null;
}
