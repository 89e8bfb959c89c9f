import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "vitest";
import { Telemetry, type TelemetryStats } from "./telemetry.ts";

const NOW = "2026-02-10T00:00:00Z";
const NOW_MS = Date.parse(NOW);

function aggregate(metas: readonly unknown[], days?: number): TelemetryStats {
  const telemetry = new Telemetry(NOW_MS, days);
  for (const meta of metas) telemetry.add(meta);
  return telemetry.stats();
}

function meta(fields: object): object {
  return {
    thread_id: "test-1739012630",
    directive: "test",
    model: "haiku",
    status: "completed",
    created_at: "2026-02-09T04:03:50Z",
    cost: { spend: 0.01, tokens: 1000 },
    ...fields,
  };
}

test("threads are counted by status, and spend and tokens are summed (S2-12)", () => {
  const metas = ["completed", "completed", "error", "paused"].map((status) => meta({ status }));
  const group = { count: 4, spend: 0.04, tokens: 4000 };
  assert.deepEqual(aggregate(metas), {
    total: 4,
    completed: 2,
    error: 1,
    paused: 1,
    total_spend: 0.04,
    total_tokens: 4000,
    by_directive: { test: group },
    by_model: { haiku: group },
    skipped: 0,
  });
});

test("without threads all totals are zero (S2-12)", () => {
  assert.deepEqual(aggregate([]), {
    total: 0,
    completed: 0,
    error: 0,
    total_spend: 0,
    total_tokens: 0,
    by_directive: {},
    by_model: {},
    skipped: 0,
  });
});

test("threads are grouped by directive and by model (S2-12)", () => {
  const stats = aggregate([
    meta({ directive: "hello", model: "a" }),
    meta({ directive: "hello", model: "b" }),
    meta({ directive: "deploy", model: "b", cost: undefined }),
  ]);
  assert.deepEqual(stats.by_directive, {
    hello: { count: 2, spend: 0.02, tokens: 2000 },
    deploy: { count: 1, spend: 0, tokens: 0 },
  });
  assert.deepEqual(stats.by_model.b, { count: 2, spend: 0.01, tokens: 1000 });
});

test("threads that are missing, corrupt, or without a usable creation time are skipped and counted (S2-12)", () => {
  const telemetry = new Telemetry(NOW_MS);
  telemetry.skip();
  const times = [undefined, null, 5, "", "soon", "2026-02-09T04:03:50", "2026-02-09"];
  for (const created_at of times) telemetry.add(meta({ created_at }));
  for (const value of [null, [], "text", 5, {}]) telemetry.add(value);
  telemetry.add(meta({}));
  assert.equal(telemetry.stats().skipped, 1 + times.length + 5);
  assert.equal(telemetry.stats().total, 1);
});

test("the time limit is in whole days, as in Python (S2-12)", () => {
  const golden = new URL("../../../test/golden/rye/values.json", import.meta.url);
  const rows = JSON.parse(readFileSync(golden, "utf8")) as Record<string, unknown>[];
  const cuts = rows.filter(({ ask }) => ask === "created");
  assert.ok(cuts.length > 20);
  for (const { at, now, days, answer } of cuts) {
    const telemetry = new Telemetry(Date.parse(String(now)), Number(days));
    telemetry.add(meta({ created_at: at }));
    const { total, skipped } = telemetry.stats();
    assert.equal(skipped, answer === null ? 1 : 0, String(at));
    assert.equal(total, answer === true ? 1 : 0, String(at));
  }
});

test("a thread seven days and some hours old is within seven days; one of eight days is not (S2-12)", () => {
  const day = 86_400_000;
  const aged = (ms: number) => meta({ created_at: new Date(NOW_MS - ms).toISOString() });
  assert.equal(aggregate([aged(8 * day - 1)]).total, 1);
  assert.equal(aggregate([aged(8 * day)]).total, 0);
  assert.equal(aggregate([aged(-day)], 0).total, 1);
  assert.equal(aggregate([aged(day)], 0).total, 0);
  assert.equal(aggregate([aged(0)], -1).total, 0);
});

test("tokens are the recorded total, or else the sum of input and output", () => {
  const tokensOf = (cost: unknown) => aggregate([meta({ cost })]).total_tokens;
  assert.equal(tokensOf({ tokens: 10, input_tokens: 1, output_tokens: 2 }), 10);
  assert.equal(tokensOf({ tokens: 0, input_tokens: 1, output_tokens: 2 }), 0);
  assert.equal(tokensOf({ input_tokens: 1, output_tokens: 2 }), 3);
  assert.equal(tokensOf({ output_tokens: 2 }), 2);
  assert.equal(tokensOf({}), 0);
});

test("a status named like another key of the result does not overwrite it", () => {
  const names = ["total", "total_spend", "total_tokens", "by_directive", "by_model", "skipped"];
  const stats = aggregate(names.map((status) => meta({ status })));
  assert.equal(stats.unknown, names.length);
  assert.equal(stats.total, names.length);
  assert.equal(stats.skipped, 0);
  assert.deepEqual(Object.keys(stats.by_directive), ["test"]);
});

test("names with a meaning in JavaScript are ordinary names", () => {
  const name = "__proto__";
  const json = JSON.stringify(aggregate([meta({ status: name, directive: name, model: name })]));
  const group = '{"count":1,"spend":0.01,"tokens":1000}';
  assert.equal(
    json,
    `{"total":1,"completed":0,"error":0,"__proto__":1,"total_spend":0.01,"total_tokens":1000,` +
      `"by_directive":{"__proto__":${group}},"by_model":{"__proto__":${group}},"skipped":0}`,
  );
  assert.equal(Object.hasOwn({}, "count"), false);
});

test("values of the wrong type count as zero, and names of the wrong type as unknown", () => {
  const stats = aggregate([
    meta({ status: 5, directive: null, model: ["m"], cost: null }),
    meta({ status: undefined, cost: { spend: "0.5", tokens: "7" } }),
    meta({ cost: { spend: JSON.parse("1e999"), tokens: true } }),
    meta({ cost: [1] }),
  ]);
  assert.equal(stats.unknown, 2);
  assert.equal(stats.completed, 2);
  assert.equal(stats.total_spend, 0);
  assert.equal(stats.total_tokens, 0);
  assert.deepEqual(stats.by_model.unknown, { count: 1, spend: 0, tokens: 0 });
});

test("any JSON is counted or skipped, and every count adds up", () => {
  const keys = ["status", "directive", "model", "created_at", "cost"];
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom(NOW, "total", "__proto__", "error"));
  const metas = fc.array(fc.oneof(value, fc.dictionary(fc.constantFrom(...keys), value)));
  fc.assert(
    fc.property(metas, (given) => {
      const parsed = JSON.parse(JSON.stringify(given)) as unknown[];
      const stats = aggregate(parsed, 36_500);
      assert.equal(stats.total + stats.skipped, parsed.length);
      for (const groups of [stats.by_directive, stats.by_model]) {
        const counts = Object.values(groups).map(({ count }) => count);
        assert.equal(
          counts.reduce((sum, count) => sum + count, 0),
          stats.total,
        );
      }
      assert.deepEqual(JSON.parse(JSON.stringify(stats)), stats);
    }),
  );
});
