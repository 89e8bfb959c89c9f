/** Failing machine: a simulated machine on which one chosen call to the disk fails, once. */

import { type Call, type Fault, Machine } from "../../src/torture/fault-files.ts";
import { Random } from "../../src/torture/random.ts";
import { Scheduler } from "../../src/torture/scheduler.ts";

/** Which call fails, counted from 0, and how; null for none. */
export type Failing = { readonly call: number; readonly fault: Fault } | null;

export class FailingMachine {
  /** The calls that were made while none was spared. */
  readonly calls: Call[] = [];
  readonly scheduler: Scheduler;
  readonly machine: Machine;
  /** While true, calls neither fail nor count. */
  isSpared = false;

  constructor(seed: number, pageBytes: number, failing: Failing) {
    const random = new Random(seed);
    this.scheduler = new Scheduler(random);
    this.machine = new Machine({
      random,
      scheduler: this.scheduler,
      pageBytes,
      plan: (call) => {
        if (this.isSpared) return null;
        return this.calls.push(call) - 1 === failing?.call ? failing.fault : null;
      },
    });
  }
}
