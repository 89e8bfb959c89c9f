/** Until: waits for a condition, and fails if it does not become true. */

import assert from "node:assert/strict";

const DEADLINE_MS = 60_000;

/** `pauseMs`: between two looks, where a look takes time from what is waited for. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  what = "it",
  pauseMs = 5,
): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await isSo())) {
    assert.ok(Date.now() < deadline, `${what} did not happen within ${DEADLINE_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
