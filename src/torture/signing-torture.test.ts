import assert from "node:assert/strict";
import { test } from "vitest";
import { tortureSigning } from "./signing-torture.ts";

/** Some ten seconds on two busy cores. */
const STEPS = 3_000;
/** What a machine that nobody tampers with may never be said to be. */
const FALSE_VERDICTS = ["tampered", "rollback", "untrusted", "unpinned"] as const;

test("no crash makes a signed session tampered or rolled back, and its chain goes on", async () => {
  const { violations, counts } = await tortureSigning({ seed: 1, steps: STEPS });

  assert.deepEqual(violations, []);
  for (const verdict of FALSE_VERDICTS) assert.equal(counts[verdict], 0, verdict);
  // A run that never met a case says nothing about it.
  const { unreadable: _, ...must } = counts;
  for (const [name, count] of Object.entries(must)) {
    if (FALSE_VERDICTS.some((verdict) => verdict === name)) continue;
    assert.ok(count > 0, `no ${name} in the run`);
  }
}, 180_000);

test("an acknowledgement that arrives after its process was killed promises nothing", async () => {
  // Three episodes of seed 778. Each kills a writer between its write and the acknowledgement, and
  // then cuts the power: the line may be gone.
  for (const [seed, steps] of [
    [2710939197, 139],
    [2471588805, 147],
    [2232238413, 92],
  ] as const) {
    const { violations } = await tortureSigning({ seed, steps });
    assert.deepEqual(violations, [], `seed ${seed}`);
  }
});

test("a log that its writer rolls back while it is verified is verified when it is read again", async () => {
  // Episodes of seed 20261116, the run of a million steps (docs/torture.md).
  for (const [seed, steps] of [
    [2112813915, 11],
    [3809848108, 12],
    [2983124399, 68],
    [3694123051, 19],
    [2610376407, 9],
  ] as const) {
    const { violations } = await tortureSigning({ seed, steps });
    assert.deepEqual(violations, [], `seed ${seed}`);
  }
});
