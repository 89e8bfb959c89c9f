/** Kill after: kills a child that acknowledges line by line in the middle of its work. */

import assert from "node:assert/strict";
import type { Child } from "../support/child.ts";

/**
 * Starts its work, kills it `ms` after that many "ack" lines, and returns how many it printed in
 * all.
 */
export async function killAfter(child: Child, acks: number, ms: number): Promise<number> {
  let count = 0;
  const take = async () => {
    const line = await child.line();
    assert.ok(!line?.startsWith("warning"), line ?? "");
    if (line?.startsWith("ack")) count++;
    return line;
  };
  child.say("go");
  while (count < acks) assert.notEqual(await take(), null, "it ended before it was killed");
  await new Promise((resolve) => setTimeout(resolve, ms));
  const killed = child.kill();
  while ((await take()) !== null);
  await killed;
  return count;
}
