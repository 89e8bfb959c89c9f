/** Eventually: reads a page until it is as expected. */

import { expect } from "vitest";

/**
 * Right after a key, a click or a new address a page may not be updated yet. What a page must never
 * do is checked at once.
 */
export function eventually<T>(what: string, read: () => T | Promise<T>) {
  return expect.poll(read, { message: what, timeout: 30_000 });
}
