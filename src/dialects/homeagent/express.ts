/**
 * Express: maps a neutral entry to a turn record. Page: docs/formats/homeagent.md, "Neutral
 * entries".
 *
 * A turn record is a message. Message content without a field in the document goes under keys that
 * its schema allows, and `decode.ts` reads them back. The other kinds (start, end, turns) have no
 * record here and are not written.
 */

import type { Native, NewEntry, Part, Usage } from "../../core/model/entry.ts";
import { invalidEntry } from "../../core/model/plain-json.ts";
import type { WriterFacts } from "../facets/writing.ts";
import { recordTime } from "./decode.ts";
import { entryFault } from "./entry-check.ts";
import { hasBareInput, orderOf } from "./part-order.ts";

const TYPE_KEYS = ["type", "event_type"] as const;
const CHECKPOINT_TYPE = "checkpoint";

/**
 * Validates what a caller wants to write. As in the document, the writer adds nothing.
 *
 * - The JSON that is checked is the JSON that is written. An object can return different values
 *   each time (getters, `toJSON`, inherited fields), so it is serialised once; that JSON is checked
 *   and returned.
 * - The returned JSON is the caller's, byte for byte, or the entry is refused.
 * - Entries with `checkpoint` in `type` or `event_type`, or with both fields, are reserved for the
 *   signer: in an unsigned tail they would look like a forgery. They are refused in every store.
 */
export function complete(given: Native): Native {
  const json = jsonOf(given);
  const native: unknown = JSON.parse(json);
  const fault = entryFault(native);
  if (fault !== null) throw invalidEntry(fault.field, fault.reason);
  refuseCheckpoint(native as Native); // Has no fault, so it is an object.
  // Node 22's JSON.rawJSON can produce digits that no number serialises to.
  if (JSON.stringify(native) !== json)
    throw invalidEntry("entry", "its JSON does not read back alike");
  return native as Native;
}

/** Refuses entries that are reserved for the signer. */
function refuseCheckpoint(native: Native): void {
  for (const field of TYPE_KEYS) {
    if (native[field] !== CHECKPOINT_TYPE) continue;
    throw invalidEntry(field, "reserved for signed checkpoints");
  }
  if (!TYPE_KEYS.every((field) => Object.hasOwn(native, field))) return;
  throw invalidEntry("event_type", "only signed checkpoints carry both type and event_type");
}

function jsonOf(given: Native): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(given);
  } catch (cause) {
    throw invalidEntry(
      fieldWithoutJson(given),
      "it has no JSON (a BigInt, a cycle, too deep)",
      cause,
    );
  }
  if (json === undefined) throw invalidEntry("entry", "expected object");
  return json;
}

/** The top-level field that cannot be serialised; "entry" if it is not a single field. */
function fieldWithoutJson(given: Native): string {
  try {
    for (const key of Object.keys(given)) {
      try {
        JSON.stringify(given[key]);
      } catch {
        return key; // The failure is already being reported.
      }
    }
  } catch {
    // A proxy whose keys cannot be listed: there is no field to name.
  }
  return "entry";
}

export function express(entry: NewEntry, facts: WriterFacts): readonly Native[] {
  if (entry.kind !== "message") return [];
  const role = entry.role ?? null;
  if (role === null) throw invalidEntry("role", "a message needs one");
  for (const field of ["outcome", "error"] as const) {
    if (entry[field]) throw invalidEntry(field, "not said by a message");
  }

  const parts = entry.parts ?? [];
  const content = textOf(parts, "text");
  const toolCalls = parts.filter((part) => part.type === "tool_call").map(toolCallOf);
  const toolResults = parts.filter((part) => part.type === "tool_result").map(toolResultOf);
  const ts = timestampOf(entry.at ?? null, facts.nowMs);
  const metadata = { ...metadataOf(entry, parts), ...timeBeyond(entry.at ?? null, ts) };
  return [
    {
      turnId: facts.newId(),
      role,
      ...(content === null ? {} : { content }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(toolResults.length === 0 ? {} : { toolResults }),
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      ts,
    },
  ];
}

/** All parts of one type as one text, joined by blank lines; null if there are none. */
function textOf(parts: readonly Part[], type: "text" | "reasoning"): string | null {
  const texts: string[] = [];
  for (const part of parts) if (part.type === type) texts.push(part.text);
  return texts.length === 0 ? null : texts.join("\n\n");
}

function toolCallOf(part: Extract<Part, { type: "tool_call" }>): Native {
  const { callId, tool, input } = part;
  // The document's `args` is an object: any other input is wrapped in one.
  return { id: callId ?? "", name: tool, args: hasBareInput(part) ? { input } : input };
}

function toolResultOf(part: Extract<Part, { type: "tool_result" }>): Native {
  const { callId, output, error, durationMs } = part;
  return {
    callId: callId ?? "",
    result: output,
    ...(error === null ? {} : { error }),
    ...(durationMs === null ? {} : { durationMs }),
  };
}

function metadataOf(entry: NewEntry, parts: readonly Part[]): Native {
  const { messageId, stopReason, isPartial } = entry;
  const reasoning = textOf(parts, "reasoning");
  const children = parts
    .filter((part) => part.type === "child")
    .map(({ session, agent }) => ({ session, agent }));
  const order = orderOf(parts);
  return {
    ...(typeof entry.model === "string" ? { model: entry.model } : {}),
    ...usageOf(entry.usage ?? null),
    ...(messageId === undefined ? {} : { messageId }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(isPartial ? { isPartial } : {}),
    ...(reasoning === null ? {} : { reasoning }),
    ...(children.length === 0 ? {} : { children }),
    ...(order === null ? {} : { parts: order }),
  };
}

/**
 * The document's `tokens` has both counts or is absent: an unknown count is not written as 0. Known
 * counts then go under `counted`, a key of ours.
 */
function usageOf(usage: Usage | null): Native {
  if (usage === null) return {};
  const { inputTokens, outputTokens, totalTokens, spend, cacheWriteTokens, cacheReadTokens } =
    usage;
  const more = {
    ...(cacheWriteTokens === undefined ? {} : { cacheWrite: cacheWriteTokens }),
    ...(cacheReadTokens === undefined ? {} : { cacheRead: cacheReadTokens }),
    ...(totalTokens === null ? {} : { total: totalTokens }),
  };
  const counted = {
    ...(inputTokens === null ? {} : { prompt: inputTokens }),
    ...(outputTokens === null ? {} : { completion: outputTokens }),
    ...more,
  };
  const isWhole = inputTokens !== null && outputTokens !== null;
  return {
    ...(Object.keys(counted).length === 0 ? {} : { [isWhole ? "tokens" : "counted"]: counted }),
    ...(spend === null ? {} : { spend }),
  };
}

/** A time that `ts` cannot hold: finer than a millisecond, or before 1973 (`recordTime`). */
function timeBeyond(at: string | null, ts: number): Native {
  const isFiner = at !== null && /[.,]\d{4}/.test(at);
  const isRead = new Date(recordTime(ts) ?? "").getTime() === ts;
  return at === null || (isRead && !isFiner) ? {} : { at };
}

function timestampOf(at: string | null, nowMs: number): number {
  if (at === null) return nowMs;
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) throw invalidEntry("at", "it is no time");
  return ms;
}
