/**
 * Decode: maps a line to a neutral entry. Page: docs/formats/sdk.md, "Reading".
 *
 * Frameworks add types: an unknown item or part becomes an `other` part, a line of an unknown kind
 * an `other` entry. The line is kept unchanged as `native`.
 */

import type { Mutable } from "../../core/base/files.ts";
import type { Native } from "../../core/model/entry.ts";
import {
  type Entry,
  emptyEntry,
  type Part,
  type Role,
  type Usage,
} from "../../core/model/entry.ts";
import { mediaPartIn } from "../../core/model/media.ts";
import { wireMarkIn } from "../../core/model/wire-mark.ts";
import type { DecodedValue } from "../facets/reading.ts";
import { blockPart } from "../shared/entry-parts.ts";
import {
  get,
  getNumber,
  getObject,
  getString,
  isObject,
  type JsonObject,
} from "../shared/fields.ts";
import { besideLog } from "../shared/spill.ts";
import { decodeItem } from "./item.ts";
import { decodeLangChain } from "./langchain-message.ts";
import { LINE_TYPES, lineFault } from "./line.ts";
import { decodeMessage } from "./ui-message.ts";

export function decode(value: unknown): DecodedValue {
  if (!isObject(value)) return { entry: null, fault: "expected object" };
  const { type } = value;
  if (typeof type !== "string" || !getString(value, "id") || !getString(value, "at")) {
    return { entry: null, fault: "expected type, id and at" };
  }
  const fault = LINE_TYPES.includes(type) ? lineFault(value) : null;
  if (fault) return { entry: null, fault: `${fault.field}: ${fault.reason}` };
  return { entry: entryOf(type, value), fault: null };
}

function entryOf(type: string, native: Native): Entry {
  const entry: Mutable<Entry> = { ...emptyEntry(native), at: timeOf(native.at) };
  if (type === "item") return Object.assign(entry, decodeItem(getObject(native, "item")));
  if (type === "entry") return Object.assign(entry, neutralOf(getObject(native, "entry")));
  if (type === "value") return Object.assign(entry, decodeLangChain(native.value));
  if (type !== "message") return entry;
  Object.assign(entry, decodeMessage(getObject(native, "message")));
  const state = getString(native, "state");
  if (state !== null && state !== "finished") {
    entry.isPartial = true;
    entry.stopReason = state;
  }
  return entry;
}

function timeOf(at: unknown): string | null {
  const ms = Date.parse(String(at));
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

const KINDS: readonly unknown[] = ["start", "message", "turn_start", "turn_end", "end", "other"];
const ROLES: readonly unknown[] = ["system", "user", "assistant", "tool"];
const SEALS = ["signature", "withheld", "provider"];
const PART_TYPES = ["text", "reasoning", "tool_call", "tool_result", "child"];

function numbersIn(usage: JsonObject): Partial<Usage> {
  const isNumber = ([key]: [string, unknown]) => getNumber(usage, key) !== null;
  return Object.fromEntries(Object.entries(usage).filter(isNumber));
}

/** An entry as `express` wrote it; invalid fields are left out. */
export function neutralOf(said: Native): Partial<Entry> {
  const entry: Mutable<Partial<Entry>> = {};
  const { kind, role, parts, model, usage, outcome, error } = said;
  if (KINDS.includes(kind)) entry.kind = kind as Entry["kind"];
  if (ROLES.includes(role)) entry.role = role as Role;
  if (Array.isArray(parts)) entry.parts = parts.map(partOf);
  if (typeof model === "string") entry.model = model;
  if (isObject(usage)) entry.usage = { ...NO_USAGE, ...numbersIn(usage) };
  if (outcome === "completed" || outcome === "error") entry.outcome = outcome;
  if (isObject(error)) {
    const [code, detail] = [getString(error, "code") ?? "", getString(error, "detail") ?? ""];
    entry.error = { code, detail };
  }
  const messageId = getString(said, "messageId");
  const stopReason = getString(said, "stopReason");
  if (messageId !== null) entry.messageId = messageId;
  if (stopReason !== null) entry.stopReason = stopReason;
  if (said.isPartial === true) entry.isPartial = true;
  if (isObject(said.metadata)) entry.metadata = said.metadata;
  if (wireMarkIn(said.metadata)?.summary === true) entry.saidBy = "summary";
  return entry;
}

const NO_USAGE = { inputTokens: null, outputTokens: null, totalTokens: null, spend: null };

function partOf(said: unknown): Part {
  const part = isObject(said) ? said : {};
  const type = getString(part, "type");
  const isText = type !== "text" && type !== "reasoning" ? true : typeof part.text === "string";
  const isKnown = type !== null && PART_TYPES.includes(type) && isText;
  if (type === "other") return blockPart(get(part, "native", null));
  if (!isKnown) return besideLog(mediaPartIn(said) ?? { type: "other", native: said });
  const orNull = (key: string) => get(part, key, null);
  if (type === "tool_call") {
    const tool = getString(part, "tool") ?? "";
    return { type, callId: getString(part, "callId"), tool, input: orNull("input") };
  }
  if (type === "tool_result") {
    const durationMs = typeof part.durationMs === "number" ? part.durationMs : null;
    const error = getString(part, "error");
    return { type, callId: getString(part, "callId"), output: orNull("output"), error, durationMs };
  }
  if (type === "child") {
    return { type, session: getString(part, "session") ?? "", agent: getString(part, "agent") };
  }
  const seals = SEALS.filter((key) => getString(part, key) !== null);
  const sealed = Object.fromEntries(seals.map((key) => [key, part[key]]));
  return { type, text: part.text, ...(type === "reasoning" && sealed) } as Part;
}
