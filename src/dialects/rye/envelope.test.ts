import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import {
  completeEvent,
  completeNative,
  type EventFacts,
  type RyeEvent,
  readEnvelope,
} from "./envelope.ts";

const THREAD_ID = "hello_world-1739012630";
const NOW_MS = Date.UTC(2026, 1, 9, 4, 3, 50, 365);
const TS = "2026-02-09T04:03:50.365000+00:00";

const FACTS: EventFacts = {
  envelope: "flat",
  threadId: THREAD_ID,
  type: "assistant_text",
  data: {},
  defaultDirective: "test_agent",
  nowMs: NOW_MS,
};

function read(value: unknown): RyeEvent {
  const { event, fault } = readEnvelope(value);
  assert.equal(fault, null);
  return event;
}

function faultOf(value: unknown): string | null {
  return readEnvelope(value).fault;
}

function refused(facts: Partial<EventFacts>): { field: string; reason: string } {
  return thrownRefusal(() => completeEvent({ ...FACTS, ...facts }), "INVALID_ENTRY").details;
}

test("an event has ts, type, thread_id and directive first, then the data in its order (S2-1)", () => {
  const line = completeEvent({ ...FACTS, data: { z: 1, text: "Hello", a: 2 } });
  assert.equal(
    JSON.stringify(line),
    `{"ts":"${TS}","type":"assistant_text","thread_id":"${THREAD_ID}","directive":"test_agent",` +
      `"z":1,"text":"Hello","a":2}`,
  );
});

test("the writer's own ts, type and thread_id win over the data's (S2-1)", () => {
  const data = { ts: "then", type: "other", thread_id: "another", text: "Hi" };
  assert.deepEqual(completeEvent({ ...FACTS, data }), {
    ts: TS,
    type: "assistant_text",
    thread_id: THREAD_ID,
    directive: "test_agent",
    text: "Hi",
  });
});

test("the data's directive wins over the default one (S2-1)", () => {
  const line = completeEvent({ ...FACTS, data: { text: "Hi", directive: "custom_directive" } });
  assert.equal(line.directive, "custom_directive");
  assert.equal(completeEvent({ ...FACTS, data: { directive: "" } }).directive, "test_agent");
  assert.equal(completeEvent({ ...FACTS, data: { directive: null } }).directive, "test_agent");
});

test("an event without a directive is refused, and the error names the event (S2-1)", () => {
  for (const defaultDirective of [null, ""]) {
    const error = thrownRefusal(
      () => completeEvent({ ...FACTS, defaultDirective, data: { text: "Hi" } }),
      "INVALID_ENTRY",
    );
    assert.match(error.message, /missing 'directive'/);
    assert.match(error.message, /assistant_text/);
    assert.deepEqual(error.details, { field: "directive", reason: "missing" });
  }
});

test("an event whose type, data or directive has the wrong type is refused (S2-1)", () => {
  assert.deepEqual(refused({ type: "" }), { field: "type", reason: "empty" });
  for (const type of [undefined, null, 5, ["a"]]) {
    assert.deepEqual(refused({ type }), { field: "type", reason: "not a string" });
  }
  for (const data of [undefined, null, "text", []]) {
    assert.deepEqual(refused({ data }), { field: "data", reason: "not an object" });
  }
  assert.deepEqual(refused({ data: { directive: 5 } }), {
    field: "directive",
    reason: "not a string",
  });
});

test("a caller's own checkpoint is refused in both envelopes", () => {
  for (const envelope of ["flat", "payload"] as const) {
    assert.equal(refused({ envelope, type: "checkpoint" }).field, "type");
    const native = { event_type: "checkpoint", payload: {} };
    const { details } = thrownRefusal(
      () => completeNative(native, { ...FACTS, envelope }),
      "INVALID_ENTRY",
    );
    assert.equal(details.field, "type");
  }
});

test("a flat event cannot have an event_type, which could pass for a checkpoint", () => {
  assert.equal(refused({ data: { event_type: "x" } }).field, "event_type");
  assert.throws(() => completeNative({ type: "a", event_type: "a" }, FACTS), /event_type/);
});

test("the payload envelope keeps the data separate, with its directive first", () => {
  const data = { type: "text", text: "Hi", directive: "d" };
  assert.equal(
    JSON.stringify(completeEvent({ ...FACTS, envelope: "payload", type: "token_delta", data })),
    `{"timestamp":"${TS}","thread_id":"${THREAD_ID}","event_type":"token_delta",` +
      `"payload":{"directive":"d","type":"text","text":"Hi"}}`,
  );
});

test("a line in the form of either envelope is written in the chosen one", () => {
  const flat = { ts: "then", type: "assistant_text", text: "Hi" };
  const payload = { timestamp: 5, event_type: "assistant_text", payload: { text: "Hi" } };
  const inFlat = completeNative(flat, FACTS);
  assert.deepEqual(completeNative(payload, FACTS), inFlat);
  assert.deepEqual(Object.keys(inFlat), ["ts", "type", "thread_id", "directive", "text"]);
  const inPayload = completeNative(flat, { ...FACTS, envelope: "payload" });
  assert.deepEqual(completeNative(payload, { ...FACTS, envelope: "payload" }), inPayload);
  assert.deepEqual(inPayload.payload, { directive: "test_agent", text: "Hi" });
});

test("a line in neither envelope is refused before anything is written", () => {
  const refusals = [
    [[], "entry"],
    [{ text: "Hi" }, "type"],
    [{ event_type: "x", payload: "text" }, "payload"],
    [{ event_type: "x", text: "outside the payload" }, "text"],
  ] as const;
  for (const [native, field] of refusals) {
    const { details } = thrownRefusal(() => completeNative(native, FACTS), "INVALID_ENTRY");
    assert.equal(details.field, field);
  }
});

test("a completed event reads back from its line as it is in memory", () => {
  const data = { at: new Date(0), gone: undefined, nan: Number.NaN, zero: -0, list: [undefined] };
  for (const envelope of ["flat", "payload"] as const) {
    const line = completeEvent({ ...FACTS, envelope, data });
    assert.deepEqual(JSON.parse(JSON.stringify(line)), line);
  }
});

test("data that JSON cannot hold is refused", () => {
  const circle: Record<string, unknown> = {};
  circle.self = [circle, circle];
  for (const data of [circle, { big: 1n }]) {
    assert.deepEqual(refused({ data }), { field: "data", reason: "not JSON" });
  }
});

test("both envelopes read as the same event", () => {
  const flat = read({ ts: TS, type: "user_message", thread_id: "t", directive: "d", text: "Hi" });
  const payload = read({
    timestamp: TS,
    thread_id: "t",
    event_type: "user_message",
    payload: { directive: "d", text: "Hi" },
  });
  assert.deepEqual({ ...flat, native: null }, { ...payload, envelope: "flat", native: null });
  assert.deepEqual(flat.data, { directive: "d", text: "Hi" });
});

test("a timestamp may be seconds since 1970", () => {
  const event = read({ timestamp: 1771220277.5707498, event_type: "cognition_in", payload: {} });
  assert.equal(event.ts, "2026-02-16T05:37:57.570750+00:00");
});

test("a time of any type is kept, and is null when it is neither text nor seconds", () => {
  assert.equal(read({ ts: "T", type: "x" }).ts, "T");
  assert.equal(read({ ts: null, type: "x" }).ts, null);
  assert.equal(read({ timestamp: {}, event_type: "x" }).ts, null);
  assert.equal(read({ timestamp: 1e300, event_type: "x" }).ts, null);
});

test("the other vocabulary's names map to the same events", () => {
  const meanings = {
    cognition_in: "user_message",
    cognition_out: "assistant_text",
    thread_completed: "thread_complete",
    tool_call_start: "tool_call_start",
    token_delta: null,
    checkpoint_saved: null,
    directive_return: null,
    checkpoint: null,
    constructor: null,
    ["__proto__"]: null,
  };
  for (const [type, meaning] of Object.entries(meanings)) {
    assert.equal(read({ ts: TS, type }).meaning, meaning, type);
    assert.equal(read({ timestamp: 0, event_type: type }).meaning, meaning, type);
    assert.equal(read({ ts: TS, type }).type, type);
  }
});

test("a line without ts or type is bad (S2-14)", () => {
  assert.equal(faultOf({ type: "no_timestamp" }), "missing ts/type");
  assert.equal(faultOf({ ts: TS }), "missing ts/type");
  assert.equal(faultOf({ ts: TS, event_type: "x" }), "missing timestamp");
  assert.equal(faultOf({ ts: "2026-01-01T00:00:02", type: "valid_event" }), null);
});

test("a line that is not an event is bad, and the fault has the reason (S2-14)", () => {
  for (const value of [null, 5, "text", [], [{ ts: TS, type: "x" }]]) {
    assert.equal(faultOf(value), "not an object");
  }
  assert.equal(faultOf({ ts: TS, type: 5 }), "type is not a string");
  assert.equal(faultOf({ timestamp: 1, event_type: "x", payload: [] }), "payload is not an object");
});

test("a line with both type and event_type is tampering, unless it is a checkpoint", () => {
  const both = { ts: TS, thread_id: "t", directive: "d" };
  const payload = { turn: 1, byte_offset: 0 };
  assert.equal(faultOf({ ...both, type: "a", event_type: "a" }), "both type and event_type");
  for (const [type, eventType] of [
    ["checkpoint", "a"],
    ["a", "checkpoint"],
  ]) {
    assert.equal(
      faultOf({ ...both, type, event_type: eventType, payload }),
      "both type and event_type",
    );
  }
  const event = read({ ...both, type: "checkpoint", event_type: "checkpoint", payload });
  assert.equal(event.envelope, "flat");
  assert.equal(event.directive, "d");
  assert.deepEqual(event.data, payload);
});

test("any JSON value is an event or has a fault; reading never throws", () => {
  const field = fc.jsonValue();
  const keys = ["ts", "type", "thread_id", "timestamp", "event_type", "payload", "directive"];
  const line = fc.dictionary(fc.constantFrom(...keys, "__proto__"), field);
  fc.assert(
    fc.property(fc.oneof(field, line), (value) => {
      const { event, fault } = readEnvelope(JSON.parse(JSON.stringify(value)));
      assert.equal(event === null, fault !== null);
    }),
    { numRuns: 1000 },
  );
});

test("any data passed to the writer is read back unchanged", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom("flat" as const, "payload" as const),
      (given, envelope) => {
        const { ts, type, thread_id, event_type, directive, ...data } = JSON.parse(
          JSON.stringify(given),
        );
        const line = completeEvent({ ...FACTS, envelope, data });
        const event = read(JSON.parse(JSON.stringify(line)));
        assert.deepEqual(event.data, { directive: "test_agent", ...data });
        assert.equal(event.envelope, envelope);
        assert.equal(event.threadId, THREAD_ID);
      },
    ),
  );
});
