import assert from "node:assert/strict";
import { test } from "vitest";
import type { Exchange } from "../../../src/client/outline-shapes.ts";
import { BARS_MAX, barsOf, tookMs } from "./axis-bars.ts";

const exchange = (start: number, failures = 0): Exchange => ({
  ...{ start, text: "x", at: "2026-01-01T00:00:00Z", until: "2026-01-01T00:01:00Z" },
  ...{
    tokens: null,
    spend: null,
    calls: 0,
    failures,
    edits: 0,
    files: 0,
    answer: null,
    answerStart: null,
    tools: [],
  },
});

test("there is a bar for each prompt, as high as its value", () => {
  const bars = barsOf(
    3,
    (prompt) => [0, 100, 400][prompt] ?? 0,
    (prompt) => (prompt === 1 ? 1 : 0),
  );
  assert.deepEqual(
    bars.map(({ height, failures }) => [height, failures]),
    [
      [0, 0],
      [0.5, 1],
      [1, 0],
    ],
  );
});

test("a bar is for several prompts when there are very many", () => {
  const [one, none] = [() => 1, () => 0];
  const bars = barsOf(1_000, one, none);
  assert.ok(bars.length <= BARS_MAX);
  assert.equal(
    bars.reduce((sum, { count }) => sum + count, 0),
    1_000,
  );
  assert.deepEqual(barsOf(0, one, one), []);
  assert.ok(barsOf(1_000, none, one).every(({ height }) => height === 0));
});

test("a clock that was set back gives no duration", () => {
  assert.equal(tookMs(exchange(0)), 60_000);
  assert.equal(tookMs({ ...exchange(0), until: "2025-01-01T00:00:00Z" }), null);
  assert.equal(tookMs({ ...exchange(0), at: null }), null);
});
