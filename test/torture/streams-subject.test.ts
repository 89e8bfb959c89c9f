import assert from "node:assert/strict";
import { test } from "vitest";
import { times } from "../support/seed.ts";
import { torture } from "./torture.ts";

/** Some seconds. Longer runs: VERBATIM_TIMES, docs/torture.md. */
const STEPS = 800 * times;

test(
  "no crash loses, duplicates, moves or alters messages that streams acknowledged",
  async () => {
    const { violations, counts } = await torture("streams", { seed: 1, steps: STEPS });

    assert.deepEqual(violations, []);
    // A case that never occurred was not tested.
    for (const [name, count] of Object.entries(counts))
      assert.ok(count > 0, `no ${name} in the run`);
  },
  180_000 * times,
);

test("an opening may fail when a killed process left a sync that fails", async () => {
  const { violations } = await torture("streams", { seed: 2563012672, steps: 215 });

  assert.deepEqual(violations, []);
});

test("a bit that the torture flips is never made durable by a sync of the store", async () => {
  const { violations } = await torture("streams", { seed: 3089077191, steps: 250 });

  assert.deepEqual(violations, []);
});

test("a request may be refused for a fault and die with its process before the answer", async () => {
  const { violations } = await torture("streams", { seed: 356557323, steps: 250 });

  assert.deepEqual(violations, []);
});

test("a run on streams is decided by its seed", async () => {
  const run = () => torture("streams", { seed: 7, steps: 300 });

  assert.deepEqual(await run(), await run());
});
