/**
 * Decode: the lines that a session of OpenCode is presented as (docs/formats/opencode.md). One line
 * for the session, one for each message with its parts; what they hold is as OpenCode stored it.
 */

import { type Entry, emptyEntry, type Part, type Usage } from "../../model/entry.ts";
import type { About } from "../agent-program.ts";
import type { Compaction, Native, Understood } from "../dialect.ts";
import {
  get,
  getCount,
  getNumber,
  getObject,
  getString,
  isObject,
  type JsonObject,
} from "../fields.ts";
import { decodeEvent } from "./events.ts";
import { isoOf, usageOf } from "./usage.ts";

/** A title that OpenCode makes up until it has a better one. */
const PLACEHOLDER = /^(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Parts that say nothing of their own: the message has their tokens, costs and finish. */
const MARKS: readonly unknown[] = ["step-start", "step-finish", "snapshot"];

export function decode(value: unknown): Understood {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const type = get(value, "type");
  const info = getObject(value, "info");
  const base = emptyEntry(value);
  if (type === "session") {
    const created =
      getNumber(info, "time_created") ?? getNumber(getObject(info, "time"), "created");
    return { entry: { ...base, kind: "start", at: isoOf(created) }, fault: null };
  }
  if (type === "event") return { entry: decodeEvent(base, info), fault: null };
  if (type !== "message" && type !== "parts") return { entry: null, fault: "unknown type" };
  const role = getString(info, "role");
  if (type === "parts" || (role !== "user" && role !== "assistant")) {
    return { entry: base, fault: null };
  }
  const said = { ...base, kind: "message", at: createdAt(info), messageId: idOf(info) } as const;
  return { entry: role === "user" ? user(said, value) : assistant(said, value), fault: null };
}

function user(base: Entry, value: Native): Entry {
  const parts = partsOf(value);
  const isTyped = (part: JsonObject) => !get(part, "synthetic") && !get(part, "ignored");
  const hasTyped = parts.some((part) => get(part, "type") === "text" && isTyped(part));
  const read = parts.flatMap((part): Part[] => {
    // Next to what the user typed, such as a file that was attached as text.
    if (hasTyped && !isTyped(part)) return [{ type: "other", native: part }];
    return partOf(part, value);
  });
  const isPrograms = !hasTyped && parts.some((part) => !isTyped(part) || isCompaction(part));
  return { ...base, role: "user", parts: read, ...(isPrograms && { saidBy: "program" }) };
}

function assistant(base: Entry, value: Native): Entry {
  const info = getObject(value, "info");
  const parts = partsOf(value);
  const error = getString(getObject(info, "error"), "name");
  const finish = getString(info, "finish") ?? error;
  const isDone = getNumber(getObject(info, "time"), "completed") !== null || finish !== null;
  return {
    ...base,
    role: "assistant",
    ...(compaction.isSummary(value) && { saidBy: "summary" }),
    parts: parts.flatMap((part) => partOf(part, value)),
    model: getString(info, "modelID") ?? getString(getObject(info, "model"), "modelID"),
    usage: usageIn(info, parts),
    ...(finish !== null && { stopReason: finish }),
    ...(!isDone && { isPartial: true }),
  };
}

/** Older versions put several steps into a message, whose tokens are those of the last. */
function usageIn(info: JsonObject, parts: readonly JsonObject[]): Usage | null {
  const steps = parts.filter((part) => get(part, "type") === "step-finish");
  const tokens = steps.length > 1 ? steps : [info];
  return usageOf(
    tokens.map((each) => getObject(each, "tokens")),
    getCount(info, "cost"),
  );
}

function partOf(part: JsonObject, value: Native): Part[] {
  const type = get(part, "type");
  if (MARKS.includes(type)) return [];
  const text = getString(part, "text");
  if (type === "text" && text !== null) return text === "" ? [] : [{ type: "text", text }];
  if (type === "reasoning" && text !== null) return [reasoning(part, text)];
  const prompt = getString(part, "prompt");
  if (type === "subtask" && prompt !== null) return [{ type: "text", text: prompt }];
  return type === "tool" ? toolParts(part, value) : [{ type: "other", native: part }];
}

function reasoning(part: JsonObject, text: string): Part {
  const anthropic = getObject(getObject(part, "metadata"), "anthropic");
  const signature = getString(anthropic, "signature");
  return { type: "reasoning", text, ...(signature !== null && { signature }) };
}

function toolParts(part: JsonObject, value: Native): Part[] {
  const state = getObject(part, "state");
  const callId = getString(part, "callID");
  const tool = getString(part, "tool") ?? "";
  const input = get(state, "input", null);
  const parts: Part[] = [{ type: "tool_call", callId, tool, input }];
  const child = getString(getObject(state, "metadata"), "sessionId");
  if (tool === "task" && child !== null) {
    const session = `${getString(value, "place") ?? ""}${child}`;
    const agent = getString(isObject(input) ? input : {}, "subagent_type");
    parts.push({ type: "child", session, agent });
  }
  const error = getString(state, "error");
  const output = get(state, "output", null);
  const isRunning = ["pending", "running"].includes(getString(state, "status") ?? "");
  if (isRunning || (output === null && error === null)) return parts;
  const { start, end } = getObject(state, "time");
  const durationMs = typeof start === "number" && typeof end === "number" ? end - start : null;
  parts.push({ type: "tool_result", callId, output, error, durationMs });
  return parts;
}

/** A message with a `compaction` part, then the summary as the assistant's answer to it. */
export const compaction: Compaction = {
  isSummary(native) {
    const info = getObject(native, "info");
    return get(info, "summary") === true && get(info, "role") === "assistant";
  },
  isBoundary: (native) => partsOf(native).some(isCompaction),
  keptBy(boundary, before) {
    const first = partsOf(boundary).map((part) => getString(part, "tail_start_id"));
    const at = before.findIndex((row) => first.includes(getString(getObject(row, "info"), "id")));
    return new Set(at < 0 ? [] : before.slice(at));
  },
};

export function about(native: Native, id: string): About | null {
  if (get(native, "type") !== "session") return null;
  const info = getObject(native, "info");
  const title = getString(info, "title") ?? "";
  const parent = getString(info, "parent_id") ?? getString(info, "parentID");
  return {
    ...(!PLACEHOLDER.test(title) && { title }),
    cwd: getString(info, "directory") ?? "",
    ...(parent !== null && { parent: `${id.slice(0, id.lastIndexOf("/") + 1)}${parent}` }),
  };
}

/** What identifies a line when it is written again. */
export function lineKey(native: Native): string | null {
  const type = getString(native, "type");
  const id = getString(getObject(native, "info"), "id");
  return type === null || id === null ? null : `${type}:${id}`;
}

function isCompaction(part: JsonObject): boolean {
  return get(part, "type") === "compaction";
}

function partsOf(value: Native): JsonObject[] {
  const parts = get(value, "parts");
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}

function createdAt(info: JsonObject): string | null {
  return isoOf(getNumber(getObject(info, "time"), "created"));
}

function idOf(info: JsonObject): string {
  return getString(info, "id") ?? "";
}
