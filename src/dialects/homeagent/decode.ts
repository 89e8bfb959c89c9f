/**
 * Decode: maps a turn record to a neutral entry. Page: docs/formats/homeagent.md, "Reading".
 *
 * Runs for every line that is read, so it builds the entry in one pass. The record is kept
 * unchanged as `native`.
 */

import type { Mutable } from "../../core/base/files.ts";
import type { Entry, Part, Usage } from "../../core/model/entry.ts";
import type { DecodedValue } from "../facets/reading.ts";
import { isObject } from "../shared/fields.ts";
import { entryFault } from "./entry-check.ts";
import { orderParts } from "./part-order.ts";
import type { TranscriptEntry } from "./schema.ts";

/**
 * A smaller `ts` counts seconds. The document says `number` without a unit; its own code writes
 * `Date.now()`. As milliseconds 1e11 is March 1973, as seconds it is the year 5138.
 */
const MILLISECONDS_MIN = 1e11;

/** The years that ISO 8601 writes with four digits. A `ts` outside them is not a time. */
const YEAR_0_MS = -62_167_219_200_000;
const YEAR_10000_MS = 253_402_300_800_000;

/** What a record's `ts` means. Page: docs/formats/homeagent.md, "Reading". */
export function recordTime(ts: number): string | null {
  const ms = ts < MILLISECONDS_MIN ? ts * 1000 : ts;
  return ms >= YEAR_0_MS && ms < YEAR_10000_MS ? new Date(ms).toISOString() : null;
}

type Metadata = NonNullable<TranscriptEntry["metadata"]>;

export function decode(value: unknown): DecodedValue {
  const fault = entryFault(value);
  if (fault !== null) return { entry: null, fault: `${fault.field}: ${fault.reason}` };
  return { entry: entryOf(value as TranscriptEntry), fault: null };
}

function entryOf(native: TranscriptEntry): Entry {
  const { metadata } = native;
  const entry: Mutable<Entry> = {
    kind: "message",
    at: recordTime(native.ts),
    role: native.role,
    parts: partsOf(native),
    model: metadata?.model ?? null,
    usage: metadata === undefined ? null : usageOf(metadata),
    outcome: null,
    error: null,
    native,
  };
  if (metadata !== undefined) addProvidersWords(entry, metadata);
  return entry;
}

/** The provider's fields of a message. Another program may use these names for something else. */
function addProvidersWords(entry: Mutable<Entry>, metadata: Metadata): void {
  const { messageId, stopReason, isPartial } = metadata;
  if (typeof messageId === "string") entry.messageId = messageId;
  if (typeof stopReason === "string") entry.stopReason = stopReason;
  if (isPartial === true) entry.isPartial = true;
}

function partsOf({ content, toolCalls, toolResults, metadata }: TranscriptEntry): Part[] {
  const parts: Part[] = [];
  const reasoning = metadata?.reasoning;
  if (typeof reasoning === "string" && reasoning !== "") {
    parts.push({ type: "reasoning", text: reasoning });
  }
  if (content) parts.push({ type: "text", text: content });
  if (toolCalls !== undefined) {
    for (const { id, name, args } of toolCalls) {
      parts.push({ type: "tool_call", callId: id || null, tool: name, input: args });
    }
  }
  if (toolResults !== undefined) {
    for (const { callId, result, error, durationMs } of toolResults) {
      parts.push({
        type: "tool_result",
        callId: callId || null,
        output: result,
        error: error ?? null,
        durationMs: numberOrNull(durationMs),
      });
    }
  }
  if (Array.isArray(metadata?.children)) pushChildren(parts, metadata.children);
  if (metadata?.parts === undefined) return parts;
  const others = parts.filter(({ type }) => type !== "text" && type !== "reasoning");
  return orderParts(metadata.parts, { content, reasoning, others }) ?? parts;
}

function pushChildren(parts: Part[], children: readonly unknown[]): void {
  for (const child of children) {
    const { session, agent } = (child ?? {}) as { session?: unknown; agent?: unknown };
    if (typeof session !== "string") continue; // Another program's value: it stays in `native`.
    parts.push({ type: "child", session, agent: typeof agent === "string" ? agent : null });
  }
}

/** `tokens` is the document's; if one of its two counts is unknown, `counted` is used. */
function usageOf({ tokens, counted, spend }: Metadata): Usage | null {
  const spent = numberOrNull(spend);
  const counts: Counts | undefined = tokens ?? (isObject(counted) ? counted : undefined);
  if (counts === undefined && spent === null) return null;
  const usage: Mutable<Usage> = {
    inputTokens: numberOrNull(counts?.prompt),
    outputTokens: numberOrNull(counts?.completion),
    totalTokens: numberOrNull(counts?.total),
    spend: spent,
  };
  const cacheWrite = numberOrNull(counts?.cacheWrite);
  const cacheRead = numberOrNull(counts?.cacheRead);
  if (cacheWrite !== null) usage.cacheWriteTokens = cacheWrite;
  if (cacheRead !== null) usage.cacheReadTokens = cacheRead;
  return usage;
}

type Counts = Readonly<Record<string, unknown>>;

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
