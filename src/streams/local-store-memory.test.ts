/** What a store holds in memory of what a crash left. In a process of its own: it is measured. */

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { test } from "vitest";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { openLocalStore } from "./local-store.ts";

const MIB = 1024 * 1024;

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** What is held outside the heap, which is where bytes are, once what nobody needs is gone. */
async function heldBytes(): Promise<number> {
  for (let times = 0; times < 3; times++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20)); // Some of it goes in another thread.
  }
  return process.memoryUsage().arrayBuffers;
}

test("a store that was recovered does not hold the journal that it was recovered from", async () => {
  const [before, after] = [tempDirectory(), tempDirectory()];
  const store = await openLocalStore({ dataDirectory: before });
  await store.create("/s", { body: Buffer.alloc(0), isClosed: false });
  const body = Buffer.alloc(4 * MIB, "x");
  for (let times = 0; times < 6; times++) await store.append("/s", { body, close: false });
  cpSync(before, after, { recursive: true }); // What a kill would leave.
  const { end } = await store.head("/s");
  await store.close();

  const held = await heldBytes();
  const recovered = await openLocalStore({ dataDirectory: after });
  const more = (await heldBytes()) - held;
  assert.equal((await recovered.head("/s")).end, end);
  assert.ok(more < 4 * MIB, `${more} bytes more are held`);
  await recovered.close();
});
