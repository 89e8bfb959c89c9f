/**
 * antigravity: the transcripts that Antigravity keeps in the user's home. Page:
 * docs/formats/antigravity.md.
 */

import { type Entry, emptyEntry, type Part } from "../../core/model/entry.ts";
import { timestampOf } from "../entire/decode.ts";
import { readerDialect } from "../reader.ts";
import { rowDecoder } from "../shared/entry-parts.ts";
import {
  get,
  getList,
  getObject,
  getString,
  has,
  isObject,
  type JsonObject,
  parseJsonText,
} from "../shared/fields.ts";
import { directoryIds } from "../shared/path-ids.ts";
import type { ToolTable } from "../tool-table.ts";

/**
 * Decode: maps a step of Antigravity to an entry.
 *
 * Calls have no id: results follow in order. Every object is an entry; what is not a message is
 * `other`.
 */

export const decode = rowDecoder(entryOf);

function entryOf(step: JsonObject): Entry {
  const entry: Entry = { ...emptyEntry(step), at: timestampOf(get(step, "created_at")) };
  const [type, source] = [getString(step, "type"), getString(step, "source")];
  const text = getString(step, "content");
  const parts: Part[] = text ? [{ type: "text", text }] : [];
  const cut = get(step, "truncated_fields");
  const isCut = Array.isArray(cut) && cut.length > 0;
  const said: Entry = { ...entry, kind: "message", parts, ...(isCut ? { isPartial: true } : {}) };
  if (type === "USER_INPUT") {
    const isTheirs = source !== "SYSTEM" && source !== "MODEL";
    return { ...said, role: "user", ...(isTheirs ? {} : { saidBy: "program" }) };
  }
  if (type === "PLANNER_RESPONSE")
    return { ...said, role: "assistant", parts: answerOf(step, parts) };
  if (text === null || type === null) return entry;
  if (source === "SYSTEM") return { ...said, role: "system" };
  return { ...said, role: "tool", parts: [resultOf(step, text)] };
}

function answerOf(step: JsonObject, texts: readonly Part[]): Part[] {
  const thought = getString(step, "thinking");
  return [
    ...(thought ? [{ type: "reasoning", text: thought } as const] : []),
    ...texts,
    ...getList(step, "tool_calls").map(callOf),
  ];
}

/** Each argument is JSON as text. */
function callOf(call: unknown): Part {
  const tool = isObject(call) ? getString(call, "name") : null;
  if (!isObject(call) || tool === null) return { type: "other", native: call };
  const args = Object.entries(getObject(call, "args"));
  const input = Object.fromEntries(args.map(([key, value]) => [key, parseJsonText(value)]));
  return { type: "tool_call", callId: null, tool, input };
}

function resultOf(step: JsonObject, output: string): Part {
  const isFailed = getString(step, "status") === "ERROR" || get(step, "type") === "ERROR_MESSAGE";
  const error = isFailed ? output || "the step failed" : null;
  return { type: "tool_result", callId: null, output, error, durationMs: null };
}

/** Whether a row certainly is Antigravity's. */
export function isOwn(value: unknown): boolean {
  if (!isObject(value) || !has(value, "step_index")) return false;
  return ["source", "type", "status"].every((key) => getString(value, key) !== null);
}

/** Tools of Antigravity, by kind (tool-table.ts). */
const FILE = ["TargetFile"];

const tools: ToolTable = {
  run_command: { kind: "command", subject: ["CommandLine"] },
  view_file: { kind: "read", path: ["AbsolutePath"], from: "StartLine", to: "EndLine" },
  write_to_file: { kind: "write", path: FILE },
  write_file: { kind: "write", path: FILE },
  replace_file_content: { kind: "edit", path: FILE },
  multi_replace_file_content: { kind: "edit", path: FILE },
  grep_search: { kind: "search", verb: "Grep", subject: ["Query"], path: ["SearchPath"] },
  find_by_name: { kind: "search", verb: "Find", subject: ["Pattern"], path: ["SearchDirectory"] },
  list_dir: { kind: "list", path: ["DirectoryPath"] },
  read_url_content: { kind: "fetch", subject: ["Url"] },
  search_web: "web_search",
  browser_subagent: { kind: "agent", subject: ["TaskName", "Task"] },
};

const { layout, logPath, idAt } = directoryIds({
  under: ["brain"],
  levels: [null],
  inside: [".system_generated", "logs"],
  logName: "transcript.jsonl",
});

export const antigravity = readerDialect("antigravity", {
  naming: {
    layout,
    logPath,
    idAt,
  },
  reading: {
    decode,
    isOwn,
    tools,
  },
});
