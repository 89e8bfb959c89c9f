/** Eventually: reads a page until it is as expected. */

import { expect } from "vitest";

/** Long: browsers on a busy machine of two cores have taken half a minute. */
export const PAGE_WAIT_MS = 60_000;

/**
 * Right after a key, a click or a new address a page may not be updated yet. What a page must never
 * do is checked at once.
 */
export function eventually<T>(what: string, read: () => T | Promise<T>) {
  return expect.poll(read, { message: what, timeout: PAGE_WAIT_MS });
}
