/**
 * The seed of everything random in these tests; each run has its own unless VERBATIM_SEED is set.
 * VERBATIM_TIMES=20 makes twenty times as many rounds, and tries every one of many similar cases.
 */

import { randomInt } from "node:crypto";

const given = process.env.VERBATIM_SEED;

/** Printed by the tests that use it: `VERBATIM_SEED=<seed> npx vitest run test/crash` repeats it. */
export const seed = given === undefined ? randomInt(1_000_000) : Number(given);

export const times = Number(process.env.VERBATIM_TIMES ?? 1);

/**
 * Whether this run tries a case of many similar ones: one in `every` of successive cases, and other
 * runs try the others. VERBATIM_TIMES=2 tries twice as many; as much as `every` tries all.
 */
export function isTried(nth: number, every: number): boolean {
  return (nth + seed) % Math.max(1, Math.ceil(every / times)) === 0;
}

/**
 * How often a property is tried: in an ordinary run a third of `all`, other values each time.
 * VERBATIM_TIMES=3 tries all.
 */
export function runs(all: number): number {
  return Math.ceil((all * times) / 3);
}
