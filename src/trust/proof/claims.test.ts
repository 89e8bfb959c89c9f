/** What a line claims to be, and what it is. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { testKey } from "../../../test/signing/json-key.ts";
import { signedThread } from "../../../test/support/signed-thread.ts";
import { claimOf } from "./claims.ts";

const { signer } = testKey(3);
const KEY = { ...signer, publicKey: new Uint8Array(32) };
const LEGACY = {
  turn: 1,
  byte_offset: 120,
  hash: "a".repeat(64),
  sig: `${"A".repeat(86)}==`,
  fp: "b".repeat(16),
  ts: "2026-02-18T10:30:00Z",
};

function claim(value: unknown, envelope: Parameters<typeof claimOf>[1] = "rye") {
  return claimOf(Buffer.from(JSON.stringify(value)), envelope)?.is ?? null;
}

test("a checkpoint counts only in the envelope of its dialect, and is an impostor in any other", async () => {
  const { bytes } = await signedThread(KEY, "hello-1", { turns: 1 });
  const line = bytes.subarray(bytes.indexOf(10) + 1, -1);
  assert.equal(claimOf(line, "rye")?.is, "checkpoint");
  for (const envelope of ["entire", "sidecar"] as const) {
    assert.equal(claimOf(line, envelope)?.is, "impostor", envelope);
  }
});

test("a line with checkpoint in type or event_type claims to be one, escaped or not", () => {
  for (const value of [
    { type: "checkpoint" },
    { event_type: "checkpoint" },
    { event_type: "checkpoint", payload: null },
    { event_type: "checkpoint", payload: { v: 2 } },
    { type: "checkpoint", event_type: "checkpoint", payload: LEGACY },
  ]) {
    assert.equal(claim(value), "impostor", JSON.stringify(value));
  }
  const escaped = Buffer.from('{"t\\u0079pe":"check\\u0070oint"}');
  assert.equal(claimOf(escaped, "rye")?.is, "impostor");
});

test("a line that only mentions checkpoints claims nothing", () => {
  for (const value of [
    { type: "checkpoint_saved" },
    { type: ["checkpoint"] },
    { text: '"type":"checkpoint"' },
    { payload: { type: "checkpoint" } },
    ["checkpoint"],
    "checkpoint",
    null,
  ]) {
    assert.equal(claim(value), null, JSON.stringify(value));
  }
  for (const bytes of ["", '{"type":"checkpoint"', "\ufeff{}"]) {
    assert.equal(claimOf(Buffer.from(bytes), "rye"), null);
  }
});

test("a version above ours is newer, and one that is not a whole number is an impostor", () => {
  const of = (v: unknown) => claim({ event_type: "checkpoint", payload: { v } });
  assert.deepEqual([of(3), of(99)], ["newer", "newer"]);
  for (const v of [2, 1, 0, -3, 2.5, 1e300, "3", null]) assert.equal(of(v), "impostor", String(v));
});

test("the original's checkpoints are read only in its own envelope and with its own fields", () => {
  const line = { timestamp: 1.5, thread_id: "t", event_type: "checkpoint", payload: LEGACY };
  assert.equal(claim(line), "legacy");
  const { ts: _, ...withoutTime } = LEGACY;
  assert.equal(claim({ ...line, payload: withoutTime }), "legacy");
  assert.equal(claim({ ...line, payload: { ...LEGACY, sig: "A".repeat(86) } }), "legacy");
  for (const payload of [
    { ...LEGACY, seq: 1 },
    { ...LEGACY, fp: "../../../proj/evil" },
    { ...LEGACY, fp: "B".repeat(16) },
    { ...LEGACY, hash: "a".repeat(63) },
    { ...LEGACY, sig: `${"A".repeat(85)}+==` },
    { ...LEGACY, turn: "1" },
    { ...LEGACY, byte_offset: null },
  ]) {
    assert.equal(claim({ ...line, payload }), "impostor", JSON.stringify(payload));
  }
  assert.equal(claim({ ...line, type: "x" }), "impostor");
});

test("claimOf never throws, whatever the bytes", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.json().map((json) => Buffer.from(`{"event_type":"checkpoint","payload":${json}}`)),
  );
  fc.assert(
    fc.property(bytes, (line) => {
      for (const envelope of ["rye", "entire", "sidecar"] as const) claimOf(line, envelope);
    }),
  );
});
