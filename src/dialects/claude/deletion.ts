/**
 * Deletion: the line that marks a session as deleted. It erases nothing: loading or resuming the
 * session skips the lines before it; reading or verifying the log still returns them.
 */

import type { Native, TakingBack } from "../dialect.ts";
import { get, isObject } from "../fields.ts";

export const DELETED_TYPE = "verbatim:deleted";

export function deletion(nowMs: number): Native {
  return { type: DELETED_TYPE, timestamp: new Date(nowMs).toISOString() };
}

export function isDeletion(value: unknown): boolean {
  return isObject(value) && get(value, "type") === DELETED_TYPE;
}

/** Takes back all lines before it. */
export const takingBack: TakingBack = {
  says: (native) => !isDeletion(native),
  takesBack: (native) => (isDeletion(native) ? Number.POSITIVE_INFINITY : null),
};
