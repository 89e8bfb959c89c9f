/** grok: the sessions that Grok Build keeps in the user's home. Page: docs/formats/grok.md. */

import { join } from "node:path";
import type { Native } from "../../core/model/entry.ts";
import { type Entry, emptyEntry, type Part, type Speaker } from "../../core/model/entry.ts";
import { timestampOf } from "../entire/decode.ts";
import type { DialectFiles } from "../facets/files.ts";
import { type Convert, logsOnce } from "../files/converted-host.ts";
import { bytesBelow, objectBelow } from "../files/json-document.ts";
import { rowJsonLines, SESSION_BYTES_MAX } from "../files/row-lines.ts";
import { readerDialect } from "../reader.ts";
import {
  contentParts,
  isoOf,
  reasoningPart,
  rowDecoder,
  textBlock,
} from "../shared/entry-parts.ts";
import {
  get,
  getList,
  getNumber,
  getObject,
  getObjects,
  getString,
  has,
  isObject,
  type JsonObject,
  parseJsonText,
} from "../shared/fields.ts";
import { directoryIds, eitherPathIds, pathIds } from "../shared/path-ids.ts";
import type { ToolTable } from "../tool-table.ts";
import { callPart } from "./kimi.ts";

/**
 * Session ids: `<directory>/<session>`. The first is the working directory, percent-encoded.
 *
 *     sessions/%2Fhome%2Fme%2Fapp/<session>/chat_history.jsonl
 *     sessions/%2Fhome%2Fme%2Fapp/<session>/updates.jsonl         <directory>/<session>/updates
 */

const CHAT_NAME = "chat_history.jsonl";
const UPDATES_NAME = "updates.jsonl";

const where = { under: ["sessions"], levels: [null, null] };
const chats = directoryIds({ ...where, logName: CHAT_NAME });
const updates = pathIds({ ...where, ending: ".jsonl", isName: (name) => name === "updates" });

const { logPath, idAt, layout } = eitherPathIds([chats, updates], (id) =>
  id.split("/").length > 2 ? updates : chats,
);

function isUpdates(path: readonly string[]): boolean {
  return updates.idAt(path) !== null;
}

function nameOf(id: string): string {
  return id.split("/")[1] ?? id;
}

/**
 * Decode: maps a row of Grok Build to an entry.
 *
 * Rows have no time. Older ones have a `role` in place of `type`. Every object is an entry; what is
 * not a message is `other`.
 */

/** Texts in the user's role that Grok writes without marking them. */
const PROGRAMS = ["<user_info>", "<system-reminder>"];
/** Reasons why Grok adds a row in the user's role. Any other is the program's own. */
const REASONS: Readonly<Record<string, Speaker | null>> = {
  interjection: null,
  compaction_meta: "summary",
};

export const decode = rowDecoder(entryOf);

function entryOf(row: JsonObject): Entry {
  // Only rows that were joined from updates have a time.
  const said: Entry = {
    ...emptyEntry(row),
    kind: "message",
    at: timestampOf(get(row, "timestamp")),
  };
  switch (typeOf(row)) {
    case "system":
      return { ...said, role: "system", parts: textParts(get(row, "content")) };
    case "user": {
      const by = speakerOf(row);
      const parts = textParts(get(row, "content"));
      return { ...said, role: "user", ...(by === null ? {} : { saidBy: by }), parts };
    }
    case "reasoning":
      return { ...said, role: "assistant", parts: reasoningOf(row) };
    case "assistant":
      return {
        ...said,
        role: "assistant",
        model: getString(row, "model_id"),
        parts: answerOf(row),
      };
    case "tool":
    case "tool_result":
      return { ...said, role: "tool", parts: [resultOf(row)] };
    case "backend_tool_call":
      // Run by the provider: not a call that this session answers.
      return { ...said, role: "assistant", parts: [{ type: "other", native: get(row, "kind") }] };
    default:
      return emptyEntry(row);
  }
}

function typeOf(row: JsonObject): string | null {
  return getString(row, "type") ?? getString(row, "role");
}

function speakerOf(row: JsonObject): Speaker | null {
  const reason = getString(row, "synthetic_reason");
  if (reason !== null)
    return Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? null) : "program";
  const [first] = textParts(get(row, "content"));
  const text = first?.type === "text" ? first.text.trimStart() : "";
  return PROGRAMS.some((each) => text.startsWith(each)) ? "program" : null;
}

export function isProgramsPrompt(row: Native): boolean {
  return typeOf(row) === "user" && speakerOf(row) === "program";
}

/** A text, or a list of texts and images. */
function textParts(content: unknown): Part[] {
  return content === "" ? [] : contentParts(content, (part) => textBlock(part, ["text"]));
}

function reasoningOf(row: JsonObject): Part[] {
  const texts = getObjects(row, "summary").map((part) => getString(part, "text") ?? "");
  return [reasoningPart(texts.join("\n\n"), { withheld: getString(row, "encrypted_content") })];
}

function answerOf(row: JsonObject): Part[] {
  const thought = getString(row, "reasoning_content");
  return [
    ...(thought ? [{ type: "reasoning", text: thought } as const] : []),
    ...textParts(get(row, "content")),
    ...getList(row, "tool_calls").map(callPart),
  ];
}

function resultOf(row: JsonObject): Part {
  const [content, images] = [get(row, "content"), get(row, "images")];
  const output = Array.isArray(images) && images.length > 0 ? [content, ...images] : content;
  const callId = getString(row, "tool_call_id");
  const error = get(row, "is_error") === true ? (typeof output === "string" ? output : "") : null;
  return { type: "tool_result", callId, output, error, durationMs: null };
}

/** Whether a row certainly is Grok's. */
export function isOwn(value: unknown): boolean {
  if (!isObject(value) || typeOf(value) === null || has(value, "uuid")) return false;
  if (has(value, "model_id") && has(value, "model_fingerprint")) return true;
  const tool = getString(getObject(value, "kind"), "tool_type");
  return has(value, "prompt_index") || has(value, "synthetic_reason") || tool !== null;
}

/**
 * Updates: the notifications of a session as its conversation, for a session that has nothing else.
 *
 *     {"timestamp","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk",…}}}
 *
 * Words come in chunks, which are joined to rows as in `chat_history.jsonl`. A result is the last
 * update of its call. A rewind is a marker after what it takes back.
 */

/** Updates only of sessions that have no chat. */
const logsIn = logsOnce(layout, { preferred: CHAT_NAME, other: UPDATES_NAME });

const convert: Convert = (root, path) => {
  if (!isUpdates(path)) return null;
  const updates = new UpdateRows();
  const text = bytesBelow(root, path, SESSION_BYTES_MAX).toString("utf8");
  for (const line of text.split("\n")) updates.add(parseJsonText(line));
  return { bytes: rowJsonLines(updates.rows), source: join(root, ...path) };
};

interface Row {
  type: "user" | "assistant" | "tool_result";
  timestamp: string | null;
  [field: string]: unknown;
}

interface Call {
  readonly id: string;
  name: string;
  arguments: string;
}

class UpdateRows {
  #rows: { readonly row: Row; readonly prompt: number }[] = [];
  /** The row that takes the next chunks. */
  #open: Row | null = null;
  #prompt = -1;
  #model: string | null = null;
  readonly #calls = new Map<string, Call>();

  get rows(): readonly Row[] {
    return this.#rows.map(({ row }) => row);
  }

  add(line: unknown): void {
    if (!isObject(line)) return; // A torn line: Grok appends in pieces.
    const params = getObject(line, "params");
    const update = getObject(isObject(get(params, "update")) ? params : line, "update");
    const seconds = getNumber(line, "timestamp");
    const at = isoOf(seconds === null ? null : seconds * 1000);
    switch (getString(update, "sessionUpdate")) {
      case "user_message_chunk":
        this.#ask(update, at);
        break;
      case "agent_thought_chunk":
        this.#answer(at, { reasoning_content: textIn(get(update, "content")) });
        break;
      case "agent_message_chunk":
        this.#answer(at, { content: textIn(get(update, "content")) });
        break;
      case "tool_call":
      case "tool_call_update":
        this.#call(update, at);
        break;
      case "model_changed":
      case "model_auto_switched":
        this.#model = getString(update, "model_id") ?? getString(update, "modelId");
        break;
      case "rewind_marker":
        this.#rewind(getNumber(update, "target_prompt_index"));
        break;
      case "turn_completed":
        this.#open = null;
    }
  }

  #ask(update: JsonObject, at: string | null): void {
    const meta = getObject(update, "_meta");
    this.#model = getString(meta, "modelId") ?? this.#model;
    const prompt = getNumber(meta, "promptIndex");
    const isSame = this.#open?.type === "user" && (prompt === null || prompt === this.#prompt);
    if (!isSame) this.#prompt = prompt ?? this.#prompt + 1;
    const row = isSame && this.#open ? this.#open : this.#put({ type: "user", timestamp: at });
    const content = (row.content ?? []) as JsonObject[];
    const [block, last] = [get(update, "content"), content.at(-1)];
    const text = textIn(block);
    if (text !== "" && last?.type === "text") {
      content[content.length - 1] = { type: "text", text: `${last.text}${text}` };
    } else if (isObject(block)) content.push(block);
    row.content = content;
  }

  #answer(at: string | null, chunk: Readonly<Record<string, string>>): Row {
    const isOpen = this.#open?.type === "assistant";
    const row = isOpen && this.#open ? this.#open : this.#put({ type: "assistant", timestamp: at });
    if (this.#model !== null) row.model_id ??= this.#model;
    for (const [name, text] of Object.entries(chunk)) row[name] = `${row[name] ?? ""}${text}`;
    return row;
  }

  /** A call is announced first, and gets its input and its result later. */
  #call(update: JsonObject, at: string | null): void {
    const id = getString(update, "toolCallId");
    if (id === null) return;
    const known = this.#calls.get(id);
    const call = known ?? { id, name: getString(update, "title") ?? "", arguments: "{}" };
    if (has(update, "rawInput")) call.arguments = JSON.stringify(get(update, "rawInput") ?? {});
    if (known === undefined) {
      this.#calls.set(id, call);
      const row = this.#answer(at, {});
      row.tool_calls = [...((row.tool_calls ?? []) as Call[]), call];
    }
    const status = getString(update, "status");
    if (status !== "completed" && status !== "failed") return;
    const content = resultIn(get(update, "content"));
    const failed = status === "failed" ? { is_error: true } : {};
    this.#put({ type: "tool_result", timestamp: at, tool_call_id: id, content, ...failed });
    this.#open = null;
  }

  #put(row: Row): Row {
    this.#rows.push({ row, prompt: this.#prompt });
    this.#open = row;
    return row;
  }

  #rewind(target: number | null): void {
    if (target === null) return;
    this.#rows = this.#rows.filter(({ prompt }) => prompt < target);
    this.#open = null;
    this.#prompt = Math.min(this.#prompt, target - 1);
  }
}

function textIn(block: unknown): string {
  return isObject(block) && get(block, "type") === "text" ? (getString(block, "text") ?? "") : "";
}

/** Blocks of text as one text; others, such as a diff, stay as they are. */
function resultIn(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? "";
  const blocks = content.map((each) => {
    return isObject(each) && get(each, "type") === "content" ? get(each, "content") : each;
  });
  const isText = blocks.every((block) => isObject(block) && get(block, "type") === "text");
  return isText ? blocks.map(textIn).join("") : blocks;
}

/** Summary: what the file next to a session's log says about it. */
const files: DialectFiles = {
  standingOf: async (_host, root, id) => {
    const [directory = "", session = ""] = id.split("/");
    const summary = objectBelow(root, ["sessions", directory, session, "summary.json"]);
    const parent = getString(summary, "parent_session_id");
    return {
      status: null,
      agent: null,
      parent: parent === null ? null : `${directory}/${parent}`,
      about: aboutIn(summary, directory),
    };
  },
};

function aboutIn(summary: JsonObject, directory: string) {
  const cwd = getString(getObject(summary, "info"), "cwd") ?? decoded(directory);
  const title = getString(summary, "generated_title") ?? getString(summary, "session_summary");
  const changed = get(summary, "last_active_at") ?? get(summary, "updated_at");
  const known = {
    cwd,
    title,
    branch: getString(summary, "head_branch"),
    createdAt: timestampOf(get(summary, "created_at")),
    updatedAt: timestampOf(changed),
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
}

/** The directory's name, decoded; null if it is not a path. */
function decoded(name: string): string | null {
  try {
    const path = decodeURIComponent(name);
    return path.startsWith("/") ? path : null;
  } catch {
    return null;
  }
}

/** Tools of Grok, by kind (tool-table.ts). */
const tools: ToolTable = {
  run_terminal_cmd: "command",
  read_file: "read",
  search_replace: "edit",
  create_file: "write",
  write: "write",
  list_dir: "list",
  todo_write: "plan",
  grep: { kind: "search", verb: "Grep" },
  web_search: "web_search",
  web_fetch: "fetch",
  spawn_subagent: "agent",
};

export const grok = readerDialect("grok", {
  naming: {
    layout: { ...layout, logsIn },
    logPath,
    idAt,
    nameOf,
  },
  reading: {
    decode,
    isOwn,
    isProgramsPrompt,
    tools,
  },
  files: {
    load: async () => files,
    convert,
  },
  program: {
    changes: "rewritten",
  },
});
