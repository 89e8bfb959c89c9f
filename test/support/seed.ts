/**
 * The seed of everything random in these tests. It is a constant, so that two runs of one commit try
 * the same cases, and a failure means that the change is wrong. VERBATIM_SEED sets another one; a
 * failed run prints the command that repeats it (run-report.ts).
 *
 * Of many similar cases (flipped bits, failing calls) an ordinary run tries some. VERBATIM_DEEP=1
 * tries all of them: `npm run test:deep` does, with a new seed. VERBATIM_TIMES=20 makes twenty times
 * as many rounds of what is different each time, such as kills.
 */

/** A multiple of each `every` below, so that the first of similar cases is always tried. */
const SEED = "20260800";

const { VERBATIM_SEED = SEED, VERBATIM_DEEP, VERBATIM_TIMES = "1" } = process.env;

export const seed = Number(VERBATIM_SEED);

export const isDeep = VERBATIM_DEEP === "1";

export const times = Number(VERBATIM_TIMES);

/** Whether this run tries a case of many similar ones: one in `every` of successive cases. */
export function isTried(nth: number, every: number): boolean {
  return isDeep || (nth + seed) % every === 0;
}

/** How often a property is tried: in an ordinary run a third of `all`. */
export function runs(all: number): number {
  return isDeep ? all : Math.ceil(all / 3);
}

/** The settings that choose the cases, as a shell takes them before a command. */
export function seedSettings(): string {
  const settings = [`VERBATIM_SEED=${seed}`];
  if (isDeep) settings.push("VERBATIM_DEEP=1");
  if (times !== 1) settings.push(`VERBATIM_TIMES=${times}`);
  return settings.join(" ");
}
