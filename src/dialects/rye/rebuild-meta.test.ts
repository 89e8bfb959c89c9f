import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { type RyeEvent, readEnvelope } from "./envelope.ts";
import { reconstructMeta } from "./rebuild-meta.ts";
import { isThreadMeta, metaAfter, type StoredThreadMeta } from "./thread-meta.ts";
import { EVENT_TYPES } from "./vocabulary.ts";

const ID = "hello_world-1739012630";

function events(...lines: readonly object[]): RyeEvent[] {
  return lines.map((line) => {
    const { event, fault } = readEnvelope(line);
    assert.equal(fault, null);
    return event;
  });
}

const START = {
  ts: "2026-02-09T04:03:50Z",
  type: "thread_start",
  directive: "hello_world",
  model: "haiku",
};
const COMPLETE = {
  ts: "2026-02-09T04:04:01Z",
  type: "thread_complete",
  cost: { turns: 2, tokens: 3000, spend: 0.005 },
};
const ERROR = {
  ts: "2026-02-09T04:04:02Z",
  type: "thread_error",
  error_code: "llm_call_failed",
  detail: "timeout",
};

test("a completed thread is rebuilt with its cost, and marked as rebuilt (S2-10)", () => {
  assert.deepEqual(reconstructMeta(ID, events(START, COMPLETE)), {
    thread_id: ID,
    directive: "hello_world",
    model: "haiku",
    provider: "",
    status: "completed",
    thread_mode: "single",
    parent_thread_id: null,
    created_at: "2026-02-09T04:03:50Z",
    updated_at: "2026-02-09T04:04:01Z",
    cost: { turns: 2, tokens: 3000, spend: 0.005 },
    reconstructed: true,
  });
});

test("a thread that failed is rebuilt as failed, even if it also completed (S2-10)", () => {
  for (const lines of [
    [START, ERROR],
    [START, COMPLETE, ERROR],
    [START, ERROR, COMPLETE],
  ]) {
    const meta = reconstructMeta(ID, events(...lines));
    assert.equal(meta?.status, "error");
    assert.deepEqual(meta?.error, { code: "llm_call_failed", detail: "timeout" });
  }
});

test("a thread without an end is rebuilt as running (S2-10)", () => {
  const last = { ts: "2026-02-09T04:03:59Z", type: "assistant_text", text: "Hi" };
  const meta = reconstructMeta(ID, events(START, last));
  assert.equal(meta?.status, "running");
  assert.equal(meta?.updated_at, "2026-02-09T04:03:59Z");
  assert.equal(meta !== null && "cost" in meta, false);
});

test("a thread without events has no meta (S2-10)", () => {
  assert.equal(reconstructMeta(ID, []), null);
});

test("a thread without a start event gets directive and model from its other events", () => {
  const lines = [
    { timestamp: 0, event_type: "cognition_in", payload: { text: "hi" } },
    { timestamp: 1.5, event_type: "cognition_out", payload: { model: "haiku", directive: "d" } },
    { timestamp: 2, event_type: "thread_error", payload: { error: "x", cost: { turns: 1 } } },
  ];
  assert.deepEqual(reconstructMeta(ID, events(...lines)), {
    thread_id: ID,
    directive: "d",
    model: "haiku",
    provider: "",
    status: "error",
    thread_mode: "single",
    parent_thread_id: null,
    created_at: "1970-01-01T00:00:00.000000+00:00",
    updated_at: "1970-01-01T00:00:02.000000+00:00",
    cost: { turns: 1 },
    error: { code: "", detail: "x" },
    reconstructed: true,
  });
});

test("a thread of one run is rebuilt equal to what was written", () => {
  // Method: fold the same events both ways. One run: a start, some events, at most one end.
  const ends = fc.constantFrom(null, COMPLETE, ERROR);
  const others = fc.array(
    fc.constantFrom(...EVENT_TYPES.filter((type) => !type.startsWith("thread_"))),
  );
  fc.assert(
    fc.property(others, ends, (types, end) => {
      const between = types.map((type) => ({ ts: START.ts, type }));
      const run = events(START, ...between, ...(end ? [end] : []));
      let live: StoredThreadMeta | null = null;
      for (const event of run) live = metaAfter(ID, live, event);
      assert.deepEqual(reconstructMeta(ID, run), { ...live, reconstructed: true });
    }),
  );
});

test("any events make a usable meta", () => {
  const line = fc.record({
    ts: fc.jsonValue(),
    type: fc.constantFrom(...EVENT_TYPES, "x"),
    directive: fc.jsonValue(),
    model: fc.jsonValue(),
    cost: fc.jsonValue(),
    error_code: fc.jsonValue(),
    parent_thread_id: fc.jsonValue(),
  });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1 }), (lines) => {
      const found = events(...(JSON.parse(JSON.stringify(lines)) as object[]));
      assert.ok(isThreadMeta(reconstructMeta(ID, found)));
    }),
  );
});
