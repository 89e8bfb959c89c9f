/**
 * Decode: maps a row to an entry, our own or another program's (mostly Claude Code's).
 *
 * Refuses only what is not a row at all: unknown row types become `other`, unexpected values are
 * ignored, and the parsed row is kept in `native`.
 */

import type { Mutable } from "../../core/base/files.ts";
import { type Entry, emptyEntry, type Part, type Role } from "../../core/model/entry.ts";
import type { DecodedValue } from "../facets/reading.ts";
import { isOthersLine } from "../program-formats.ts";
import { get, getString, has, isObject, type JsonObject } from "../shared/fields.ts";
import { agentRowIn, PROGRESS_TYPE, speakerOf } from "./aside.ts";
import { attachedIn } from "./attachment.ts";
import { partsOf, withRowStructured } from "./blocks.ts";
import { ROLES, type RowType } from "./complete.ts";
import { usageOf } from "./usage.ts";

/** Claude Code's rows that name no session. */
const NAMELESS_TYPES = ["file-history-snapshot", "summary"];
/** A signer's row; the only one that may have an `event_type` (docs/formats/entire.md). */
const CHECKPOINT_TYPE = "checkpoint";

export function decode(value: unknown): DecodedValue {
  if (!isObject(value)) return faulty("not an object");
  const type = get(value, "type");
  if (typeof type !== "string") return faulty("type is not a string");
  if (has(value, "event_type") && type !== CHECKPOINT_TYPE) {
    return faulty("both type and event_type");
  }
  return { entry: rowEntry(value, type), fault: null };
}

/** The entry of a row of that type, whatever else it holds. */
export function rowEntry(row: JsonObject, type: string): Entry {
  const entry: Mutable<Entry> = emptyEntry(row);
  entry.at = timestampOf(get(row, "timestamp"));
  const attached = attachedIn(row);
  if (attached !== null) {
    entry.kind = "message";
    entry.role = attached.role;
    entry.parts = attached.parts;
    if (!attached.isTyped) entry.saidBy = "program";
    return entry;
  }
  const agents = type === PROGRESS_TYPE ? agentRowIn(row) : null;
  if (agents !== null) {
    const said = rowEntry(agents, String(get(agents, "type")));
    return { ...said, at: said.at ?? entry.at, native: row };
  }
  const message = get(row, "message");
  if (isRowType(type) && isObject(message)) readMessage(entry, type, message);
  return entry;
}

function isRowType(type: string): type is RowType {
  return (ROLES as readonly string[]).includes(type);
}

/** Field by field, without copies: this runs for every row of a listing. */
function readMessage(entry: Mutable<Entry>, type: RowType, message: JsonObject): void {
  const { native } = entry;
  const parts = withRowStructured(partsOf(get(message, "content")), native);
  const role = roleOf(type, parts, native);
  // Rows about child sessions have no speaker.
  const isAside = type === "system" && parts.length > 0 && parts.every(isChild);
  if (!isAside) {
    entry.kind = "message";
    entry.role = role;
  }
  entry.parts = parts;
  entry.model = getString(message, "model");
  entry.usage = usageOf(native, message);
  const by = role === "user" ? speakerOf(native, parts) : null;
  if (by !== null) entry.saidBy = by;
  const messageId = getString(message, "id");
  if (messageId) entry.messageId = messageId;
  const stopReason = getString(message, "stop_reason");
  if (stopReason !== null) entry.stopReason = stopReason;
  if (get(native, "partial") === true) entry.isPartial = true;
}

/** Results go back to the model as a user's row; a row with only results has the role `tool`. */
function roleOf(type: RowType, parts: readonly Part[], row: JsonObject): Role {
  if (type !== "user") return type;
  const isResults = parts.length > 0 && parts.every(isResult);
  return isResults || get(row, "role") === "tool" ? "tool" : type;
}

function isResult({ type }: Part): boolean {
  return type === "tool_result";
}

function isChild({ type }: Part): boolean {
  return type === "child";
}

/** A time as JavaScript writes it, which takes a tenth of a listing to parse and write again. */
const IN_UTC =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Any time that JavaScript parses, in UTC; null outside the years with four digits. */
export function timestampOf(timestamp: unknown): string | null {
  if (typeof timestamp === "string" && IN_UTC.test(timestamp)) return timestamp;
  const ms = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  const text = Number.isNaN(ms) ? "" : new Date(ms).toISOString();
  return text.length === 24 ? text : null;
}

/**
 * Whether a value certainly is a row, for format detection: stricter than `decode`, which keeps
 * everything with a type.
 */
export function isRow(value: unknown): boolean {
  if (!isObject(value) || typeof get(value, "type") !== "string") return false;
  if (typeof get(value, "sessionId") === "string") return true;
  return get(value, "type") !== "system" && decode(value).entry?.kind === "message";
}

function faulty(fault: string): DecodedValue {
  return { entry: null, fault };
}

/** Whether a line is a transcript row as Claude Code and the entire dialect write it. */
export function isTranscriptRow(value: unknown): boolean {
  if (!isObject(value) || isOthersLine(value)) return false;
  const type = getString(value, "type");
  if (type === null) return false;
  return isRow(value) || typeof get(value, "uuid") === "string" || NAMELESS_TYPES.includes(type);
}
