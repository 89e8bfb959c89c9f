/** More than the server can take: what it refuses, and what it keeps. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { floodAll, floodOne } from "./flood.ts";

test("at five times what it can take, memory is bounded, what it acknowledged is kept, and it is well again at once", async () => {
  assert.deepEqual(await floodAll(6), {});
}, 120_000);

test("one stream that is flooded does not hold up another", async () => {
  assert.deepEqual(await floodOne(4), {});
}, 60_000);
