/**
 * Every call: a short life of a local store. Each disk call fails in turn, and the power is cut
 * afterwards; `streams.db` is kept, deleted, or restored from an older copy. No call is left out. A run
 * makes each call fail in one way, with one of these; VERBATIM_DEEP=1 in each possible way.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../support/temp-directory.ts";
import { FAULTS, triedFor } from "./faults.ts";
import { type IndexFate, StreamsLife } from "./streams-life.ts";

const FATES: readonly IndexFate[] = ["kept", "deleted", "older"];

test.each(FATES)(
  "streams keep every acknowledged message once, whichever call fails (index %s)",
  async (fate) => {
    const indexPath = join(tempDirectory(), "streams.db");
    const sound = new StreamsLife(1, null, indexPath, fate);
    assert.deepEqual(await sound.live(), []);

    let seeds = 0;
    for (const [call, kind] of sound.calls.entries()) {
      const tried = triedFor(call + FATES.indexOf(fate), FAULTS[kind], FATES.length);
      for (const fault of FAULTS[kind]) {
        // The seed also determines whether the processes close their stores or are killed.
        const seed = seeds++;
        if (!tried.includes(fault)) continue;
        const life = new StreamsLife(seed, { call, fault }, indexPath, fate);
        const what = `call ${call} (${kind}), ${JSON.stringify(fault)}, seed ${seed}`;
        const faults = await life.live().catch((error: unknown) => [String(error)]);
        assert.deepEqual(faults, [], what);
      }
    }
  },
  300_000,
);
