/** Memory held by a store after recovery. Runs in its own process, because it is measured. */

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { until } from "../../../test/support/until.ts";
import { openLocalStore } from "./local-store.ts";

const MIB = 1024 * 1024;

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Bytes held outside the heap (buffers), after garbage collection. */
function heldBytes(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}

/** A directory as a kill would leave it after 24 MiB of appends, and the offset of their end. */
async function written() {
  const [before, after] = [tempDirectory(), tempDirectory()];
  const store = await openLocalStore({ dataDirectory: before });
  await store.create("/s", { body: Buffer.alloc(0), isClosed: false });
  const body = Buffer.alloc(4 * MIB, "x");
  for (let times = 0; times < 6; times++) await store.append("/s", { body, close: false });
  cpSync(before, after, { recursive: true });
  const { end } = await store.head("/s");
  await store.close();
  return { dataDirectory: after, end };
}

test("a recovered store does not hold the journal it was recovered from", async () => {
  const held = heldBytes();
  const { dataDirectory, end } = await written();
  const recovered = await openLocalStore({ dataDirectory });
  assert.equal((await recovered.head("/s")).end, end);
  // Some is freed on another thread.
  await until(() => heldBytes() - held < 4 * MIB, "freeing the journal");
  await recovered.close();
});
