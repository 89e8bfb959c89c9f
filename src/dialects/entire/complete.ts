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
 */

import type { Native } from "../../core/model/entry.ts";
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
import { isBlock } from "./blocks.ts";
import { completeUsage } from "./usage.ts";

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
