/**
 * Events: rows of the table `session_message`, which newer versions write next to `message`, and
 * in time instead of it.
 */

import type { Entry, Part } from "../../model/entry.ts";
import {
  get,
  getCount,
  getNumber,
  getObject,
  getString,
  isObject,
  type JsonObject,
} from "../fields.ts";
import { isoOf, usageOf } from "./usage.ts";

export function decodeEvent(base: Entry, info: JsonObject): Entry {
  const at = isoOf(getNumber(getObject(info, "time"), "created"));
  const text = getString(info, "text") ?? getString(info, "summary") ?? "";
  const parts: Part[] = text === "" ? [] : [{ type: "text", text }];
  const said = { ...base, kind: "message", at, messageId: getString(info, "id") ?? "" } as const;
  switch (get(info, "type")) {
    case "user":
      return { ...said, role: "user", parts: [...parts, ...others(info, "files")] };
    case "synthetic":
      return { ...said, role: "user", parts, saidBy: "program" };
    case "compaction":
      return { ...said, role: "user", parts, saidBy: "summary" };
    case "system":
      return { ...said, role: "system", parts };
    case "shell":
      return { ...said, role: "assistant", parts: shellParts(info) };
    case "assistant":
      return assistant(said, info);
    default:
      return { ...base, at }; // The agent or the model changed, or a later invention.
  }
}

function assistant(said: Entry, info: JsonObject): Entry {
  const finish = getString(info, "finish");
  return {
    ...said,
    role: "assistant",
    parts: objectsIn(info, "content").flatMap(contentParts),
    model: getString(getObject(info, "model"), "id"),
    usage: usageOf([getObject(info, "tokens")], getCount(info, "cost")),
    ...(finish !== null && { stopReason: finish }),
  };
}

function contentParts(content: JsonObject): Part[] {
  const text = getString(content, "text") ?? "";
  const type = get(content, "type");
  if (type === "text") return text === "" ? [] : [{ type, text }];
  if (type === "reasoning") return [{ type, text }];
  if (type !== "tool") return [{ type: "other", native: content }];
  const state = getObject(content, "state");
  const callId = getString(content, "id");
  const tool = getString(content, "name") ?? "";
  const call: Part = { type: "tool_call", callId, tool, input: get(state, "input", null) };
  const status = get(state, "status");
  if (status !== "completed" && status !== "error") return [call];
  const failed = getString(getObject(state, "error"), "message") ?? "";
  const error = status === "error" ? failed : null;
  const output = get(state, "content", null);
  return [call, { type: "tool_result", callId, output, error, durationMs: null }];
}

function shellParts(info: JsonObject): Part[] {
  const callId = getString(info, "callID");
  const input = { command: get(info, "command") };
  const output = get(info, "output", null);
  return [
    { type: "tool_call", callId, tool: "shell", input },
    { type: "tool_result", callId, output, error: null, durationMs: null },
  ];
}

function others(info: JsonObject, key: string): Part[] {
  return objectsIn(info, key).map((native) => ({ type: "other", native }));
}

function objectsIn(info: JsonObject, key: string): JsonObject[] {
  const value = get(info, key);
  return Array.isArray(value) ? value.filter(isObject) : [];
}
