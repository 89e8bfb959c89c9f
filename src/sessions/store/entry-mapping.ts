/**
 * Entry mapping: converts an entry to another dialect, and reports how much of it survives.
 *
 * Nothing is assumed: the line that would be written is decoded again and compared with the entry.
 * An entry is kept if everything it says reads back the same; fields that only its own dialect
 * knows (`native`) are not carried over. Additions are not a loss: a writer adds ids and times of
 * its own.
 */

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { VerbatimError } from "../../core/base/errors.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { decodeLine, encodeLine } from "../../core/log/json.ts";
import type { Entry, Native, NewEntry } from "../../core/model/entry.ts";
import { type Dialect, writingOf } from "../../dialects/dialect.ts";
import type { WriterFacts, Writing } from "../../dialects/facets/writing.ts";
import { SPILL_TOOLS } from "../../dialects/files/spill-files.ts";

/** Why an entry is not carried over at all. */
export type DroppedWhy =
  /** A checkpoint: the new session gets its own signatures. */
  | "checkpoint"
  /** The other dialect has no line for it, for example for the start of a turn. */
  | "no_line"
  /** The other dialect refuses it. */
  | "refused"
  /** It is not part of the conversation, and the other dialect cannot mark it so. */
  | "aside"
  /** A later line retracted it; the other session would show it as said. */
  | "taken_back"
  | "too_long"
  | "bad_line";

export const COMPARED = [
  "kind",
  "role",
  "saidBy",
  "parts",
  "model",
  "messageId",
  "stopReason",
  "isPartial",
  "usage",
  "outcome",
  "error",
  "metadata",
] as const;

export type MappingResult =
  | { readonly fate: "kept"; readonly keepsTime: boolean }
  /** These fields read back differently, or not at all. */
  | {
      readonly fate: "approximated";
      readonly keepsTime: boolean;
      readonly changed: readonly (typeof COMPARED)[number][];
    }
  | { readonly fate: "dropped"; readonly why: DroppedWhy };

/** The writer's facts in the other store. */
export function mappingFacts(facts: Pick<WriterFacts, "id" | "agent" | "cwd">): WriterFacts {
  return { ...facts, nowMs: Date.now(), newId: randomUUID, version: "unknown", model: null };
}

/** The entry without the fields of its own line, as lines of another dialect can say it. */
export function neutral({ native: _, ...entry }: Entry, { hasMetadata }: Writing): NewEntry {
  const { kind, at, role, parts, model, usage, outcome, error } = entry;
  const { messageId, stopReason, isPartial, metadata } = entry;
  return {
    kind,
    at,
    role,
    parts,
    model,
    usage,
    outcome,
    error,
    ...(messageId === undefined ? {} : { messageId }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(isPartial === undefined ? {} : { isPartial }),
    ...(hasMetadata && metadata ? { metadata } : {}),
  };
}

/** Maps an entry to a dialect. Writes nothing. */
export function mapEntry(entry: Entry, dialect: Dialect, facts: WriterFacts): MappingResult {
  if (isCheckpoint(entry.native)) return { fate: "dropped", why: "checkpoint" };
  let lines: readonly MappedLine[];
  try {
    const writing = writingOf(dialect);
    const natives = writing.express(neutral(entry, writing), facts);
    lines = natives.map((native) => lineOf(writing.complete(native, facts), writing));
  } catch (cause) {
    if (!(cause instanceof VerbatimError) || cause.code !== "INVALID_ENTRY") throw cause;
    return { fate: "dropped", why: "refused" };
  }
  if (lines.length === 0) return { fate: "dropped", why: "no_line" };
  const written = lines.reduce((all, { bytes }) => all + bytes + 1, 0);
  if (written > LOG_LIMITS.batchBytesMax) return { fate: "dropped", why: "too_long" };
  const back = together(lines.map(({ line }) => understood(line, dialect)));
  const changed = COMPARED.filter((field) => !isSame(entry[field], back[field]));
  const keepsTime = entry.at === null || entry.at === back.at;
  if (changed.length === 0) return { fate: "kept", keepsTime };
  return { fate: "approximated", keepsTime, changed };
}

interface MappedLine {
  /** The line as it reads back. */
  readonly line: Uint8Array;
  /** Its length in the log; the longest values may be in spill files. */
  readonly bytes: number;
}

/** Refuses with INVALID_ENTRY a line that is too long and cannot be spilled. */
function lineOf(native: Native, { spilling }: Writing): MappedLine {
  const line = encodeLine(native);
  if (!spilling || line.length <= spilling.lineBytesMax) return { line, bytes: line.length };
  return { line, bytes: encodeLine(spilling.split(native, "", SPILL_TOOLS).native).length };
}

function understood(line: Uint8Array, dialect: Dialect): Entry | null {
  const { value, fault } = decodeLine(Buffer.from(line), 0, line.length);
  return fault === null ? dialect.reading.decode(value).entry : null;
}

/** Merges the decoded lines of one entry. */
function together(lines: readonly (Entry | null)[]): Partial<Entry> {
  const entries = lines.filter((line) => line !== null);
  const last = entries.at(-1);
  if (!last || entries.length < lines.length) return {};
  const isOne = entries.every(({ kind, role }) => kind === last.kind && role === last.role);
  const parts = entries.flatMap((entry) => entry.parts);
  return isOne ? { ...last, parts } : { ...last, parts, role: null };
}

/** Fields that the entry did not have are not compared. */
function isSame(value: unknown, back: unknown): boolean {
  if (value === null || value === undefined) return true;
  return isDeepStrictEqual(withoutUndefined(value), withoutUndefined(back));
}

function withoutUndefined(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

export function isCheckpoint({ type, event_type }: Native): boolean {
  return type === "checkpoint" || event_type === "checkpoint";
}
