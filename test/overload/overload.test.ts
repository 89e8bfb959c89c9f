/** More load than the server can handle: what it refuses, and what it keeps. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { floodAll, floodOne } from "./flood.ts";

test("at five times its capacity, a server's memory is bounded, acknowledged appends are kept, and it recovers at once", async () => {
  assert.deepEqual(await floodAll(20), {});
});

test("a flood of one stream does not block another", async () => {
  assert.deepEqual(await floodOne(10), {});
});
