/** Host: what the log takes from the machine it runs on, as arguments, so that a test can own it. */

import type { Files } from "./files.ts";

export interface Clock {
  /** Resolves after about `ms`; rejects with the signal's reason when that comes first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Milliseconds that only go forward; for measuring waits, not for dates. */
  monotonicMs(): number;
}

export interface Host {
  readonly files: Files;
  readonly clock: Clock;
  /** Who we are, for the hint in lock files. */
  readonly process: { readonly pid: number; readonly started: string };
}
