/** Bugs planted in the signer, each of which torture must find (as in mutants.test.ts). */

import assert from "node:assert/strict";
import { test } from "vitest";
import { triedMutations } from "../support/tried-mutations.ts";
import { type Mutant, tortureMutant } from "./mutant.ts";

/** Each with a seed that finds it early; others find it later. */
const STEPS = 5_000;

const MUTANTS: readonly Mutant[] = [
  {
    bug: "pins a head before its checkpoint is durable",
    file: "sessions/store/session-appends.ts",
    line: "if (this.#parts.isDurable) this.#pinSoon(log);",
    becomes: "this.#pinSoon(log);",
    seed: 2,
  },
  {
    bug: "continues from a checkpoint that the disk refused",
    file: "trust/signer/log-signer.ts",
    line: "this.#ownSigners, { ...this.#state }, ",
    becomes: "this.#ownSigners, this.#state, ",
    seed: 1013904227,
  },
  {
    bug: "signs lines that are not durable yet",
    file: "sessions/store/session-appends.ts",
    line: "const durable = turn.syncAll();",
    becomes: "const durable = Promise.resolve();",
    seed: 1013904230,
  },
  {
    bug: "trusts sidecar checkpoints that may be in memory only",
    file: "trust/signer/session-files.ts",
    line: "await recover(place, file, null);",
    becomes: "",
    seed: 9,
  },
];

for (const mutant of triedMutations(MUTANTS, "src")) {
  test(`torture finds a signer that ${mutant.bug}`, async () => {
    const { violations } = await tortureMutant(mutant, "signed", STEPS);
    assert.notEqual(violations.length, 0, `not found in ${STEPS} steps`);
  });
}
