/**
 * Complete: validates an adapter's line, and adds an id and the time if they are missing.
 *
 * - An object is serialised once: the JSON that is checked is the JSON that is written.
 * - The framework's value is written unchanged, or refused: bytes, a NaN or a Map would change in
 *   JSON. Only undefined fields are left out, as always in JSON.
 * - Checkpoints are reserved for the signer: no line may have their fields.
 */

import { ENTRY_DEPTH_MAX } from "../../core/base/limits.ts";
import type { Native, NewEntry } from "../../core/model/entry.ts";
import { invalidEntry } from "../../core/model/plain-json.ts";
import type { WriterFacts } from "../facets/writing.ts";
import { isObject } from "../shared/fields.ts";
import { lineFault } from "./line.ts";

/** A neutral entry may nest as deep as in any dialect; the line around it adds two levels. */
const DEPTH_MAX = ENTRY_DEPTH_MAX + 2;

export function complete(given: Native, facts: WriterFacts): Native {
  const json = jsonOf(given);
  const { type, id, at, ...rest } = json;
  const native: Native = {
    type,
    id: id ?? facts.newId(),
    at: at ?? new Date(facts.nowMs).toISOString(),
    ...rest,
  };
  const fault = lineFault(native);
  if (fault) throw invalidEntry(fault.field, fault.reason);
  if (Object.hasOwn(native, "event_type")) {
    throw invalidEntry("event_type", "only signed checkpoints carry both type and event_type");
  }
  return native;
}

function jsonOf(given: Native): Record<string, unknown> {
  if (!isObject(given)) throw invalidEntry("entry", "expected object");
  for (const [field, value] of Object.entries(given)) refuseOthers(value, field, DEPTH_MAX);
  return JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
}

/** Refuses values that JSON would change. */
function refuseOthers(value: unknown, field: string, depthLeft: number): void {
  if (value === null || value === undefined) return;
  const type = typeof value;
  if (type === "string" || type === "boolean") return;
  if (type === "number" && Number.isFinite(value)) return;
  if (type !== "object") throw invalidEntry(field, `it holds a ${type} that JSON cannot say`);
  if (depthLeft === 0) throw invalidEntry(field, "it is too deep, or holds itself");
  if (Array.isArray(value)) {
    for (const item of value) refuseOthers(item ?? null, field, depthLeft - 1);
    return;
  }
  if (value instanceof Date) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw invalidEntry(field, "it holds an object that JSON cannot say");
  }
  for (const item of Object.values(value as object)) refuseOthers(item, field, depthLeft - 1);
}

/**
 * Maps a neutral entry to a line of kind `entry`, which holds it whole. Such lines come
 * from people and other dialects (a fork's report, an unpacked session), never from a framework;
 * the adapters skip them. Page: docs/formats/sdk.md, "Neutral entries".
 */
export function express({ at, ...entry }: NewEntry): readonly Native[] {
  return [{ type: "entry", ...(at ? { at } : {}), entry }];
}
