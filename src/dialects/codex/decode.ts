/**
 * Decode: maps a row of a rollout to an entry.
 *
 *     {"timestamp","type","payload"}      since September 2025
 *     an item by itself                   before
 *
 * Codex stores what was said twice: as an item and as an event. Items count; memory.ts lets an
 * event count that has no item. Every object is a row; one that is not understood is `other`.
 */

import type { Mutable } from "../../base/files.ts";
import { type Entry, emptyEntry, type Part, type Usage } from "../../model/entry.ts";
import type { About } from "../agent-program.ts";
import type { Compaction, Native, TakingBack, Understood } from "../dialect.ts";
import { timeOf } from "../entire/decode.ts";
import { get, getNumber, getObject, getString, has, isObject, type JsonObject } from "../fields.ts";
import { decodeItem } from "./item.ts";
import { threadOf } from "./session-id.ts";

type Decoded = Mutable<Partial<Entry>>;

/** Rows that only Codex writes. */
const TYPES =
  /^(session_meta|turn_context|response_item|event_msg|compacted|world_state|token_usage_record)$/;

/** Events that repeat an item, and whose words they are. */
const SPEAKERS: Readonly<Record<string, "user" | "assistant">> = {
  user_message: "user",
  agent_message: "assistant",
};

export function decode(value: unknown): Understood {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const entry = { ...emptyEntry(value), at: timeOf(get(value, "timestamp")) };
  return { entry: { ...entry, ...rowOf(value) }, fault: null };
}

/** Whether Codex certainly wrote a line. */
export function isOwn(value: unknown): boolean {
  if (!isObject(value)) return false;
  const isRow = TYPES.test(getString(value, "type") ?? "") && isObject(get(value, "payload"));
  return isRow || getString(value, "record_type") === "state";
}

function rowOf(row: JsonObject): Decoded {
  if (!isObject(get(row, "payload"))) return bareRow(row);
  const payload = getObject(row, "payload");
  switch (get(row, "type")) {
    case "session_meta":
      return { kind: "start" };
    case "turn_context":
      return { kind: "turn_start", model: getString(payload, "model") };
    case "response_item":
      return decodeItem(payload);
    case "event_msg":
      return eventOf(payload);
    case "compacted":
      return { kind: "message", role: "user", saidBy: "summary", parts: summaryOf(payload) };
    default:
      return {};
  }
}

/** Before September 2025: the first row is about the session, the others are items. */
function bareRow(row: JsonObject): Decoded {
  if (has(row, "record_type")) return {};
  if (isMeta(row)) return { kind: "start" };
  if (!has(row, "type") && !has(row, "role")) return {};
  const model = getString(row, "model");
  return { ...decodeItem(row), ...(model === null ? {} : { model }) };
}

function isMeta(row: JsonObject): boolean {
  const isNamed = getString(row, "id") !== null && getString(row, "timestamp") !== null;
  return isNamed && !has(row, "type") && !has(row, "role");
}

function eventOf(event: JsonObject): Decoded {
  const type = getString(event, "type") ?? "";
  if (type === "token_count") {
    const usage = countedIn(event);
    return usage === null ? {} : { kind: "turn_end", usage: usage.last ?? usage.total };
  }
  if (type === "turn_aborted") {
    return { kind: "turn_end", stopReason: getString(event, "reason") ?? "aborted" };
  }
  const role = Object.hasOwn(SPEAKERS, type) ? SPEAKERS[type] : undefined;
  return role === undefined ? {} : { role };
}

/** The text of an event that repeats an item; null for all other rows. */
export function spokenIn(row: Native): string | null {
  if (get(row, "type") !== "event_msg") return null;
  const event = getObject(row, "payload");
  return Object.hasOwn(SPEAKERS, getString(event, "type") ?? "")
    ? getString(event, "message")
    : null;
}

/** The counts of a row `token_count`: of the last call, and of all calls so far. */
export interface Counted {
  readonly last: Usage | null;
  readonly total: Usage | null;
}

export function countedIn(event: JsonObject): Counted | null {
  const info = get(event, "info");
  if (getString(event, "type") !== "token_count" || !isObject(info)) return null;
  const last = usageOf(get(info, "last_token_usage"));
  const total = usageOf(get(info, "total_token_usage"));
  return last === null && total === null ? null : { last, total };
}

/** Codex counts cached tokens as input, too. */
function usageOf(counts: unknown): Usage | null {
  if (!isObject(counts)) return null;
  const input = getNumber(counts, "input_tokens");
  const cacheReadTokens = getNumber(counts, "cached_input_tokens") ?? 0;
  const cacheWriteTokens = getNumber(counts, "cache_write_input_tokens") ?? 0;
  const inputTokens =
    input === null ? null : Math.max(0, input - cacheReadTokens - cacheWriteTokens);
  const outputTokens = getNumber(counts, "output_tokens");
  const totalTokens = getNumber(counts, "total_tokens");
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, totalTokens, spend: null };
}

/** What the model continues with: the items that replace all before, else the summary's text. */
function summaryOf(payload: JsonObject): Part[] {
  const history = get(payload, "replacement_history");
  const items = Array.isArray(history) ? history.filter(isObject).map(decodeItem) : [];
  const said = items.filter(({ kind, role, saidBy }) => {
    return kind === "message" && role !== "system" && saidBy !== "program";
  });
  const parts = said.flatMap((item) => (item.parts ?? []).filter(({ type }) => type === "text"));
  const message = getString(payload, "message") ?? "";
  if (parts.length > 0 || message === "") return parts;
  return [{ type: "text", text: message }];
}

/** An event takes back the last turns. Codex counts prompts; their events repeat them. */
export const takingBack: TakingBack = {
  says: (row) => isItem(row) || spokenIn(row) !== null,
  takesBack(row) {
    const event = get(row, "type") === "event_msg" ? getObject(row, "payload") : {};
    const count = getNumber(event, "num_turns");
    return get(event, "type") === "thread_rolled_back" && Number.isInteger(count) ? count : null;
  },
  turnOf(row) {
    const spoken = spokenIn(row);
    if (spoken !== null)
      return get(getObject(row, "payload"), "type") === "user_message" ? spoken : null;
    const { role, saidBy, parts = [] } = rowOf(row);
    if (role !== "user" || saidBy) return null;
    return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  },
};

function isItem(row: Native): boolean {
  return get(row, "type") === "response_item" && isObject(get(row, "payload"));
}

/** Codex writes the summary as one row, and nothing from before it counts. */
export const compaction: Compaction = {
  isSummary: (row) => get(row, "type") === "compacted" && isObject(get(row, "payload")),
  isBoundary: () => false,
  keptBy: () => new Set(),
};

export function about(row: Native, id: string): About | null {
  const payload = getObject(row, "payload");
  if (getString(payload, "type") === "thread_name_updated") {
    return { title: getString(payload, "thread_name") ?? "" };
  }
  const isBare = !isObject(get(row, "payload")) && isMeta(row);
  if (!isBare && get(row, "type") !== "session_meta") return null;
  const meta = isBare ? row : payload;
  // A fork may begin with all rows of its parent, whose own description is among them.
  const own = getString(meta, "id");
  const thread = threadOf(id);
  if (own !== null && thread !== null && own !== thread) return null;
  return {
    cwd: getString(meta, "cwd") ?? "",
    branch: getString(getObject(meta, "git"), "branch") ?? "",
    parent: parentIn(meta) ?? "",
  };
}

/** The uuid of the thread that started this one, else of the one that it is a fork of. */
function parentIn(meta: JsonObject): string | null {
  const spawned = getObject(getObject(getObject(meta, "source"), "subagent"), "thread_spawn");
  const started = getString(meta, "parent_thread_id") ?? getString(spawned, "parent_thread_id");
  return started ?? getString(meta, "forked_from_id");
}
