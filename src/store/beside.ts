/**
 * Beside: what a dialect keeps beside its log (rye's markdown and thread.json), in step with it.
 *
 * B1  Everything beside a log can be rebuilt from it. So a failure to write it is told as a
 *     warning and never fails an append that the log has taken.
 */

import type { Native } from "../dialects/dialect.ts";
import type { Companion } from "../log/companion.ts";

export interface Beside extends Companion {
  /** A line that is about to be appended, and what it says: saves parsing it again. */
  expect(line: Uint8Array, native: Native): void;
  /** The session ends here for now, cleanly. Called with the lock held, before the log closes. */
  pause(): Promise<void>;
}
