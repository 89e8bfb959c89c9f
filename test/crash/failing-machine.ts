/** Failing machine: a simulated machine on which one chosen disk call fails, once. */

import { type Call, type Fault, Machine, type Process } from "../torture/fault-files.ts";
import { Random, Scheduler } from "../torture/scheduler.ts";

/** Which call fails, counted from 0, and how; null for none. */
export type Failing = { readonly call: number; readonly fault: Fault } | null;

export class FailingMachine {
  /** The calls that were made while `isSpared` was false. */
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

  /** Resolves to null if the process died: its calls never return. */
  async untilOver<T>(work: Promise<T>, process: Process): Promise<T | null> {
    let settled: { value: T } | null = null;
    void work.then((value) => {
      settled = { value };
    });
    for (let inVain = 0; settled === null && inVain < 20; ) {
      await this.scheduler.tick();
      if (!process.isAlive) inVain++;
    }
    return (settled as { value: T } | null)?.value ?? null;
  }
}
