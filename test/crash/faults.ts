/** Faults: how each kind of disk call can fail, for tests that make each one fail. */

import { isTried } from "../support/seed.ts";
import type { Call, Fault } from "../torture/fault-files.ts";

/** The ways in which a kind of call can fail. */
export const FAULTS: Record<Call, readonly Fault[]> = {
  open: [{ errno: "EIO" }, { errno: "ENOSPC" }],
  read: [{ errno: "EIO" }],
  write: [
    { errno: "EIO" },
    { errno: "ENOSPC" },
    { lacks: 1, caller: "returns" },
    { lacks: 9, caller: "returns" },
    { lacks: 1, caller: "dies" },
    { lacks: 9, caller: "dies" },
  ],
  writeAt: [{ errno: "EIO" }, { lacks: 3, caller: "returns" }, { lacks: 3, caller: "dies" }],
  sync: [{ errno: "EIO" }, { errno: "ENOSPC" }],
  truncate: [{ errno: "EIO" }],
  syncDirectory: [{ errno: "EIO" }],
};

/**
 * The ways in which this run makes a call fail: one, or one for every second call if `every` is 2;
 * all of them with VERBATIM_DEEP=1.
 */
export function triedFor<T>(call: number, ways: readonly T[], every = 1): T[] {
  return ways.filter((_, nth) => isTried(call + nth * every, ways.length * every));
}
