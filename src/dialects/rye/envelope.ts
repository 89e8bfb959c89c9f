/**
 * Envelope: what every line of a thread carries around its data, in either of two shapes.
 *
 *   flat     {"ts","type","thread_id","directive",...data}
 *   payload  {"timestamp","thread_id","event_type","payload":{"directive",...data}}
 *
 * Owns reading and writing both. What the data means is for others. Format: docs/formats/rye.md.
 *
 * E1  The writer's time, type and thread id win over what the data says of them.
 * E2  No line we complete carries both `type` and `event_type`: that is the mark of a checkpoint,
 *     and on any other line the mark of tampering.
 * E3  `checkpoint` lines are a signer's to write. A caller's own is refused.
 * E4  A completed line is plain JSON in memory too: it reads back as it is (json-value.ts).
 */

import { VerbatimError } from "../../base/errors.ts";
import { get, getString, has, isObject, type JsonObject, withRest } from "../fields.ts";
import { toJsonValue } from "../json-value.ts";
import { isTruthy } from "./python.ts";
import { isoFormat, isoFromSeconds } from "./time.ts";
import { CHECKPOINT_TYPE, type EventType, meaningOf } from "./vocabulary.ts";

export type Envelope = "flat" | "payload";

/** A line, read: the same shape for both envelopes. */
export interface RyeEvent {
  readonly envelope: Envelope;
  /** As the line says it. */
  readonly type: string;
  /** Which of the twelve events it is; null when it is stored and says nothing. */
  readonly meaning: EventType | null;
  readonly threadId: string | null;
  readonly directive: string | null;
  /** The time as the line spells it, seconds since 1970 as ISO; null when it is neither. */
  readonly ts: string | null;
  /** What a caller would hand to the writer again, `directive` included when the line has one. */
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
/** What the writer puts first in a flat line. */
const WRITTEN_KEYS = [...FLAT_KEYS, "directive"];
const PAYLOAD_KEYS = ["timestamp", "thread_id", "event_type", "payload"];

/** Reads a line of either envelope; a fault when it is no event. Never throws. */
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

/** What the writer knows of any event. */
export interface WriterKnows {
  readonly envelope: Envelope;
  readonly threadId: string;
  /** Stands in when the data names no directive. */
  readonly defaultDirective: string | null;
  readonly nowMs: number;
}

/** An event as a caller gives it, and what the writer knows. */
export interface EventFacts extends WriterKnows {
  readonly type: unknown;
  readonly data: unknown;
}

/**
 * The line of an event, its keys in the envelope's order and the data's in the caller's; refuses
 * with INVALID_ENTRY. In the payload envelope the data lies apart, so nothing in it is overridden.
 */
export function completeEvent(facts: EventFacts): JsonObject {
  const { type, threadId } = facts;
  if (typeof type !== "string") refuse("type", "not a string");
  if (type === "") refuse("type", "empty");
  if (type === CHECKPOINT_TYPE) refuse("type", "reserved for signed checkpoints");
  if (!isObject(facts.data)) refuse("data", "not an object");
  const data = toJsonValue(facts.data);
  if (!isObject(data)) refuse("data", "not JSON");
  const directive = directiveOf(type, data, facts.defaultDirective);
  const now = isoFormat(facts.nowMs);
  if (facts.envelope === "payload") {
    const payload = withRest({ directive }, data, ["directive"]);
    return { timestamp: now, thread_id: threadId, event_type: type, payload };
  }
  if (has(data, "event_type")) refuse("event_type", "reserved for the other envelope");
  return withRest({ ts: now, type, thread_id: threadId, directive }, data, WRITTEN_KEYS);
}

/**
 * Completes a line that a caller gave in the shape of either envelope, without what the writer
 * adds, and writes it in the envelope of `facts`.
 */
export function completeNative(native: unknown, facts: WriterKnows): JsonObject {
  if (!isObject(native)) refuse("entry", "not an object");
  if (!has(native, "event_type")) {
    if (!has(native, "type")) refuse("type", "missing");
    // In a flat line the writer's own keys win anyway.
    const data = facts.envelope === "flat" ? native : withRest({}, native, FLAT_KEYS);
    return completeEvent(withData(facts, native.type, data));
  }
  if (has(native, "type")) refuse("event_type", "given besides type");
  const stray = Object.keys(native).find((key) => !PAYLOAD_KEYS.includes(key));
  if (stray !== undefined) refuse(stray, "not part of the payload envelope");
  const data = get(native, "payload", {});
  if (!isObject(data)) refuse("payload", "not an object");
  return completeEvent(withData(facts, native.event_type, data));
}

/** Field by field, because spreading here takes twenty times as long as all the rest. */
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
  if (typeof directive !== "string") refuse("directive", "not a string");
  return directive;
}

function refuse(field: string, reason: string): never {
  throw new VerbatimError(
    "INVALID_ENTRY",
    `the event is refused: ${field} is ${reason}; see docs/formats/rye.md`,
    { field, reason },
  );
}
