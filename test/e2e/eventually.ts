/** Eventually: what is read of a page, until it is as it must be. */

import { expect } from "vitest";

/**
 * Right after a key, a click or a new address a page need not be as it must be yet. What a page never
 * does is judged at once.
 */
export function eventually<T>(what: string, read: () => T | Promise<T>) {
  return expect.poll(read, { message: what, timeout: 30_000 });
}
