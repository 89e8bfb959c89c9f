import assert from "node:assert/strict";
import { test } from "vitest";
import { BARS_MAX, barsOf } from "./axis-bars.ts";

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
