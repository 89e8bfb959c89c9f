/** Ambush: decides which call of the disk goes wrong next, and how. */

import type { Call, Fault } from "./fault-files.ts";
import type { Random } from "./random.ts";

interface Laid {
  readonly call: Call;
  readonly fault: Fault;
  /** Calls of this kind that still pass. */
  passes: number;
}

export class Ambush {
  readonly #random: Random;
  readonly #onFault: (call: Call) => void;
  #laid: Laid | null = null;
  #isDiskFull = false;

  constructor(random: Random, onFault: (call: Call) => void) {
    this.#random = random;
    this.#onFault = onFault;
  }

  get isLaid(): boolean {
    return this.#laid !== null || this.#isDiskFull;
  }

  lift(): void {
    this.#laid = null;
    this.#isDiskFull = false;
  }

  /** Makes one coming call fail, or fills the disk, or gives it room again. */
  lay(): void {
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
    this.#laid = { call, fault, passes: random.below(4) };
  }

  plan(call: Call): Fault | null {
    if (this.#isDiskFull && call === "write") {
      this.#onFault(call);
      const random = this.#random;
      if (random.chance(0.5)) return { errno: "ENOSPC" };
      return { lacks: 1 + random.below(100), caller: "returns" };
    }
    if (this.#laid?.call !== call || this.#laid.passes-- > 0) return null;
    const { fault } = this.#laid;
    this.#laid = null;
    this.#onFault(call);
    return fault;
  }
}
