import assert from "node:assert/strict";
import { test } from "vitest";
import { tortureStreams } from "./streams-torture.ts";

/** Some ten seconds on two busy cores. */
const STEPS = 3_000;

test("no crash loses, doubles, moves or bends what streams acknowledged", async () => {
  const { violations, counts } = await tortureStreams({ seed: 1, steps: STEPS });

  assert.deepEqual(violations, []);
  // A run that never met a case says nothing about it.
  for (const [name, count] of Object.entries(counts)) assert.ok(count > 0, `no ${name} in the run`);
}, 180_000);

test("a run on streams is decided by its seed", async () => {
  const run = () => tortureStreams({ seed: 7, steps: 300 });

  assert.deepEqual(await run(), await run());
});
