/**
 * Deletion: the line that says that a session was deleted. It erases nothing: what stands before it
 * is no longer given to whoever loads or resumes the session, and stays for whoever reads or verifies
 * the log.
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

/** Whatever stands before it is taken back. */
export const takingBack: TakingBack = {
  says: (native) => !isDeletion(native),
  takesBack: (native) => (isDeletion(native) ? Number.POSITIVE_INFINITY : null),
};
