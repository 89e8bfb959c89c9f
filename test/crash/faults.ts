/** Faults: how each kind of disk call can fail, for tests that make each one fail. */

import type { Call, Fault } from "../../src/torture/fault-files.ts";

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
