/**
 * The seed of everything random in these tests; each run has its own unless VERBATIM_SEED is set.
 * VERBATIM_TIMES=10 makes ten times as many rounds.
 */

import { randomInt } from "node:crypto";

const given = process.env.VERBATIM_SEED;

/** Printed by the tests that use it: `VERBATIM_SEED=<seed> npx vitest run test/crash` repeats it. */
export const seed = given === undefined ? randomInt(1_000_000) : Number(given);

export const times = Number(process.env.VERBATIM_TIMES ?? 1);
