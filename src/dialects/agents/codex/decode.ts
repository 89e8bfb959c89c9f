/**
 * Decode: maps a row of a rollout to an entry.
 *
 *     {"timestamp","type","payload"}      since September 2025
 *     an item by itself                   before
 *
 * Codex stores what was said twice: as an item and as an event. Items count; memory.ts lets an
 * event count that has no item. Every object is a row; one that is not understood is `other`.
 */

import type { Mutable } from "../../../core/base/files.ts";
import { idSegments } from "../../../core/base/ids.ts";
import type { Native } from "../../../core/model/entry.ts";
import { type Entry, emptyEntry, type Part, type Usage } from "../../../core/model/entry.ts";
import { timestampOf } from "../../entire/decode.ts";
import type { Reading, SessionDetails } from "../../facets/reading.ts";
import type { Compaction, TakingBack } from "../../facets/turns.ts";
import { rowDecoder, textParts } from "../../shared/entry-parts.ts";
import {
  get,
  getCount,
  getNumber,
  getObject,
  getObjects,
  getString,
  has,
  isObject,
} from "../../shared/fields.ts";
import { idIfValid, lastSegment, type PathIds, refusedId } from "../../shared/path-ids.ts";
import { readItem, textsOf } from "./item.ts";

/**
 * Session ids: the path of a rollout below Codex's directory, without its ending.
 *
 *     sessions/<year>/<month>/<day>/rollout-<time>-<uuid>.jsonl
 *     sessions/<year>/<month>/<day>/rollout-<time>-<uuid>_<uuid>.jsonl    after turns were reverted
 *     archived_sessions/rollout-<time>-<uuid>.jsonl
 *
 * Codex compresses old rollouts to `….jsonl.zst`: the same session, presented at its plain path.
 */

export const ENDING = ".jsonl";
export const COMPRESSED_ENDING = `${ENDING}.zst`;

const NAME = /^rollout-.+?\.jsonl(?:\.zst)?$/;
const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const THREAD = new RegExp(`(${UUID})(?:_${UUID})?$`, "i");

function isRollout(name: string): boolean {
  return NAME.test(name);
}

/** In a directory that holds rollouts: one for each day, and one for archived ones. */
function isInPlace(path: readonly string[]): boolean {
  const depth = path[0] === "sessions" ? 5 : 2;
  return path.length === depth && (depth === 5 || path[0] === "archived_sessions");
}

export function idAt(path: readonly string[]): string | null {
  if (!isInPlace(path) || !isRollout(path.at(-1) ?? "")) return null;
  return idIfValid(stemOf(path.join("/")));
}

export function logPath(id: string): readonly string[] {
  const segments = idSegments(id);
  const path = [...segments.slice(0, -1), `${segments.at(-1)}${ENDING}`];
  if (idAt(path) === id) return path;
  throw refusedId(id, "it names no rollout below sessions or archived_sessions");
}

/** The id that Codex itself uses: the uuid at the end of the file's name; of a later file, both. */
export function nameOf(id: string): string {
  const name = stemOf(lastSegment(id));
  return THREAD.exec(name)?.[0] ?? name;
}

/** The uuid of a session's thread; null if the file's name has none. */
export function threadOf(id: string): string | null {
  return THREAD.exec(id)?.[1] ?? null;
}

function stemOf(name: string): string {
  return name.replace(/\.jsonl(?:\.zst)?$/, "");
}

const archived: PathIds["layout"] = {
  under: ["archived_sessions"],
  levels: [],
  isLog: isRollout,
  idAt,
};

/** Lists both files of a session that is being compressed; `files.ts` keeps one. */
export const layout: PathIds["layout"] = {
  under: ["sessions"],
  levels: [null, null, null],
  isLog: isRollout,
  idAt,
  others: [archived],
};

/** Rows that only Codex writes. */
const TYPES =
  /^(session_meta|turn_context|response_item|event_msg|compacted|world_state|token_usage_record)$/;

/** Events that repeat an item, and whose words they are. */
const SPEAKERS: ReadonlyMap<unknown, "user" | "assistant"> = new Map([
  ["user_message", "user"],
  ["agent_message", "assistant"],
]);

export const decode = rowDecoder((row) => {
  const entry = entryWith(readRow, row);
  entry.at = timestampOf(get(row, "timestamp"));
  return entry;
});

function entryWith(read: typeof readRow, row: Native): Mutable<Entry> {
  const entry: Mutable<Entry> = emptyEntry(row);
  read(entry, row);
  return entry;
}

/** Whether Codex certainly wrote a line. */
export function isOwn(value: unknown): boolean {
  if (!isObject(value)) return false;
  const isRow = TYPES.test(getString(value, "type") ?? "") && isObject(get(value, "payload"));
  return isRow || getString(value, "record_type") === "state";
}

/** Fills in the fields one by one, without copies: this runs for every row of a listing. */
function readRow(entry: Mutable<Entry>, row: Native): void {
  const payload = get(row, "payload");
  if (!isObject(payload)) {
    readBareRow(entry, row);
    return;
  }
  switch (get(row, "type")) {
    case "session_meta":
      entry.kind = "start";
      break;
    case "turn_context":
      entry.kind = "turn_start";
      entry.model = getString(payload, "model");
      break;
    case "response_item":
      readItem(entry, payload);
      break;
    case "event_msg":
      readEvent(entry, payload);
      break;
    case "compacted":
      entry.kind = "message";
      entry.role = "user";
      entry.saidBy = "summary";
      entry.parts = summaryOf(payload);
  }
}

/** Before September 2025: the first row is about the session, the others are items. */
function readBareRow(entry: Mutable<Entry>, row: Native): void {
  if (has(row, "record_type")) return;
  if (isMeta(row)) entry.kind = "start";
  else if (has(row, "type") || has(row, "role")) {
    readItem(entry, row);
    entry.model = getString(row, "model");
  }
}

function isMeta(row: Native): boolean {
  const isNamed = getString(row, "id") !== null && getString(row, "timestamp") !== null;
  return isNamed && !has(row, "type") && !has(row, "role");
}

function readEvent(entry: Mutable<Entry>, event: Native): void {
  const type = getString(event, "type") ?? "";
  const counted = type === "token_count" ? callCountsIn(event) : null;
  if (counted !== null) {
    entry.kind = "turn_end";
    entry.usage = counted.last ?? counted.total;
  } else if (type === "turn_aborted") {
    entry.kind = "turn_end";
    entry.stopReason = getString(event, "reason") ?? "aborted";
  } else if (type === "task_complete" && isObject(get(event, "error"))) {
    entry.kind = "turn_end";
    entry.stopReason = "error";
  } else {
    entry.role = SPEAKERS.get(type) ?? null;
  }
}

/** The text of an event that repeats an item; null for all other rows. */
export function spokenIn(row: Native): string | null {
  if (get(row, "type") !== "event_msg") return null;
  const event = getObject(row, "payload");
  return SPEAKERS.has(get(event, "type")) ? getString(event, "message") : null;
}

const THOUGHTS: readonly unknown[] = ["agent_reasoning", "agent_reasoning_raw_content"];

/** What the model thought, of an event; null for all other rows. */
export function thoughtIn(row: Native): string | null {
  if (get(row, "type") !== "event_msg") return null;
  const event = getObject(row, "payload");
  return THOUGHTS.includes(get(event, "type")) ? getString(event, "text") : null;
}

/** The counts of a row `token_count`: of the last call, and of all calls so far. */
export interface CallCounts {
  readonly last: Usage | null;
  readonly total: Usage | null;
}

export function callCountsIn(event: Native): CallCounts | null {
  const info = get(event, "info");
  if (getString(event, "type") !== "token_count" || !isObject(info)) return null;
  const last = usageOf(get(info, "last_token_usage"));
  const total = usageOf(get(info, "total_token_usage"));
  return last === null && total === null ? null : { last, total };
}

/** Codex counts cached tokens as input, too. */
function usageOf(counts: unknown): Usage | null {
  if (!isObject(counts)) return null;
  const input = getCount(counts, "input_tokens");
  const cacheReadTokens = getCount(counts, "cached_input_tokens") ?? 0;
  const cacheWriteTokens = getCount(counts, "cache_write_input_tokens") ?? 0;
  const inputTokens =
    input === null ? null : Math.max(0, input - cacheReadTokens - cacheWriteTokens);
  const outputTokens = getCount(counts, "output_tokens");
  const totalTokens = getCount(counts, "total_tokens");
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, totalTokens, spend: null };
}

/** What the model continues with: the items that replace all before, else the summary's text. */
function summaryOf(payload: Native): Part[] {
  const items = getObjects(payload, "replacement_history").map((item) => entryWith(readItem, item));
  const said = items.filter(({ kind, role, saidBy }) => {
    return kind === "message" && role !== "system" && saidBy !== "program";
  });
  const parts = said.flatMap((item) => item.parts.filter(({ type }) => type === "text"));
  return parts.length > 0 ? parts : textParts(getString(payload, "message"));
}

/** An event takes back the last turns. Codex counts prompts; their events repeat them. */
const takingBack: TakingBack = {
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
    const { role, saidBy, parts } = entryWith(readRow, row);
    return role !== "user" || saidBy ? null : textsOf(parts).join("");
  },
};

function isItem(row: Native): boolean {
  return get(row, "type") === "response_item" && isObject(get(row, "payload"));
}

/** Codex writes the summary as one row, and nothing from before it counts. */
const compaction: Compaction = {
  isSummary: (row) => get(row, "type") === "compacted" && isObject(get(row, "payload")),
  isBoundary: () => false,
  keptBy: () => new Set(),
};

function about(row: Native, id: string): SessionDetails | null {
  const type = get(row, "type");
  if (type === "response_item") return null;
  const payload = get(row, "payload");
  if (isObject(payload) && get(payload, "type") === "thread_name_updated") {
    return { title: getString(payload, "thread_name") ?? "" };
  }
  const meta = isObject(payload) ? payload : row;
  if (meta === row ? !isMeta(row) : type !== "session_meta") return null;
  // A fork may begin with all rows of its parent, whose own description is among them.
  const own = getString(meta, "id");
  const thread = threadOf(id);
  if (own !== null && thread !== null && own !== thread) return null;
  return {
    cwd: getString(meta, "cwd") ?? "",
    branch: getString(getObject(meta, "git"), "branch") ?? "",
    remote: getString(getObject(meta, "git"), "repository_url") ?? "",
    parent: parentIn(meta) ?? "",
  };
}

/** The uuid of the thread that started this one. A user's fork is a session of its own. */
function parentIn(meta: Native): string | null {
  const spawned = getObject(getObject(getObject(meta, "source"), "subagent"), "thread_spawn");
  return getString(meta, "parent_thread_id") ?? getString(spawned, "parent_thread_id");
}

/** What the dialect asks of a row. */
export const rows = { about, decode, isOwn } satisfies Reading;
export const turns = { compaction, takingBack };
