/**
 * Envelope: the fields around every line's data, in one of two forms.
 *
 *     flat     {"ts","type","thread_id","directive",...data}
 *     payload  {"timestamp","thread_id","event_type","payload":{"directive",...data}}
 *
 * Reads and writes both, without interpreting the data. Format: docs/formats/rye.md.
 *
 * - The writer's time, type and thread id replace those in the data.
 * - No line we complete has both `type` and `event_type`: that marks a checkpoint, and on any other
 *   line tampering.
 * - `checkpoint` lines are reserved for the signer, and refused from callers.
 * - A completed line is plain JSON in memory too: it reads back unchanged (shared/fields.ts).
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { refuseEntry } from "../../core/model/plain-json.ts";
import {
  get,
  getString,
  has,
  isObject,
  type JsonObject,
  toJsonValue,
  withRest,
} from "../shared/fields.ts";
import { isTruthy } from "./python.ts";
import { isoFormat, isoFromSeconds } from "./time.ts";
import { CHECKPOINT_TYPE, type EventType, meaningOf } from "./vocabulary.ts";

export type Envelope = "flat" | "payload";

/** A parsed line, in the same form for both envelopes. */
export interface RyeEvent {
  readonly envelope: Envelope;
  /** As in the line. */
  readonly type: string;
  /** Which of the twelve events it is; null if it is stored without a meaning. */
  readonly meaning: EventType | null;
  readonly threadId: string | null;
  readonly directive: string | null;
  /** The time as in the line, seconds since 1970 as ISO; null if it is neither. */
  readonly ts: string | null;
  /** What a caller would pass to the writer, with `directive` if the line has one. */
  readonly data: JsonObject;
  /** The line as parsed. */
  readonly native: JsonObject;
}

export type EnvelopeFault =
  | "not an object"
  | "missing ts/type"
  | "missing timestamp"
  | "type is not a string"
  | "payload is not an object"
  | "both type and event_type";

export type ReadEnvelope =
  | { readonly event: RyeEvent; readonly fault: null }
  | { readonly event: null; readonly fault: EnvelopeFault };

const FLAT_KEYS = ["ts", "type", "thread_id"];
/** The writer's first keys in a flat line. */
const WRITTEN_KEYS = [...FLAT_KEYS, "directive"];
const PAYLOAD_KEYS = ["timestamp", "thread_id", "event_type", "payload"];

/** Reads a line of either envelope; returns a fault if it is not an event. Never throws. */
export function readEnvelope(value: unknown): ReadEnvelope {
  if (!isObject(value)) return faulty("not an object");
  const isPayload = has(value, "event_type");
  if (isPayload && has(value, "type")) {
    const isCheckpoint =
      get(value, "type") === CHECKPOINT_TYPE && get(value, "event_type") === CHECKPOINT_TYPE;
    if (!isCheckpoint) return faulty("both type and event_type");
    if (!has(value, "ts")) return faulty("missing ts/type");
    return readEvent("flat", value, get(value, "ts"), CHECKPOINT_TYPE, get(value, "payload"));
  }
  if (isPayload) {
    if (!has(value, "timestamp")) return faulty("missing timestamp");
    const payload = get(value, "payload", {});
    return readEvent("payload", value, get(value, "timestamp"), get(value, "event_type"), payload);
  }
  if (!has(value, "ts") || !has(value, "type")) return faulty("missing ts/type");
  const data = withRest({}, value, FLAT_KEYS);
  return readEvent("flat", value, get(value, "ts"), get(value, "type"), data);
}

function readEvent(
  envelope: Envelope,
  native: JsonObject,
  time: unknown,
  type: unknown,
  data: unknown,
): ReadEnvelope {
  if (typeof type !== "string") return faulty("type is not a string");
  if (!isObject(data)) return faulty("payload is not an object");
  const ts = typeof time === "number" ? isoFromSeconds(time) : time;
  const event: RyeEvent = {
    envelope,
    type,
    meaning: meaningOf(type),
    threadId: getString(native, "thread_id"),
    directive: getString(data, "directive") ?? getString(native, "directive"),
    ts: typeof ts === "string" ? ts : null,
    data,
    native,
  };
  return { event, fault: null };
}

function faulty(fault: EnvelopeFault): ReadEnvelope {
  return { event: null, fault };
}

/** The writer's values for any event. */
export interface WriterKnows {
  readonly envelope: Envelope;
  readonly threadId: string;
  /** Used if the data names no directive. */
  readonly defaultDirective: string | null;
  readonly nowMs: number;
}

/** A caller's event, and the writer's values. */
export interface EventFacts extends WriterKnows {
  readonly type: unknown;
  readonly data: unknown;
}

/**
 * The line of an event, keys in the envelope's order and data in the caller's; throws
 * INVALID_ENTRY. In the payload envelope the data is a separate object, so nothing in it is
 * overridden.
 */
export function completeEvent(facts: EventFacts): JsonObject {
  const { type, threadId } = facts;
  if (typeof type !== "string") refuseEntry("type", "not a string");
  if (type === "") refuseEntry("type", "empty");
  if (type === CHECKPOINT_TYPE) refuseEntry("type", "reserved for signed checkpoints");
  if (!isObject(facts.data)) refuseEntry("data", "not an object");
  const data = toJsonValue(facts.data);
  if (!isObject(data)) refuseEntry("data", "not JSON");
  const directive = directiveOf(type, data, facts.defaultDirective);
  const now = isoFormat(facts.nowMs);
  if (facts.envelope === "payload") {
    const payload = withRest({ directive }, data, ["directive"]);
    return { timestamp: now, thread_id: threadId, event_type: type, payload };
  }
  if (has(data, "event_type")) refuseEntry("event_type", "reserved for the other envelope");
  return withRest({ ts: now, type, thread_id: threadId, directive }, data, WRITTEN_KEYS);
}

/**
 * Completes a caller's line in either envelope, without the writer's fields, and writes it in the
 * envelope of `facts`.
 */
export function completeNative(native: unknown, facts: WriterKnows): JsonObject {
  if (!isObject(native)) refuseEntry("entry", "not an object");
  if (!has(native, "event_type")) {
    if (!has(native, "type")) refuseEntry("type", "missing");
    // In a flat line the writer's keys replace these anyway.
    const data = facts.envelope === "flat" ? native : withRest({}, native, FLAT_KEYS);
    return completeEvent(withData(facts, native.type, data));
  }
  if (has(native, "type")) refuseEntry("event_type", "given besides type");
  const stray = Object.keys(native).find((key) => !PAYLOAD_KEYS.includes(key));
  if (stray !== undefined) refuseEntry(stray, "not part of the payload envelope");
  const data = get(native, "payload", {});
  if (!isObject(data)) refuseEntry("payload", "not an object");
  return completeEvent(withData(facts, native.event_type, data));
}

/** Field by field: spreading here takes twenty times as long as everything else. */
function withData(facts: WriterKnows, type: unknown, data: unknown): EventFacts {
  const { envelope, threadId, defaultDirective, nowMs } = facts;
  return { envelope, threadId, defaultDirective, nowMs, type, data };
}

function directiveOf(type: string, data: JsonObject, fallback: string | null): string {
  const given = get(data, "directive");
  const directive = isTruthy(given) ? given : fallback;
  if (!isTruthy(directive)) {
    throw new VerbatimError(
      "INVALID_ENTRY",
      `event '${type}' is missing 'directive'; give it in the data or set a default directive`,
      { field: "directive", reason: "missing" },
    );
  }
  if (typeof directive !== "string") refuseEntry("directive", "not a string");
  return directive;
}
