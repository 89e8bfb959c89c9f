/** Arbitrary requests to the server: some here, for ten minutes with `npm run fuzz`. */

import { test } from "vitest";
import { fuzzScene } from "./scene.ts";

const CASES = 3000;
const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
const seed = Number(process.env.FUZZ_SEED ?? 7);

test(
  "no request crashes the server, hangs it, leaves anything behind, or reaches outside",
  async () => {
    const { cases, statuses, grownBytes } = await fuzzScene(seed, CASES, seconds);
    const told = [...statuses].sort().map(([status, count]) => `${status}: ${count}`);
    process.stderr.write(
      `fuzz: seed ${seed}, ${cases} cases, heap ${grownBytes} bytes; ${told.join(", ")}\n`,
    );
  },
  (seconds + 300) * 1000,
);
