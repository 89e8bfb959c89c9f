/** Host: what the log needs from the machine, passed in so that a test can replace it. */

import type { Files } from "./files.ts";

export interface Clock {
  /** Resolves after about `ms`; rejects with the signal's reason if aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Monotonic milliseconds, for measuring waits; not a date. */
  monotonicMs(): number;
}

export interface Host {
  readonly files: Files;
  readonly clock: Clock;
  /** Written into lock files as a hint. */
  readonly process: { readonly pid: number; readonly started: string };
}
