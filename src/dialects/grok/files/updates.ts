/**
 * Updates: the notifications of a session as its conversation, for a session that has nothing else.
 *
 *     {"timestamp","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk",…}}}
 *
 * Words come in chunks, which are joined to rows as in `chat_history.jsonl`. A result is the last
 * update of its call. A rewind is a marker after what it takes back.
 */

import { join } from "node:path";
import { isoOf } from "../../entry-parts.ts";
import {
  get,
  getNumber,
  getObject,
  getString,
  has,
  isObject,
  type JsonObject,
  parsed,
} from "../../fields.ts";
import type { Convert } from "../../files/converted-host.ts";
import { bytesBelow } from "../../files/json-document.ts";
import { linesOf, SESSION_BYTES_MAX } from "../../files/row-lines.ts";
import { logsOnce } from "../../files/two-files.ts";
import { CHAT_NAME, isUpdates, layout, UPDATES_NAME } from "../session-id.ts";

/** Updates only of sessions that have no chat. */
export const logsIn = logsOnce(layout, { preferred: CHAT_NAME, other: UPDATES_NAME });

export const convert: Convert = (root, path) => {
  if (!isUpdates(path)) return null;
  const updates = new UpdateRows();
  const text = bytesBelow(root, path, SESSION_BYTES_MAX).toString("utf8");
  for (const line of text.split("\n")) updates.add(parsed(line));
  return { bytes: linesOf(updates.rows), source: join(root, ...path) };
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
    [this.#open, this.#prompt] = [null, Math.min(this.#prompt, target - 1)];
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
