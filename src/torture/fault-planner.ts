/** Fault planner: decides which call to the disk fails next, and how. */

import type { Call, Fault } from "./fault-files.ts";
import type { Random } from "./random.ts";

interface Planned {
  readonly call: Call;
  readonly fault: Fault;
  /** Calls of this kind that still succeed. */
  passes: number;
}

export class FaultPlanner {
  readonly #random: Random;
  readonly #onFault: (call: Call) => void;
  #planned: Planned | null = null;
  #isDiskFull = false;

  constructor(random: Random, onFault: (call: Call) => void) {
    this.#random = random;
    this.#onFault = onFault;
  }

  get isPlanned(): boolean {
    return this.#planned !== null || this.#isDiskFull;
  }

  clear(): void {
    this.#planned = null;
    this.#isDiskFull = false;
  }

  /** Makes one of the next calls fail, or fills the disk, or frees it again. */
  planNext(): void {
    const random = this.#random;
    if (random.chance(0.2)) {
      this.#isDiskFull = !this.#isDiskFull;
      return;
    }
    const lacks = random.chance(0.3) ? 1 : 1 + random.below(200);
    const [call, fault] = random.pick<[Call, Fault]>([
      ["sync", { errno: "EIO" }],
      ["sync", { errno: "EIO" }],
      ["sync", { errno: "EIO" }],
      ["sync", { errno: "ENOSPC" }],
      ["syncDirectory", { errno: "EIO" }],
      ["write", { errno: "EIO" }],
      ["write", { errno: "EDQUOT" }],
      ["write", { lacks, caller: "returns" }],
      ["write", { lacks, caller: "dies" }],
      ["writeAt", { errno: "EIO" }],
      ["writeAt", { lacks, caller: "returns" }],
      ["writeAt", { lacks, caller: "dies" }],
      ["truncate", { errno: "EIO" }],
      ["read", { errno: "EIO" }],
      ["open", { errno: "EIO" }],
    ]);
    this.#planned = { call, fault, passes: random.below(4) };
  }

  plan(call: Call): Fault | null {
    if (this.#isDiskFull && call === "write") {
      this.#onFault(call);
      const random = this.#random;
      if (random.chance(0.5)) return { errno: "ENOSPC" };
      return { lacks: 1 + random.below(100), caller: "returns" };
    }
    if (this.#planned?.call !== call || this.#planned.passes-- > 0) return null;
    const { fault } = this.#planned;
    this.#planned = null;
    this.#onFault(call);
    return fault;
  }
}
