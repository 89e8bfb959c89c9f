import assert from "node:assert/strict";
import { test } from "vitest";
import { times } from "../support/seed.ts";
import { torture } from "./torture.ts";

/** Some seconds. Longer runs: VERBATIM_TIMES, docs/torture.md. */
const STEPS = 800 * times;
/** Verdicts that are false, because nothing tampers with the sessions or deletes one. */
const FALSE_VERDICTS = ["tampered", "rollback", "untrusted", "unpinned", "deleted"] as const;

test(
  "no crash makes a signed session tampered or rolled back, and its chain continues",
  async () => {
    const { violations, counts } = await torture("signed", { seed: 1, steps: STEPS });

    assert.deepEqual(violations, []);
    for (const verdict of FALSE_VERDICTS) assert.equal(counts[verdict], 0, verdict);
    // A case that never occurred was not tested.
    const { unreadable: _, ...must } = counts;
    for (const [name, count] of Object.entries(must)) {
      if (FALSE_VERDICTS.some((verdict) => verdict === name)) continue;
      assert.ok(count > 0, `no ${name} in the run`);
    }
  },
  180_000 * times,
);

test("an acknowledgement that arrives after its process was killed does not count", async () => {
  // Three episodes of seed 778. Each kills a writer between its write and the acknowledgement, then
  // cuts the power: the line may be lost.
  for (const [seed, steps] of [
    [2710939197, 139],
    [2471588805, 147],
    [2232238413, 92],
  ] as const) {
    const { violations } = await torture("signed", { seed, steps });
    assert.deepEqual(violations, [], `seed ${seed}`);
  }
});

test("a log that its writer rolls back while it is verified is verified when it is read again", async () => {
  // Episodes of the run of a million steps with seed 20261116 (docs/torture.md).
  for (const [seed, steps] of [
    [2112813915, 11],
    [3809848108, 12],
    [2983124399, 68],
    [3694123051, 19],
    [2610376407, 9],
  ] as const) {
    const { violations } = await torture("signed", { seed, steps });
    assert.deepEqual(violations, [], `seed ${seed}`);
  }
});
