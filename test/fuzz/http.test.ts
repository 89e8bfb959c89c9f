/** Arbitrary requests to the server: for a fixed time here, for longer with `npm run fuzz`. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { fuzzScene } from "./scene.ts";

const seconds = Number(process.env.FUZZ_SECONDS ?? 10);
const seed = Number(process.env.FUZZ_SEED ?? 7);

test(
  "no request crashes the server, hangs it, leaves anything behind, or reaches outside",
  async () => {
    const { cases, statuses, grownBytes } = await fuzzScene(seed, seconds);
    const told = [...statuses].sort().map(([status, count]) => `${status}: ${count}`);
    process.stderr.write(
      `fuzz: seed ${seed}, ${cases} cases, heap ${grownBytes} bytes; ${told.join(", ")}\n`,
    );
    // The cases must pass the parser, and reach existing resources.
    for (const status of ["200", "201", "204", "400", "404", "409", "none"]) {
      assert.ok(statuses.has(status), `no case was answered with ${status}`);
    }
  },
  (seconds + 100) * 1000,
);
