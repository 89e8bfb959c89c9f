/** Memory held by a store after recovery. Runs in its own process, because it is measured. */

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

/** Bytes held outside the heap (buffers), after garbage collection. */
async function heldBytes(): Promise<number> {
  for (let times = 0; times < 3; times++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20)); // Some is freed on another thread.
  }
  return process.memoryUsage().arrayBuffers;
}

test("a recovered store does not hold the journal it was recovered from", async () => {
  const [before, after] = [tempDirectory(), tempDirectory()];
  const store = await openLocalStore({ dataDirectory: before });
  await store.create("/s", { body: Buffer.alloc(0), isClosed: false });
  const body = Buffer.alloc(4 * MIB, "x");
  for (let times = 0; times < 6; times++) await store.append("/s", { body, close: false });
  cpSync(before, after, { recursive: true }); // The files as a kill would leave them.
  const { end } = await store.head("/s");
  await store.close();

  const held = await heldBytes();
  const recovered = await openLocalStore({ dataDirectory: after });
  const more = (await heldBytes()) - held;
  assert.equal((await recovered.head("/s")).end, end);
  assert.ok(more < 4 * MIB, `${more} bytes more are held`);
  await recovered.close();
});
