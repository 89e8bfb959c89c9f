import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "vitest";
import { type RyeEvent, readEnvelope } from "./envelope.ts";
import {
  formatThreadMeta,
  isThreadMeta,
  metaAfter,
  metaAtStart,
  pausedMeta,
  resumedMeta,
  type StoredThreadMeta,
} from "./thread-meta.ts";

const ID = "hello_world-1739012630";
const T0 = "2026-02-09T04:03:50.000000+00:00";
const T1 = "2026-02-09T04:04:01.000000+00:00";
const NOW_MS = Date.UTC(2026, 1, 9, 4, 5);
const NOW = "2026-02-09T04:05:00.000000+00:00";
const COST = { turns: 2, tokens: 3778, spend: 0.003848, duration_seconds: 11.45 };

function event(type: string, data: object = {}, ts: unknown = T0): RyeEvent {
  const read = readEnvelope({ ts, type, thread_id: ID, directive: "hello_world", ...data });
  assert.equal(read.fault, null);
  return read.event;
}

const START = event("thread_start", { model: "haiku", provider: "anthropic", inputs: { n: 1 } });
const RUNNING = metaAtStart(ID, START);

function after(meta: StoredThreadMeta | null, next: RyeEvent): StoredThreadMeta {
  return metaAfter(ID, meta, next);
}

test("a start sets all start fields, and no cost (S2-8)", () => {
  assert.deepEqual(RUNNING, {
    thread_id: ID,
    directive: "hello_world",
    model: "haiku",
    provider: "anthropic",
    status: "running",
    thread_mode: "single",
    parent_thread_id: null,
    created_at: T0,
    updated_at: T0,
    inputs: { n: 1 },
  });
  assert.deepEqual(metaAfter(ID, null, START), RUNNING);
});

test("missing required fields are empty, and the mode is single (S2-8)", () => {
  const read = readEnvelope({ ts: null, type: "thread_start" });
  assert.equal(read.fault, null);
  assert.deepEqual(metaAtStart(ID, read.event), {
    thread_id: ID,
    directive: "",
    model: "",
    provider: "",
    status: "running",
    thread_mode: "single",
    parent_thread_id: null,
    created_at: "",
    updated_at: "",
  });
});

test("a start may name its mode, its parent, its capabilities and its limits (S2-8, S2-16)", () => {
  const given = {
    thread_mode: "conversation",
    parent_thread_id: "parent-1739012629",
    capabilities: ["rye.execute.tool.*"],
    limits: { turns: 10 },
  };
  const meta: object = metaAtStart(ID, event("thread_start", given));
  assert.deepEqual({ ...meta, ...given }, meta);
});

test("a completion sets status, time and cost, and leaves the rest (S2-8)", () => {
  const meta = after(RUNNING, event("thread_complete", { cost: COST }, T1));
  assert.deepEqual(meta, { ...RUNNING, status: "completed", updated_at: T1, cost: COST });
  const named = event("thread_completed", { cost: COST, outputs: { path: "x" } }, T1);
  assert.deepEqual(after(RUNNING, named), { ...meta, outputs: { path: "x" } });
});

test("a failure sets status, time and error, and the cost if it has one (S2-8)", () => {
  const failed = { error_code: "llm_call_failed", detail: "timeout" };
  const error = { code: "llm_call_failed", detail: "timeout" };
  const meta = after(RUNNING, event("thread_error", failed, T1));
  assert.deepEqual(meta, { ...RUNNING, status: "error", updated_at: T1, error });
  assert.deepEqual(after(RUNNING, event("thread_error", { ...failed, cost: COST }, T1)), {
    ...meta,
    cost: COST,
  });
  assert.deepEqual(after(RUNNING, event("thread_error")).error, { code: "", detail: "" });
});

test("an end without a start still sets every required field (S2-8)", () => {
  const meta = after(null, event("thread_complete", { cost: COST }, T1));
  assert.equal(meta.status, "completed");
  assert.deepEqual([meta.model, meta.provider, meta.created_at], ["", "", T1]);
});

test("no other event changes thread.json, but a thread's first event creates it", () => {
  const blank = metaAtStart(ID, event("thread_start"));
  for (const type of ["user_message", "step_finish", "checkpoint", "directive_return", "x"]) {
    assert.equal(metaAfter(ID, RUNNING, event(type, { model: "x", cost: COST })), RUNNING);
    assert.deepEqual(metaAfter(ID, null, event(type, { cost: COST })), blank);
  }
});

test("unknown keys are kept through every change (S2-8)", () => {
  const foreign = { ...RUNNING, _signature: "rye:signed:x", limits: { turns: 4 }, odd: [null] };
  const steps = [
    after(foreign, event("thread_complete", { cost: COST })),
    after(foreign, event("thread_error")),
    after(foreign, START),
    pausedMeta(foreign, NOW_MS),
    resumedMeta({ ...foreign, status: "paused" }, NOW_MS),
  ];
  for (const meta of steps) {
    assert.deepEqual(
      [meta._signature, meta.limits, meta.odd],
      ["rye:signed:x", { turns: 4 }, [null]],
    );
  }
});

test("only a running thread becomes paused (S2-8)", () => {
  assert.deepEqual(pausedMeta(RUNNING, NOW_MS), { ...RUNNING, status: "paused", updated_at: NOW });
  for (const status of ["completed", "error", "paused"]) {
    const meta = { ...RUNNING, status };
    assert.equal(pausedMeta(meta, NOW_MS), meta);
  }
});

test("a thread that continues is running again, and its earlier error is removed (S2-8)", () => {
  const failed = after(RUNNING, event("thread_error", { error_code: "x", detail: "y" }, T1));
  for (const meta of [failed, { ...RUNNING, status: "paused" }]) {
    assert.deepEqual(resumedMeta(meta, NOW_MS), { ...RUNNING, updated_at: NOW });
  }
  assert.equal(resumedMeta(RUNNING, NOW_MS), RUNNING);
  assert.equal(after(failed, event("thread_complete")).error, undefined);
});

test("a second start keeps the creation time, and every field that it does not set", () => {
  const again = event("thread_start", { model: "opus" }, T1);
  assert.deepEqual(after({ ...RUNNING, status: "completed", cost: COST }, again), {
    ...RUNNING,
    model: "opus",
    updated_at: T1,
    cost: COST,
  });
});

test("another writer's thread.json is usable even if some of our fields are missing", () => {
  assert.ok(isThreadMeta({ thread_id: ID, status: "running" }));
  assert.ok(isThreadMeta({ thread_id: ID, status: "odd", model: null, cost: "odd", x: 1 }));
});

test("a thread.json with fields of the wrong type is corrupt", () => {
  const bad = [null, [], "text", 5, {}, { thread_id: ID }, { thread_id: 1, status: "error" }];
  for (const value of bad) assert.equal(isThreadMeta(value), false);
  for (const key of ["directive", "model", "provider", "thread_mode", "created_at", "updated_at"]) {
    assert.equal(isThreadMeta({ thread_id: ID, status: "running", [key]: 5 }), false, key);
  }
});

test("the file's text is the same as Python's json.dumps(meta, indent=2)", () => {
  const golden = new URL("../../../test/golden/rye/values.json", import.meta.url);
  const rows = JSON.parse(readFileSync(golden, "utf8")) as { json?: string; answer: unknown }[];
  const row = rows.find(({ json }) => json?.includes('"thread_mode"'));
  const meta: unknown = JSON.parse(row?.json ?? "");
  assert.ok(isThreadMeta(meta));
  assert.equal(formatThreadMeta(meta), row?.answer);
});

test("any meta reads back from its text, whatever its fields hold", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), (given) => {
      const fields = JSON.parse(JSON.stringify(given)) as object;
      const meta = { ...fields, thread_id: ID, status: "running" };
      assert.deepEqual(JSON.parse(formatThreadMeta(meta)), meta);
    }),
  );
  const hostile = { ...RUNNING, cost: { spend: JSON.parse("1e999") } };
  assert.deepEqual(JSON.parse(formatThreadMeta(hostile)).cost, { spend: null });
});
