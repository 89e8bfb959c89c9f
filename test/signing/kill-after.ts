/** Kill after: kills a child that acknowledges line by line in the middle of its work. */

import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import type { Child } from "../support/child.ts";

/**
 * Starts its work, kills it after that many "ack" lines and as many turns of our event loop as
 * given, and returns how many it printed in all.
 */
export async function killAfter(child: Child, acks: number, turns: number): Promise<number> {
  let count = 0;
  const take = async () => {
    const line = await child.line();
    assert.ok(!line?.startsWith("warning"), line ?? "");
    if (line?.startsWith("ack")) count++;
    return line;
  };
  child.say("go");
  while (count < acks) assert.notEqual(await take(), null, "it ended before it was killed");
  for (let turn = 0; turn < turns; turn++) await setImmediate();
  const killed = child.kill();
  while ((await take()) !== null);
  await killed;
  return count;
}
