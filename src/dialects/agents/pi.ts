/** pi: the sessions of the pi coding agent. Page: docs/formats/pi.md. */

import type { Aside, Entry, Native, Part, Usage } from "../../core/model/entry.ts";
import { emptyEntry } from "../../core/model/entry.ts";
import { blockText } from "../entire/blocks.ts";
import { timestampOf } from "../entire/decode.ts";
import {
  type DecodedValue,
  DIFF_CHARS_MAX,
  diffViews,
  type ResultView,
  type SessionDetails,
} from "../facets/reading.ts";
import type { Branching, Compaction } from "../facets/turns.ts";
import { readerDialect } from "../reader.ts";
import { contentParts } from "../shared/entry-parts.ts";
import {
  get,
  getCount,
  getNumber,
  getObject,
  getString,
  isObject,
  type JsonObject,
} from "../shared/fields.ts";
import { eitherPathIds, pathIds } from "../shared/path-ids.ts";
import type { ToolTable } from "../tool-table.ts";

/**
 * Session ids: the directory and the file, without the ending.
 *
 *     sessions/--home-me-app--/<time>_<uuid>.jsonl
 *     <time>_<uuid>.jsonl                            PI_CODING_AGENT_SESSION_DIR, and version 0.30
 */

const ending = ".jsonl";
const sessions = pathIds({ under: ["sessions"], levels: [null], ending });
/** Other programs keep logs in such places too, so the name must be pi's. */
const flat = pathIds({
  under: [],
  levels: [],
  ending,
  isName: (name) => /^\d{4}-\d\d-\d\dT[0-9-]+Z_./.test(name),
});

const { logPath, idAt, layout } = eitherPathIds([sessions, flat], (id) =>
  id.includes("/") ? sessions : flat,
);

/** The session's uuid. */
function nameOf(id: string): string {
  return id.slice(Math.max(id.lastIndexOf("/"), id.indexOf("_", id.lastIndexOf("/"))) + 1);
}

/** The session that a header names by the path of its file; null if the path is not a session's. */
function parentAt(path: string): string | null {
  const [directory = "", file = ""] = path.split(/[/\\]/).slice(-2);
  const isNested = directory.startsWith("--") && directory.endsWith("--");
  return idAt(isNested ? ["sessions", directory, file] : [file]);
}

/**
 * Decode: maps a row of pi's session to an entry. OpenClaw writes the same rows.
 *
 * Refuses only what is not a row at all. Unknown rows and roles become `other`.
 */

export function decode(value: unknown): DecodedValue {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const type = getString(value, "type");
  if (type === null) return { entry: null, fault: "type is not a string" };
  const at = timestampOf(get(value, "timestamp"));
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
    error: isError ? blockText(content) : code === 0 ? null : `exit code ${code}`,
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

/**
 * Rows: what pi's rows mean for the conversation as a whole: branches, compaction, what the model
 * never saw, and what they say about the session.
 */

/** Whether a line is the first of a session; OpenClaw's are the same. */
export function isHeader(value: unknown): boolean {
  if (!isObject(value) || get(value, "type") !== "session") return false;
  return ["id", "timestamp", "cwd"].every((key) => getString(value, key) !== null);
}

export function about(
  row: Native,
  parentAt: (path: string) => string | null,
): SessionDetails | null {
  const type = get(row, "type");
  if (type === "session_info") return { title: getString(row, "name") ?? "" };
  if (type !== "session") return null;
  const parent = getString(row, "parentSession") ?? getString(row, "branchedFrom");
  return {
    cwd: getString(row, "cwd") ?? "",
    parent: (parent === null ? null : parentAt(parent)) ?? "",
  };
}

/** A command with `!!`: its output was not sent to the model. */
export function asideOf(row: Native): Aside | null {
  return get(getObject(row, "message"), "excludeFromContext") === true ? "program" : null;
}

const SILENT_TYPES: readonly unknown[] = [
  "model_change",
  "thinking_level_change",
  "custom",
  "label",
  "session_info",
];

export function isSilent(row: Native): boolean {
  return SILENT_TYPES.includes(get(row, "type"));
}

export function isProgramsPrompt(row: Native): boolean {
  // Most rows are of these, and are long.
  if (SPEAKERS.includes(get(getObject(row, "message"), "role"))) return false;
  return decode(row).entry?.saidBy !== undefined;
}

const SPEAKERS: readonly unknown[] = ["user", "assistant", "toolResult", "system"];

/** Version 1 has no ids: there each row continues from the one before it. */
export const branching: Branching = {
  idOf: (row) => (get(row, "type") === "session" ? null : getString(row, "id")),
  parentOf(row) {
    const parent = get(row, "parentId");
    return typeof parent === "string" || parent === null ? parent : undefined;
  },
};

/** A row is the summary, and names the rows before it that still count. */
export const compaction: Compaction = {
  isSummary: isCompaction,
  isBoundary: isCompaction,

  keptBy(row, before) {
    const tail = get(row, "retainedTail");
    if (Array.isArray(tail)) {
      const kept = new Set(tail.map(saidAt).filter((said) => said !== ""));
      return new Set(before.filter((each) => kept.has(saidAt(get(each, "message")))));
    }
    const first = getString(row, "firstKeptEntryId");
    const at = first === null ? oldIndex(row, before) : indexOf(before, first);
    return new Set(at < 0 ? [] : before.slice(at));
  },
};

function isCompaction(row: Native): boolean {
  return get(row, "type") === "compaction" && getString(row, "summary") !== null;
}

function indexOf(rows: readonly Native[], id: string): number {
  return rows.findIndex((row) => get(row, "id") === id);
}

/** Version 1 counts rows of the whole file. Unknown after an earlier compaction. */
function oldIndex(row: Native, before: readonly Native[]): number {
  const index = getNumber(row, "firstKeptEntryIndex") ?? -1;
  const [first] = before;
  return first !== undefined && get(first, "type") === "session" && index >= 1 ? index : -1;
}

/** What a kept message has in common with its row; empty if it has nothing. */
function saidAt(message: unknown): string {
  const at = isObject(message) ? getNumber(message, "timestamp") : null;
  return at === null || !isObject(message) ? "" : `${getString(message, "role")} ${at}`;
}

/**
 * Result views: the diff that pi records next to the result of an edit.
 *
 *     - 12 removed        its number in the old file
 *     + 12 added          in the new one
 *       13 kept           in the old one
 *          ...            lines that are left out
 */

const LINE = /^([-+ ]) *(\d{1,9}) (.*)$/;

export function resultViews(row: Native): ResultView[] {
  const message = getObject(row, "message");
  const diff = getString(getObject(message, "details"), "diff");
  if (diff === null || diff.length > DIFF_CHARS_MAX) return [];
  return diffViews(getString(message, "toolCallId"), unified(diff));
}

/** As hunks. Older versions number kept lines before the first change wrongly: changes count. */
function unified(diff: string): string | null {
  const hunks: string[] = [];
  let more = 0; // Lines that the new file has more than the old one, so far.
  for (const part of diff.split(/^ *\.\.\.$/m)) {
    const lines = part.replace(/^\n|\n$/g, "").split("\n");
    if (lines.length === 1 && lines[0] === "") continue;
    const read = lines.map((line) => LINE.exec(line)?.slice(1) ?? null);
    const first = read.findIndex((line) => line !== null && line[0] !== " ");
    const [sign, number] = read[first] ?? [];
    if (number === undefined || read.includes(null)) return null;
    const now = Number(number) - first + (sign === "-" ? more : 0);
    const count = (other: string) => read.filter((line) => line?.[0] !== other).length;
    const head = `@@ -${now - more},${count("+")} +${now},${count("-")} @@`;
    hunks.push([head, ...read.map((line) => `${line?.[0]}${line?.[2]}`)].join("\n"));
    more += count("-") - count("+");
  }
  return hunks.join("\n");
}

/** Tools of pi, and of OpenClaw, which is built on it, by kind (tool-table.ts). */
export const tools: ToolTable = {
  bash: "command",
  exec: "command",
  shell_exec: "command",
  process: { kind: "command", verb: "Process", subject: ["action", "sessionId"] },
  read: { kind: "read", isPlain: true },
  write: "write",
  edit: "edit",
  ls: "list",
  grep: { kind: "search", verb: "Grep" },
  find: { kind: "search", verb: "Find" },
  sessions_spawn: "agent",
  web_fetch: "fetch",
  web_search: "web_search",
};

export const pi = readerDialect("pi", {
  naming: {
    layout,
    logPath,
    idAt,
    nameOf,
  },
  reading: {
    decode,
    isOwn: isHeader,
    about: (row) => about(row, parentAt),
    asideOf,
    isSilent,
    isProgramsPrompt,
    tools,
    resultViews,
  },
  turns: {
    compaction,
    branching,
  },
  program: {
    hasForks: true,
  },
});
