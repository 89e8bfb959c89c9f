/**
 * Complete: validates a caller's row and adds the writer's fields.
 *
 *   {"type","sessionId","uuid","parentUuid","timestamp","cwd","version","message",…the caller's own}
 *
 * - The writer's values replace the caller's, except `version`: a row that another program wrote
 *   keeps that program's version. `parentUuid` is null here: the previous row is known only under
 *   the log's lock (`chain` in dialect.ts).
 * - A completed row is plain JSON in memory too: it reads back unchanged.
 * - An assistant's content is a list of blocks, and its message has an id: without them Entire
 *   loses the text, or the tokens.
 * - `checkpoint` rows, `event_type` and `spill` are reserved for the store, and refused from
 *   callers.
 *
 * Express: maps a neutral entry to rows, before `complete`.
 *
 * A message becomes one row and loses nothing: the writer's time replaces `at`, which is kept as
 * `saidAt`. Starts and ends of sessions and turns have no row: the store knows when a session ends,
 * and writes context.md. Content that no row can hold throws INVALID_ENTRY.
 */

import type { Native, NewEntry, Part } from "../../core/model/entry.ts";
import { refuseEntry } from "../../core/model/plain-json.ts";
import type { WriterFacts } from "../facets/writing.ts";
import {
  get,
  getString,
  has,
  isObject,
  type JsonObject,
  toJsonValue,
  withRest,
} from "../shared/fields.ts";
import { blockOf, isBlock } from "./blocks.ts";
import { completeUsage, expressUsage } from "./usage.ts";

/** Types of conversation rows; all other types belong to the store or to other programs. */
export const ROLES = ["user", "assistant", "system"] as const;

export type RowType = (typeof ROLES)[number];

/** The fields that the writer sets on every row, and the position of `message`. */
export const ROW_KEYS: readonly string[] = [
  "type",
  "sessionId",
  "uuid",
  "parentUuid",
  "timestamp",
  "cwd",
  "version",
  "message",
];

const RESERVED = ["event_type", "spill"];
const ASSISTANT_KEYS = ["id", "role", "model", "content", "stop_reason", "usage"];
const OTHER_KEYS = ["role", "content"];

export function complete(given: Native, facts: WriterFacts): Native {
  if (!isObject(given)) refuseEntry("entry", "not an object");
  const row = toJsonValue(given);
  if (!isObject(row)) refuseEntry("entry", "not JSON");
  const type = ROLES.find((role) => role === get(row, "type"));
  if (type === undefined) refuseEntry("type", "not user, assistant or system");
  for (const key of RESERVED) if (has(row, key)) refuseEntry(key, "reserved");
  const completed = {
    type,
    sessionId: facts.id,
    uuid: facts.newId(),
    parentUuid: null,
    timestamp: new Date(facts.nowMs).toISOString(),
    cwd: facts.cwd,
    version: nameIn(row, "version", "version") || facts.version,
    message: messageOf(type, get(row, "message"), facts),
  };
  return withRest(completed, row, ROW_KEYS);
}

function messageOf(type: RowType, message: unknown, facts: WriterFacts): JsonObject {
  if (!isObject(message)) return refuseEntry("message", "not an object");
  if (get(message, "role", type) !== type) refuseEntry("message.role", "not the row's type");
  const content = contentOf(get(message, "content"));
  if (type !== "assistant") return withRest({ role: type, content }, message, OTHER_KEYS);
  const usage = completeUsage(get(message, "usage"));
  const fields = {
    id: nameOf(message, "id") || `msg_${facts.newId().replaceAll("-", "")}`,
    role: type,
    model: nameOf(message, "model") ?? facts.model,
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
    stop_reason: nameOf(message, "stop_reason"),
    ...(usage === null ? {} : { usage }),
  };
  return withRest(fields, message, ASSISTANT_KEYS);
}

/** A string, or a list of blocks, each with a type and, for tools, a call id. */
function contentOf(content: unknown): string | readonly JsonObject[] {
  if (typeof content === "string") return content;
  if (!Array.isArray(content))
    return refuseEntry("message.content", "neither text nor a list of blocks");
  for (const [at, block] of content.entries()) {
    const field = `message.content.${at}`;
    if (!isBlock(block)) refuseEntry(field, "not a block with a type");
    const { type } = block;
    const needed =
      type === "tool_use" ? ["id", "name"] : type === "tool_result" ? ["tool_use_id"] : [];
    for (const key of needed) {
      if (getString(block, key) === null) refuseEntry(`${field}.${key}`, "not a string");
    }
  }
  return content as JsonObject[];
}

function nameOf(message: JsonObject, key: string): string | null {
  return nameIn(message, key, `message.${key}`);
}

function nameIn(from: JsonObject, key: string, field: string): string | null {
  const name = get(from, key) ?? null;
  if (name !== null && typeof name !== "string") return refuseEntry(field, "not a string");
  return name;
}

export function express(entry: NewEntry): readonly Native[] {
  switch (entry.kind) {
    case "start":
    case "turn_start":
    case "turn_end":
    case "end":
      return [];
    case "message":
      return [rowOf(entry, typeOf(entry))];
    case "other": {
      const { parts = [] } = entry;
      const isChild = parts.length > 0 && parts.every(({ type }) => type === "child");
      if (!isChild) refuseEntry("kind", "other, of which a row can only say that a child begins");
      if (entry.role) refuseEntry("role", "not said by an other");
      return [rowOf(entry, "system")];
    }
    default:
      return refuseEntry("kind", "unknown");
  }
}

function typeOf({ role }: NewEntry): RowType {
  if (role === null || role === undefined)
    return refuseEntry("role", "missing, and a message needs one");
  return role === "tool" ? "user" : role;
}

function rowOf(entry: NewEntry, type: RowType): Native {
  const { parts = [], model, messageId, stopReason, usage, isPartial } = entry;
  for (const field of ["outcome", "error"] as const) {
    if (entry[field]) refuseEntry(field, `not said by a ${entry.kind}`);
  }
  const spend = usage?.spend ?? null;
  const message = {
    ...(messageId === undefined ? {} : { id: messageId }),
    ...(typeof model === "string" ? { model } : {}),
    content: contentOfEntry(parts, type),
    ...(stopReason === undefined ? {} : { stop_reason: stopReason }),
    ...(usage ? { usage: expressUsage(usage) ?? undefined } : {}),
  };
  return {
    type,
    message,
    ...(isPartial ? { partial: true } : {}),
    ...(spend === null ? {} : { costUSD: spend }),
    ...(isToolsText(entry) ? { role: "tool" } : {}),
    ...(typeof entry.at === "string" ? { saidAt: entry.at } : {}),
  };
}

/**
 * A row of results alone decodes to the role `tool` (decode.ts); other content needs the role
 * stated.
 */
function isToolsText({ role, parts = [] }: NewEntry): boolean {
  return (
    role === "tool" && !(parts.length > 0 && parts.every(({ type }) => type === "tool_result"))
  );
}

/** A person's text is a string, as in the document; everything else is blocks. */
function contentOfEntry(parts: readonly Part[], type: RowType): unknown {
  const [only, ...more] = parts;
  const isText = only?.type === "text" && more.length === 0 && type !== "assistant";
  return isText ? only.text : parts.map(blockOf);
}
